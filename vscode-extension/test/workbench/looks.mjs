// How the workbench looks: its colors, and how much room there is.

const ROOM = { width: 1280, height: 800 };
const THEMES = { dark: "Default Dark Modern", light: "Default Light Modern", contrast: "Default High Contrast", "contrast-light": "Default High Contrast Light" };

const LOOKS = {
  ...Object.fromEntries(Object.entries(THEMES).map(([name, theme]) => [name, { theme, viewport: ROOM }])),
  // As the browser zooms: each pixel of the page is four of the screen's, and there are a quarter as many.
  zoom: { theme: THEMES.dark, viewport: { width: ROOM.width / 2, height: ROOM.height / 2 }, deviceScaleFactor: 2 },
  narrow: { theme: THEMES.dark, viewport: { width: 560, height: 800 } },
};

/** Return the look of this name. */
export function lookOf(name) {
  const look = LOOKS[name];
  if (look === undefined) throw new Error(`LOOK is one of ${Object.keys(LOOKS).join(", ")}, not ${name}`);
  return look;
}
