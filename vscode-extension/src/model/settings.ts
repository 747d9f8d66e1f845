/** The settings that the server reads: they are the names of its own keys, below `ullage`. */

/** In the order of the settings page; tests compare them with the manifest, and the manifest with the server. */
export const SERVER_SETTINGS = [
  "contextWindow",
  "gauge.trigger",
  "gauge.nudge",
  "gauge.showLimits",
  "notify.agentWaits",
  "compaction.autoEnabled",
  "compaction.notifyBeforeAuto",
  "compaction.maxAutoCompactions",
  "compaction.layers.prune.trigger",
  "compaction.layers.summarize.trigger",
  "compaction.layers.full.trigger",
  "compaction.prune.protectedTools",
  "compaction.model.provider",
  "compaction.model.modelName",
  "compaction.model.baseUrl",
  "checkpoint.trigger",
  "checkpoint.retention",
  "compaction.memoryFlush.enabled",
  "pins",
  "sandbox.readOnly",
  "diagnostics.off",
] as const;

/** Return what is set: by the workspace where it is trusted, else by the user. Null is set, too: as if it were not. */
export function setValue(
  said: { readonly workspaceValue?: unknown; readonly globalValue?: unknown } | undefined,
  isTrusted: boolean,
): unknown {
  return isTrusted && said?.workspaceValue !== undefined ? said.workspaceValue : said?.globalValue;
}
