/** The style sheets use the few sizes of tokens.css, and agents' marks can be read in any colour. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { test } from "vitest";

const folder = fileURLToPath(new URL("..", import.meta.url));
const sheet = (name: string) => readFileSync(join(folder, name), "utf8");
const tokens = [...sheet("style/tokens.css").matchAll(/(--[\w-]+): /g)].map(([, name]) => name);
const isToken = (name: string) => tokens.includes(name) || name === "--edge";

test("letters, corners and distances have sizes of the tokens, or of what is around them", () => {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const ours = names.filter((name) =>
    /(?:style|proof|palette|usage|copy|demo)\/(?!tokens)\w+\.css$/.test(name),
  );
  assert.equal(ours.length, 13);
  const own = ours.flatMap((name) => {
    const sizes = sheet(name).matchAll(
      /(?<= )(?:font-size|border-radius|(?:padding|margin|gap|row-gap|column-gap)[a-z-]*): ([^;]+);/g,
    );
    return [...sizes].map(([, size = ""]) => size);
  });
  assert.ok(own.length > 300);
  // A token; a hairline; a whole rem; or relative to the letters or the screen.
  const known =
    /var\((--[\w-]+)[,)]|(?<![\w.])(?:-?[\d.]+(?:em|vw|vh|%)|\d+rem|[12]px|999px|0)(?![\w.])/g;
  const strange = own.filter((size) => {
    const rest = size.replace(known, (all, token) => (token && !isToken(token) ? all : ""));
    return /\d|--/.test(rest);
  });
  assert.deepEqual(strange, []);
});

test("the page about the look has every token, and no other", () => {
  const page = readFileSync(join(folder, "../../docs/viewer-look.md"), "utf8");
  const told = [...page.matchAll(/^\| `(--[\w-]+)`/gm)].map(([, name]) => name);
  assert.deepEqual(told, tokens);
});

test("the mark of an agent has a contrast of 4.5 to 1 in every colour and both themes", () => {
  const mark = /\.agent-mark \{.*?\}/s.exec(sheet("style/list.css"))?.[0] ?? "";
  const pairs = [...mark.matchAll(/oklch\(([\d.]+) ([\d.]+) var/g)].map(([, l, c]) => [
    Number(l),
    Number(c),
  ]);
  assert.equal(pairs.length, 4);
  const [lightCard, darkCard, lightInk, darkInk] = pairs as [number, number][];
  for (let hue = 0; hue < 360; hue++) {
    for (const [card, ink] of [
      [lightCard, lightInk],
      [darkCard, darkInk],
    ] as const) {
      const [a, b] = [luminance(card, hue), luminance(ink, hue)].sort((x, y) => y - x);
      assert.ok(((a ?? 0) + 0.05) / ((b ?? 0) + 0.05) >= 4.5, `${hue}`);
    }
  }
});

/** Of a colour in OKLCH, as https://www.w3.org/TR/css-color-4 converts it; cut to sRGB. */
function luminance([lightness, chroma]: readonly [number, number] = [0, 0], hue: number): number {
  const [a, b] = [Math.cos, Math.sin].map((of) => chroma * of((hue * Math.PI) / 180)) as [
    number,
    number,
  ];
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const red = 4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s;
  const green = -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s;
  const blue = -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s;
  const [r = 0, g = 0, u = 0] = [red, green, blue].map((part) => Math.min(1, Math.max(0, part)));
  return 0.2126 * r + 0.7152 * g + 0.0722 * u;
}
