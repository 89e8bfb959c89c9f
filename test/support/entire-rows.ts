/** The rows of an Entire session's log, and whether they are one chain. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

export type EntireRow = Readonly<Record<string, unknown>> & {
  readonly uuid: string;
  readonly parentUuid: string | null;
  readonly message: Readonly<Record<string, unknown>>;
};

export function rowsAt(path: string): EntireRow[] {
  const text = readFileSync(path, "utf8");
  assert.ok(text.endsWith("\n") || text === "");
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as EntireRow);
}

/** Every row names the one before it, the first names none, and no name occurs twice. */
export function assertChain(rows: readonly EntireRow[]): void {
  assert.deepEqual(
    rows.map(({ parentUuid }) => parentUuid),
    [null, ...rows.map(({ uuid }) => uuid)].slice(0, rows.length),
  );
  assert.equal(new Set(rows.map(({ uuid }) => uuid)).size, rows.length);
}
