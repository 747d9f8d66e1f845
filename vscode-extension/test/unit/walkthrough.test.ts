import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";

interface Step {
  title: string;
  description: string;
  media: { svg: string; altText: string };
  completionEvents: string[];
}

const { contributes } = JSON.parse(readFileSync("package.json", "utf8")) as {
  contributes: {
    commands: { command: string }[];
    views: Record<string, { id: string }[]>;
    walkthroughs: { steps: Step[] }[];
  };
};
const strings = JSON.parse(readFileSync("package.nls.json", "utf8")) as Record<string, string>;
const commands = contributes.commands.map(({ command }) => command);
const views = Object.values(contributes.views).flatMap((container) => container.map(({ id }) => id));
const [walkthrough, ...others] = contributes.walkthroughs;
const steps = walkthrough?.steps ?? [];

function shown(key: string): string {
  return strings[key.replaceAll("%", "")] ?? "";
}

test("there is one walkthrough, of five steps", () => {
  assert.equal(others.length, 0);
  assert.deepEqual(steps.map(({ title }) => shown(title)), [
    "See your context",
    "Prune safely",
    "Write a checkpoint",
    "Restore it",
    "Choose memory rules",
  ]);
});

test("each picture is there, is packaged, has the theme's colors and says in words what it shows", () => {
  const packaged = readFileSync(".vscodeignore", "utf8");
  for (const { media } of steps) {
    assert.ok(existsSync(media.svg), media.svg);
    assert.ok(packaged.includes("!images/walkthrough/*.svg"));
    assert.ok(shown(media.altText).length > 0, media.svg);
    const drawing = readFileSync(media.svg, "utf8");
    assert.doesNotMatch(drawing, /#[0-9a-f]{3}|rgb\(/i);
    // The editor puts the drawing itself into its page, without the text that stands for it.
    assert.ok(drawing.includes(`role="img" aria-label="${shown(media.altText)}"`), media.svg);
  }
});

test("a step completes by commands and views that exist", () => {
  for (const event of steps.flatMap(({ completionEvents }) => completionEvents)) {
    const [kind, name = ""] = event.split(":");
    const known = { onCommand: commands, onView: views, onSettingChanged: ["ullage.contextWindow"] }[kind ?? ""];
    assert.ok(known?.includes(name), event);
  }
});

test("a link of a step runs a command that exists", () => {
  const links = steps.flatMap(({ description }) => [...shown(description).matchAll(/\(command:([\w.]+)/g)]);
  assert.ok(links.length >= steps.length);
  for (const [, command = ""] of links) {
    const exists = commands.includes(command) || views.some((view) => command === `${view}.focus`);
    assert.ok(exists || command.startsWith("workbench."), command);
  }
});
