/**
 * The style of the plot's page, in the colors of the user's theme.
 *
 * Nothing is told by color alone: limits have names, estimates are dashed and hollow, compactions have numbers.
 */
export const PLOT_STYLE = `
body { margin: 0; padding: 0 20px 24px; color: var(--vscode-foreground); background: var(--vscode-editor-background);
  font: var(--vscode-font-weight) var(--vscode-font-size, 13px)/1.5 var(--vscode-font-family, sans-serif); }
main { max-width: 1000px; }
h1 { margin: 18px 0 4px; font-size: 1.4em; font-weight: 600; }
p { margin: 2px 0; }
.session { color: var(--vscode-descriptionForeground); overflow-wrap: anywhere; }
figure { margin: 16px 0 20px; }
figcaption { color: var(--vscode-descriptionForeground); }
.scroll { overflow-x: auto; }
/* Where there is no room for all, the newest is seen first. */
figure .scroll { direction: rtl; }
svg { direction: ltr; display: block; width: 100%; min-width: 620px; height: auto; }
svg text { fill: var(--vscode-foreground); stroke: none; font-size: 12px; }
svg line, svg path { fill: none; }
.grid line { stroke: var(--vscode-foreground); stroke-opacity: 0.12; }
.axis line { stroke: var(--vscode-foreground); stroke-opacity: 0.6; }
.limit line { stroke: var(--vscode-charts-yellow); stroke-width: 1.5; stroke-dasharray: 6 4; }
.limit .lead { stroke: var(--vscode-foreground); stroke-opacity: 0.4; }
.window line { stroke: var(--vscode-charts-red); stroke-dasharray: none; }
.used { stroke: var(--vscode-charts-blue); stroke-width: 2; stroke-linejoin: round; stroke-linecap: round; }
.used.estimated { stroke-dasharray: 2 5; }
.dot { fill: var(--vscode-charts-blue); stroke: var(--vscode-charts-blue); stroke-width: 1.5; }
.dot.estimated { fill: var(--vscode-editor-background); }
.drop line { stroke: var(--vscode-charts-purple); stroke-width: 2; }
.drop circle { fill: var(--vscode-editor-background); stroke: var(--vscode-charts-purple); stroke-width: 1.5; }
.drop text { font-size: 11px; font-weight: 600; }
.bar { fill: var(--vscode-charts-blue); }
table { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { padding: 4px 0; text-align: left; font-weight: 600; }
th, td { padding: 3px 12px 3px 0; text-align: left; vertical-align: top;
  border-bottom: 1px solid var(--vscode-widget-border, var(--vscode-contrastBorder, transparent)); }
thead th { font-weight: 600; }
tbody th { font-weight: normal; white-space: nowrap; }
.figure { text-align: right; white-space: nowrap; }
.figure + td, th:nth-child(4) { padding-left: 12px; }
.compaction th, .compaction td, tfoot th, tfoot td { font-weight: 600; }
a { color: var(--vscode-textLink-foreground); }
a:focus-visible, .scroll:focus-visible { outline: 1px solid var(--vscode-focusBorder); outline-offset: 2px; }
`;
