// What a window says to its user, in the order in which it does: messages, questions, titles of lists, the status bar.
import { until } from "./workbench.mjs";

export const STATUS = ".statusbar-item[id$='status.extensionMessage']";

/** Where it is said, by what it is. */
const PLACES = {
  question: ".monaco-dialog-box .dialog-message-container",
  list: ".quick-input-widget:not([style*='display: none']) .quick-input-title",
  message: ".notification-toast .notification-list-item-message",
  status: STATUS,
};

export class Screen {
  /** What was said and is not yet taken: where, its text, and whether it says that something was not done. */
  #said = [];

  constructor(page) {
    this.page = page;
  }

  /** Note from now on whatever is said, however short it stands there. */
  async watch() {
    await this.page.evaluate(note, PLACES);
  }

  /** Return whether something was said that fits. */
  async has(fits) {
    this.#said.push(...(await this.page.evaluate(() => window.said.splice(0))));
    return this.#said.some(fits);
  }

  /** Take what was said that fits. */
  async take(fits = () => true) {
    await this.has(fits);
    const taken = this.#said.filter(fits);
    this.#said = this.#said.filter((said) => !taken.includes(said));
    return taken;
  }

  /** Wait until something is said that fits; take it, and nothing else. */
  async next(what, fits) {
    return until(what, async () => {
      const [first, ...others] = await this.take(fits);
      this.#said.unshift(...others);
      return first;
    });
  }
}

function note(places) {
  window.said = [];
  const known = new WeakMap();
  const look = () => {
    for (const [where, selector] of Object.entries(places)) {
      for (const element of document.querySelectorAll(selector)) {
        const text = element.textContent.replaceAll(/\s+/g, " ").trim();
        if (text === "" || known.get(element) === text) continue;
        known.set(element, text);
        const isRefusal = (element.closest(".notification-list-item")?.querySelector(".codicon-error, .codicon-warning") ?? null) !== null;
        window.said.push({ where, text, isRefusal });
      }
    }
    const list = document.querySelector(".quick-input-widget");
    // A list that is opened again says its title again.
    if (list?.style.display === "none") known.delete(list.querySelector(".quick-input-title"));
  };
  new window.MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true, attributeFilter: ["style", "class"] });
  look();
}
