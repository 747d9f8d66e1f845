/** What the status bar item shows, from what the server says. */

import type { GaugeParams } from "../protocol";
import { healthItem, type Health, type HealthItem } from "./health";
import { shownAsText } from "./shownText";

type Level = GaugeParams["level"];

export interface GaugeItem {
  readonly text: string;
  /** Markdown. */
  readonly tooltip: string;
  /** Id of a theme color; VS Code allows only these two as a background. */
  readonly background: "statusBarItem.warningBackground" | "statusBarItem.errorBackground" | undefined;
  readonly label: string;
}

/** Return the item to show, or undefined to hide it. `isBusy` while a command changes the session. */
export function gaugeItem(params: GaugeParams, isBusy: boolean): GaugeItem | undefined {
  if (params.session === null) {
    return undefined;
  }
  return {
    text: `$(${isBusy ? "loading~spin" : icon(params.level)}) ${shownAsText(params.itemText)}${params.isChosen ? " $(pinned)" : ""}`,
    tooltip: params.tooltip,
    background: background(params.level),
    label: params.label,
  };
}

/** What stands in the gauge's place while no server tells one. */
export interface AbsentItem {
  readonly text: string;
  readonly command: HealthItem["command"];
}

/** Return that, or undefined where another item speaks, or at a first start; `wasShown` where a gauge stood there. */
export function absentItem(health: Health, wasShown: boolean): AbsentItem | undefined {
  const { severity, command } = healthItem(health, false);
  if (command === "ullage.installServer" || health.state === "installing" || (severity !== "error" && !wasShown)) {
    return undefined;
  }
  return { text: `$(${severity === "error" ? "error" : "loading~spin"}) ?`, command };
}

/** Nothing is told by color alone. */
function icon(level: Level): string {
  return level === "normal" ? "pulse" : level;
}

function background(level: Level): GaugeItem["background"] {
  switch (level) {
    case "normal":
      return undefined;
    case "warning":
      return "statusBarItem.warningBackground";
    case "error":
      return "statusBarItem.errorBackground";
  }
}
