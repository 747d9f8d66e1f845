// What shows a session: the three views, the plot with its table, the status, the language status, the walkthrough.
import assert from "node:assert/strict";
import { sessionId } from "../session.mjs";
import { until } from "../workbench.mjs";
import { forget, gaugeShows, tidy, writeSession } from "./flow.mjs";

export { agentIsThere as prepare } from "./flow.mjs";

export const NAME = "shows";
export const TITLE = "the views, the plot, the status and the walkthrough show what there is";

export async function go(workbench, { say, shot }) {
  const { page } = workbench;
  const transcript = writeSession(workbench, { id: sessionId(5), usedTokens: 166_000 });
  await gaugeShows(workbench, "83%");

  await workbench.show(page.locator(".quick-input-widget .monaco-list-row", { hasText: "Compact…" }), () => page.keyboard.press("Control+Alt+U"));
  say(`menu: ${(await page.locator(".quick-input-list-row:first-child .label-name").allInnerTexts()).join(", ")}`);
  await shot("menu");
  await page.keyboard.press("Escape");

  await workbench.command("Context: Show Window");
  await workbench.row("Tool results").waitFor();
  await workbench.focusRow("Window", "Tool results");
  await workbench.openRow("node scripts/ledger-report");
  say(`window: ${(await page.locator(".tree-explorer-viewlet-tree-view .monaco-list-row").allInnerTexts()).slice(0, 4).join(" | ").replaceAll(/\s+/g, " ")}`);
  await shot("window");

  await workbench.command("Context: Plot Window");
  const [frame, rows] = await until("the table of the plot", async () => {
    for (const each of page.frames()) {
      const found = await each.locator("tbody tr").allInnerTexts().catch(() => []);
      if (found.length > 0) return [each, found];
    }
    return undefined;
  });
  assert.ok(rows.some((row) => row.includes("166,000") && row.includes("83%")), rows[0]);
  say(`plot: a table of ${rows.length} rows; the newest: ${rows[0].replaceAll(/\s+/g, " ")}`);
  await shot("plot");
  await frame.locator("tbody a").first().focus();
  await page.keyboard.press("Enter");
  await page.locator(".tab.active", { hasText: "Context.md" }).waitFor();
  await page.locator(".view-lines", { hasText: "Assistant" }).first().waitFor();
  await shot("plot-message");

  await workbench.command("Context: Show Status");
  await page.locator(".view-lines", { hasText: "166,000" }).first().waitFor();
  await shot("status");

  await workbench.openFile(transcript);
  await workbench.itemHover(".statusbar-item[id$='languageStatus']", "Ullage: running");
  await shot("language-status");

  await workbench.command("Context: Restart Server");
  say(`without a server: ${(await gaugeShows(workbench, "?")).label}`);
  await shot("gauge-down");
  await gaugeShows(workbench, "83%");

  await tidy(workbench);
  await workbench.command("Welcome: Open Walkthrough...");
  await workbench.pick("Get Started with Ullage");
  await page.locator(".getting-started-step", { hasText: "Prune safely" }).first().waitFor();
  await page.keyboard.press("Control+B");
  await until("the picture beside the step", async () => {
    const pictures = await Promise.all(page.frames().map((frame) => frame.locator("svg:visible").count().catch(() => 0)));
    return pictures.slice(1).some((count) => count > 0);
  });
  await shot("walkthrough");
  await page.keyboard.press("Control+B");
  await tidy(workbench);
  forget(transcript);
}
