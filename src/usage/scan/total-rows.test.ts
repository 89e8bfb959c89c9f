import assert from "node:assert/strict";
import { test } from "vitest";
import { RowSet } from "../row-set.ts";
import { TotalRows } from "./total-rows.ts";

const counts = (input: number, cached: number, output: number) => ({
  input_tokens: input,
  cached_input_tokens: cached,
  output_tokens: output,
  reasoning_output_tokens: 1,
  total_tokens: input + output,
});
const context = (model: string) => ({ type: "turn_context", payload: { model } });
const count = (total: object | null, last: object | null = null) => ({
  timestamp: "2026-11-15T00:00:00.000Z",
  type: "event_msg",
  payload: { type: "token_count", info: { total_token_usage: total, last_token_usage: last } },
});

/** Model, input, cache read and output of each response. */
function scanned(rows: readonly object[], state: unknown = null) {
  const set = new RowSet();
  const scanner = new TotalRows(set);
  scanner.begin(state);
  const bytes = Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  scanner.scan(bytes, 0, bytes.length);
  const found = Array.from({ length: set.rows.length }, (_, row) => [
    set.models[set.rows.model[row] ?? 0],
    set.rows.input[row],
    set.rows.cacheRead[row],
    set.rows.output[row],
  ]);
  return { found, state: scanner.state };
}

test("a response is what was added to the total, by the model of its turn", () => {
  const { found } = scanned([
    context("a"),
    count(counts(100, 80, 10)),
    context("b"),
    count(counts(250, 180, 30)),
  ]);
  assert.deepEqual(found, [
    ["a", 20, 80, 10],
    ["b", 50, 100, 20],
  ]);
});

test("a total that is repeated adds nothing", () => {
  const { found } = scanned([count(counts(100, 80, 10)), count(counts(100, 80, 10))]);
  assert.equal(found.length, 1);
});

test("a total that began again counts the last call", () => {
  const again = count(counts(40, 0, 5), counts(7, 2, 3));
  const { found } = scanned([count(counts(100, 80, 10)), again]);
  assert.deepEqual(found[1], ["", 5, 2, 3]);
});

test("a rollout that is continued counts only what is new", () => {
  const first = scanned([context("a"), count(counts(100, 80, 10))]);
  const next = scanned([count(counts(100, 80, 10)), count(counts(150, 80, 10))], first.state);
  assert.deepEqual(next.found, [["a", 50, 0, 0]]);
});

test("text about counts, damaged rows and counts that are no numbers are no responses", () => {
  const { found } = scanned([
    { type: "response_item", payload: { type: "message", content: '"token_count"' } },
    { type: "event_msg", payload: { type: "token_count", info: null } },
    count({ input_tokens: "many" }),
    { type: "token_count" },
  ]);
  assert.deepEqual(found, []);
});
