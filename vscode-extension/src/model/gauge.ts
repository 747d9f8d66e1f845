/** What the status bar item shows, from what the server says. */

import type { GaugeParams } from "../protocol";

export interface GaugeItem {
  readonly text: string;
  /** Markdown. */
  readonly tooltip: string;
  /** Id of a theme color; VS Code allows only these two as a background. */
  readonly background: "statusBarItem.warningBackground" | "statusBarItem.errorBackground" | undefined;
  readonly label: string;
}

/** Return the item to show, or undefined to hide it. */
export function gaugeItem(params: GaugeParams): GaugeItem | undefined {
  if (params.session === null) {
    return undefined;
  }
  return {
    text: `$(pulse) ${params.text}`,
    tooltip: params.tooltip,
    background: background(params.level),
    label: params.label,
  };
}

function background(level: GaugeParams["level"]): GaugeItem["background"] {
  switch (level) {
    case "normal":
      return undefined;
    case "warning":
      return "statusBarItem.warningBackground";
    case "error":
      return "statusBarItem.errorBackground";
  }
}
