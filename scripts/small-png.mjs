/** Small PNG: a picture of a page with few colours, as a PNG with a palette. */

import { crc32, deflateSync } from "node:zlib";

/**
 * The same picture with as many colours as `bytesMax` allows. The browser reads its pixels.
 *
 * @param {import("playwright-core").BrowserContext} context
 * @param {Buffer} png
 * @param {number} bytesMax
 */
export async function smaller(context, png, bytesMax) {
  const page = await context.newPage();
  try {
    let best = png;
    for (const colours of [256, 128, 64, 32, 16]) {
      const { width, height, palette, pixels } = await page.evaluate(reduced, [
        `data:image/png;base64,${png.toString("base64")}`,
        colours,
      ]);
      best = encoded(width, height, palette, Buffer.from(pixels, "base64"));
      if (best.length <= bytesMax) break;
    }
    return best;
  } finally {
    await page.close();
  }
}

/**
 * Runs in the browser: the most frequent colours, and the nearest of them for each pixel.
 *
 * @param {unknown[]} given
 */
async function reduced([url, colours]) {
  const { createImageBitmap, OffscreenCanvas } = /** @type {any} */ (globalThis);
  const image = await createImageBitmap(await (await fetch(String(url))).blob());
  const { width, height } = image;
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext("2d");
  context?.drawImage(image, 0, 0);
  const data = new Uint32Array(context?.getImageData(0, 0, width, height).data.buffer ?? []);
  /** @type {Map<number, number>} */
  const counts = new Map();
  for (const pixel of data) counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
  const ordered = [...counts].sort((one, other) => other[1] - one[1]).map(([pixel]) => pixel);
  const rgb = (/** @type {number} */ pixel) => [
    pixel & 255,
    (pixel >> 8) & 255,
    (pixel >> 16) & 255,
  ];
  /** @type {number[][]} */
  const palette = [];
  const far = (/** @type {number[]} */ one, /** @type {number[]} */ other) =>
    one.reduce((sum, value, n) => sum + (value - (other[n] ?? 0)) ** 2, 0);
  // Colours that are alike do not use up the palette.
  for (const apart of [300, 60, 1]) {
    for (const pixel of ordered) {
      if (palette.length >= Number(colours)) break;
      const colour = rgb(pixel);
      if (palette.every((known) => far(known, colour) >= apart)) palette.push(colour);
    }
  }
  const nearest = new Map(
    ordered.map((pixel) => {
      const colour = rgb(pixel);
      let best = 0;
      for (let n = 1; n < palette.length; n++) {
        if (far(palette[n] ?? [], colour) < far(palette[best] ?? [], colour)) best = n;
      }
      return [pixel, best];
    }),
  );
  let text = "";
  const row = new Uint8Array(width);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) row[x] = nearest.get(data[y * width + x] ?? 0) ?? 0;
    text += String.fromCharCode(0, ...row); // Rows begin with their filter: none.
  }
  return { width, height, palette: palette.flat(), pixels: btoa(text) };
}

/** @type {(width: number, height: number, palette: number[], pixels: Buffer) => Buffer} */
function encoded(width, height, palette, pixels) {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 3, 0, 0, 0], 8); // Eight bits, with a palette.
  return Buffer.concat([
    Buffer.from("89504e470d0a1a0a", "hex"),
    chunk("IHDR", head),
    chunk("PLTE", Buffer.from(palette)),
    chunk("IDAT", deflateSync(pixels, { level: 9, memLevel: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

/** @type {(name: string, data: Buffer) => Buffer} */
function chunk(name, data) {
  const body = Buffer.concat([Buffer.from(name, "latin1"), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}
