/** How the server is, and what the language status says of it. */

export interface Health {
  readonly state: "starting" | "running" | "stopped" | "not installed" | "no python" | "installing" | "no interpreter";
  /** Why, in words for the user; "" where there is nothing to say. */
  readonly detail: string;
  /** All of it: what was found, where, and what mends it; where the detail does not say that. */
  readonly help?: string;
}

export interface HealthItem {
  readonly severity: "information" | "error";
  readonly isBusy: boolean;
  /** What mends it, or looks at it. */
  readonly command: "ullage.showLogs" | "ullage.restartServer" | "ullage.installServer" | "ullage.openInterpreterSetting";
}

export function healthItem(health: Health, isWorking: boolean): HealthItem {
  switch (health.state) {
    case "starting":
    case "installing":
      return { severity: "information", isBusy: true, command: "ullage.showLogs" };
    case "running":
      return { severity: "information", isBusy: isWorking, command: "ullage.showLogs" };
    case "stopped":
      return { severity: "error", isBusy: false, command: "ullage.restartServer" };
    case "not installed":
    case "no python":
      return { severity: "error", isBusy: false, command: "ullage.installServer" };
    case "no interpreter":
      return { severity: "error", isBusy: false, command: "ullage.openInterpreterSetting" };
  }
}
