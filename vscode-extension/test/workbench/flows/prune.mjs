// Tool results are looked at, chosen and pruned; a message is pinned, listed, and its pin removed.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { sessionId } from "../session.mjs";
import { until } from "../workbench.mjs";
import { forget, gaugeBelow, gaugeShows, textOf, tidy, writeSession } from "./flow.mjs";

export { agentIsThere as prepare } from "./flow.mjs";

export const NAME = "prune";
export const TITLE = "tool results are looked at, chosen and pruned; a message is pinned, and the pin removed";

export async function go(workbench, { say, shot }) {
  const { page } = workbench;
  const transcript = writeSession(workbench, { id: sessionId(3), usedTokens: 136_000 });
  await gaugeShows(workbench, "68%");
  const before = readFileSync(transcript);
  await keyOfRow(workbench, { say, shot });
  assert.ok(readFileSync(transcript).equals(before), "nothing was pruned yet");

  await workbench.command("Context: Prune Tool Results…");
  await page.locator(".quick-input-widget .monaco-list-row .monaco-checkbox, .quick-input-widget .monaco-list-row input[type=checkbox]").first().waitFor({ state: "attached" });
  await shot("prune");
  await look(workbench, { say, shot });
  const said = (end) => page.locator(`.quick-input-widget input[placeholder$="${end}"]`).waitFor({ state: "attached" });
  await said(" tokens by the rule");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Space");
  await said(" tokens freed");
  await shot("prune-chosen");
  await page.keyboard.press("Space");
  await said(" tokens by the rule");
  await page.keyboard.press("Enter");
  say(`told: ${await workbench.told(/pruned/i)}; gauge ${await gaugeBelow(workbench, 68)}`);
  assert.ok(!readFileSync(transcript).equals(before), "the transcript is changed");
  await shot("pruned");
  await workbench.command("Context: Plot Window");
  const rows = await until("the prune in the plot's table", async () => {
    for (const frame of page.frames()) {
      const found = await frame.locator("tbody tr").allInnerTexts().catch(() => []);
      if (found.some((row) => row.includes("Prune 1"))) return found;
    }
    return undefined;
  });
  assert.ok(rows.length > 20, "what was before the prune stays in the plot");
  await shot("plot-pruned");
  await workbench.command("View: Close All Editors");

  const pruned = readFileSync(transcript);
  await workbench.command("Context: Pin Message…");
  const listed = page.locator(".quick-input-widget .monaco-list-row");
  // Until then the rows of the palette stand in the same place.
  await listed.filter({ hasText: "User · " }).first().waitFor();
  const first = await textOf(listed.first());
  say(`can be pinned: ${first}`);
  assert.match(first, /User · .* tokens · /, "the newest message of the user is offered first");
  await shot("pin-message");
  await workbench.pick("Checkout sometimes charges");
  say(`told: ${await workbench.told(/pinned/i)}`);
  await workbench.focusRow("Window", "Pins");
  const pin = await workbench.openRow("in the editor, just now");
  say(`pin: ${await pin.getAttribute("aria-label")}`);
  await shot("pins");
  await workbench.focusRow("Window", "in the editor");
  await workbench.rowCommand("Remove Pin");
  say(`told: ${await workbench.told("Pin removed")}`);
  await workbench.row("Pins").waitFor({ state: "detached" });
  assert.ok(readFileSync(transcript).equals(pruned), "a pin is kept beside the session, not in it");
  await tidy(workbench);
  forget(transcript);
}

/** Delete means the row that the keyboard is on, while none is selected and while another one is. */
async function keyOfRow(workbench, { say, shot }) {
  const { page } = workbench;
  const [selected, meant] = ["rg -n 'refund'", "rg -n 'retry"];
  const dialog = page.locator(".monaco-dialog-box");
  await workbench.focusRow("Window", "Tool results");
  await workbench.openRow(selected);
  for (const isSelected of [false, true]) {
    if (isSelected) await workbench.openByRow("Window", selected, "Context.md");
    await workbench.focusRow("Window", meant);
    await page.keyboard.press("Delete");
    const asked = await textOf(dialog.locator(".dialog-message-container"));
    assert.ok(asked.includes(meant) && !asked.includes(selected), asked);
    say(`Delete, ${isSelected ? "another row" : "nothing"} selected: ${asked}`);
    await shot(`prune-delete${isSelected ? "-other" : ""}`);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
  }
  await tidy(workbench);
}

/** An item is looked at before it goes, by the keyboard; the list stays. */
async function look(workbench, { say, shot }) {
  const { page } = workbench;
  const list = page.locator(".quick-input-widget");
  say(`item: ${await textOf(list.locator(".monaco-list-row").first())}`);
  await page.keyboard.press("ArrowDown");
  const button = list.locator(".action-label:focus[aria-label^='Look at It']").first();
  await workbench.reach("what shows an item", button, "Tab");
  await page.keyboard.press("Enter");
  await page.locator(".tab.active", { hasText: "Context.md" }).waitFor();
  await page.locator(".editor-instance .view-lines", { hasText: "characters" }).first().waitFor();
  assert.ok(await list.isVisible(), "the list stays");
  await shot("prune-look");
  await list.locator("input.input").first().focus();
}
