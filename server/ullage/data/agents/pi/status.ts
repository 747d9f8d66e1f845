/** The text of pi's status line. */
import type { GaugeReport } from "./protocol.ts";

const CIRCLES = "○◔◑◕●";

/** For instance `◔ 42% · 84k/200k`; `~` stands for an estimate, `?` for what nobody knows. */
export function statusText({ usedTokens, windowTokens, ratio, source }: GaugeReport): string {
  if (usedTokens === null || ratio === null) {
    return unknownText(windowTokens);
  }
  const circle = CIRCLES.charAt(Math.min(CIRCLES.length - 1, Math.floor(ratio * 4)));
  const about = source === "estimated" ? "~" : "";
  return `${circle} ${about}${Math.round(ratio * 100)}% · ${thousands(usedTokens)}/${thousands(windowTokens)}`;
}

export function unknownText(windowTokens: number): string {
  return `◌ ? · ${thousands(windowTokens)}`;
}

function thousands(nTokens: number): string {
  return nTokens < 1000 ? `${nTokens}` : `${Math.round(nTokens / 1000)}k`;
}
