// What a screen reader is told of what is ours on the screen.

/** What has a name of its own, and the parts of it that are seen. Our lists have a title, those of the editor itself have none. */
const NAMED = [
  { where: ".tree-explorer-viewlet-tree-view .monaco-list-row", seen: ".label-name, .label-description" },
  { where: ".quick-input-widget:has(.quick-input-title:not([style*='display: none'], :empty)) .monaco-list-row", seen: ".label-name, .label-description" },
  { where: ".statusbar-item[id*='ullage'] > a", seen: ":scope" },
];

/** In a dialog and in a webview: each of these has a name, or nobody knows what it is. */
const ROLES = ["alertdialog", "button", "checkbox", "dialog", "img", "link", "row", "rowheader", "table", "textbox"];

/** Return a sentence for each thing whose name is missing or does not say what is seen of it. */
export async function findUnnamed(page) {
  const shown = await page.evaluate(readShown, NAMED);
  const frames = page.frames().filter((frame) => frame !== page.mainFrame());
  const dialogs = await page.locator(".monaco-dialog-box").all();
  const trees = await Promise.all([...dialogs.map((dialog) => dialog.ariaSnapshot()), ...frames.map(readFrame)]);
  return [...shown.filter(isUnsaid).map(({ name, seen }) => `of “${seen}” is told “${name}”`), ...trees.flatMap(findNameless)];
}

/** Whether a name lacks a word or a figure that is seen, or reads an icon's code out. */
function isUnsaid({ name, seen }) {
  const said = wordsOf(name);
  return said.length === 0 || (/\$\([a-z-~]+\)/.test(name) && !seen.includes("$(")) || wordsOf(seen).some((word) => !said.includes(word));
}

function wordsOf(text) {
  return text.toLowerCase().match(/[\p{L}\p{N}][\p{L}\p{N}.,:%_-]*[\p{L}\p{N}%]|[\p{L}\p{N}%]/gu) ?? [];
}

/** Return the tree of a webview; none of one that is being closed. */
function readFrame(frame) {
  return frame.locator("body").ariaSnapshot().catch((error) => {
    if (frame.isDetached()) return "";
    throw error;
  });
}

/** Return the lines of a tree, as Playwright writes it, that have a role and no name. */
function findNameless(tree) {
  return tree.split("\n").filter((line) => ROLES.includes(/^\s*- '?(\w+)(?! ")\b/.exec(line)?.[1])).map((line) => `no name: ${line.trim()}`);
}

function readShown(named) {
  const textOf = (row, parts) => (parts === ":scope" ? [row] : [...row.querySelectorAll(parts)]).filter((part) => part.checkVisibility()).map((part) => part.innerText.trim()).join(" ");
  return named.flatMap(({ where, seen }) =>
    [...document.querySelectorAll(where)]
      .filter((row) => row.checkVisibility())
      .map((row) => ({ name: row.getAttribute("aria-label") ?? "", seen: textOf(row, seen) })),
  );
}
