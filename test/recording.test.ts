/** The recording in docs/images shows what the commands print today. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { record } from "../scripts/recording.mjs";
import { isBuilt } from "../scripts/setup.mjs";
import { terminalSvg } from "../scripts/site/terminal-svg.mjs";
import { root } from "./public-api/doors.ts";

const BYTES_MAX = 16_384;

/** Without keys and times, which differ each time. */
const masked = (svg: string) =>
  svg.replace(/[0-9a-f]{64}/g, "key").replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "time");

test("docs/images/recording.svg is what `npm run recording` makes, small and without links", () => {
  expect(isBuilt(), "dist is older than src: run `npm run build` first").toBe(true);
  const svg = readFileSync(join(root, "docs/images/recording.svg"), "utf8");
  assert.equal(masked(svg), masked(terminalSvg(record())));
  assert.ok(svg.length < BYTES_MAX);
  assert.doesNotMatch(svg, /<(?:script|image|a)\b|href|url\(|@import/);
});
