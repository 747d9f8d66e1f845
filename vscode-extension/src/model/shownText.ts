/** Texts where the editor would draw pictures. */

/** Return a text in which the editor finds no icon: `$(name)` in a title or a memory file is no picture of ours. */
export function shownAsText(text: string): string {
  return text.replace(/\$\(/g, "\\$(");
}
