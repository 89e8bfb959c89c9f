import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { test } from "vitest";
import { sampleFolders } from "../../../test/support/samples.ts";
import { runs } from "../../../test/support/seed.ts";
import { sharedFiles } from "../../../test/support/shared-files.ts";
import { COUNTS } from "../columns.ts";
import { RowSet } from "../row-set.ts";
import { FLAGS } from "../usage-row.ts";
import { MessageRows } from "./message-rows.ts";

const shared = sharedFiles("samples");

type Fields = Readonly<Record<string, unknown>>;

/** What a scan of the text counts; the same whether rows are walked or parsed. */
function scanned(text: string) {
  const walked = scannedBy(text, false);
  assert.deepEqual(scannedBy(text, true), walked);
  return walked;
}

/** Model, time and counts, in order. */
function scannedBy(text: string, isParsing: boolean) {
  const set = new RowSet();
  const scanner = new MessageRows(set);
  scanner.isParsing = isParsing;
  scanner.begin();
  const bytes = Buffer.from(text);
  scanner.scan(bytes, 0, bytes.length, 0);
  const { rows, models } = set;
  return Array.from({ length: rows.length }, (_, row) => ({
    model: models[rows.model[row] ?? 0],
    at: rows.at[row],
    counts: COUNTS.map((name) => rows[name][row]),
    flags: (rows.flags[row] ?? 0) & (FLAGS.fast | FLAGS.batch | FLAGS.us),
    recorded: rows.recorded[row],
  }));
}

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const fieldOf = (value: unknown, name: string) => (isFields(value) ? value[name] : undefined);
const tokens = (value: unknown) => {
  return typeof value === "number" && value > 0 && Number.isFinite(value) ? value : 0;
};

/** The same for one row, straight on its JSON; undefined: it is not JSON. */
function plainly(text: string) {
  let row: unknown;
  try {
    row = JSON.parse(text);
  } catch {
    return undefined;
  }
  const nested = fieldOf(fieldOf(row, "data"), "message");
  const isOwn = isFields(fieldOf(fieldOf(row, "message"), "usage"));
  const said = isOwn ? row : nested;
  const message = fieldOf(said, "message");
  const usage = fieldOf(message, "usage");
  if (!isFields(usage) || fieldOf(message, "model") === "<synthetic>") return [];
  const write = tokens(usage.cache_creation_input_tokens);
  const hour = tokens(fieldOf(usage.cache_creation, "ephemeral_1h_input_tokens"));
  const output = tokens(usage.output_tokens);
  const thinking = tokens(fieldOf(usage.output_tokens_details, "thinking_tokens"));
  const own = [tokens(usage.input_tokens), output, tokens(usage.cache_read_input_tokens)];
  const [input = 0, , read = 0] = own;
  if (input + output + read + write === 0) return [];
  const time = (value: unknown) => (typeof value === "string" ? Date.parse(value) : Number.NaN);
  const saidAt = time(fieldOf(said, "timestamp"));
  const model = fieldOf(message, "model");
  const cost = fieldOf(said, "costUSD");
  const hourly = Math.min(hour, write);
  return [
    {
      model: typeof model === "string" ? model : "",
      at: Number.isNaN(saidAt) ? time(fieldOf(row, "timestamp")) : saidAt,
      counts: [input, output, write - hourly, hourly, read, Math.min(thinking, output)],
      flags:
        (usage.speed === "fast" ? FLAGS.fast : 0) |
        (usage.service_tier === "batch" ? FLAGS.batch : 0) |
        (usage.inference_geo === "us" ? FLAGS.us : 0),
      recorded: typeof cost === "number" ? cost : Number.NaN,
    },
  ];
}

const FOLDERS = [
  ...["claude-code", "entire"].flatMap((agent) => sampleFolders(agent).map(({ path }) => path)),
  ...(shared.isThere ? ["claude-code", "more/claude", "entire"] : []).map((name) =>
    join(shared.path, name),
  ),
];

function sampleRows(): string[] {
  const files = FOLDERS.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".jsonl"))
      .map((name) => join(folder, name)),
  );
  return files.flatMap((file) => readFileSync(file, "utf8").split("\n"));
}

test("each row of the samples counts as a plain parse says", () => {
  let counted = 0;
  for (const row of sampleRows()) {
    const expected = plainly(row);
    if (expected === undefined) continue;
    counted += expected.length;
    assert.deepEqual(scanned(row), expected, row.slice(0, 200));
  }
  assert.ok(counted > (shared.isThere ? 100 : 30), String(counted));
});

test("a row with changed bytes counts as a plain parse says", () => {
  const rows = sampleRows().filter((row) => row.includes('"usage"'));
  const change = fc.record({
    row: fc.nat(rows.length - 1),
    at: fc.double({ min: 0, max: 0.999, noNaN: true }),
    cut: fc.nat(2),
    put: fc.constantFrom(
      "x",
      "0",
      '\\"',
      "\\u0041",
      "é",
      " ",
      '"',
      "\\",
      "{",
      "}",
      "]",
      ",",
      '"usage":{',
    ),
  });
  let [valid, damaged] = [0, 0];
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 3 }), (changes) => {
      let row = rows[changes[0]?.row ?? 0] ?? "";
      for (const { at, cut, put } of changes) {
        const place = Math.floor(at * row.length);
        row = row.slice(0, place) + put + row.slice(place + cut);
      }
      const expected = plainly(row);
      const found = scanned(row);
      if (expected === undefined) damaged++;
      else {
        valid++;
        assert.deepEqual(found, expected);
      }
    }),
    { numRuns: runs(4_000) },
  );
  // Most changes damage a row.
  assert.ok(valid > runs(20) && damaged > runs(100), `${valid} ${damaged}`);
});

const value = fc.jsonValue({ maxDepth: 2 });
const usage = fc.record(
  {
    input_tokens: fc.oneof(fc.nat(), value),
    output_tokens: fc.oneof(fc.nat(), value),
    cache_creation_input_tokens: fc.oneof(fc.nat(), value),
    cache_read_input_tokens: fc.oneof(fc.nat(), fc.double({ noNaN: true }), value),
    cache_creation: fc.oneof(value, fc.record({ ephemeral_1h_input_tokens: fc.nat() })),
    speed: fc.constantFrom("fast", "standard", null),
    service_tier: fc.constantFrom("batch", "standard"),
    usage: value,
  },
  { requiredKeys: [] },
);
const message = fc.record(
  {
    id: fc.oneof(fc.string(), value),
    model: fc.oneof(fc.string(), fc.constant("<synthetic>"), value),
    content: fc.oneof(value, fc.array(fc.record({ input: fc.record({ usage }) }))),
    usage: fc.oneof(usage, value),
  },
  { requiredKeys: [] },
);
const row = fc.record(
  {
    type: fc.constantFrom("assistant", "user", "progress"),
    message: fc.oneof(message, value),
    toolUseResult: fc.oneof(fc.record({ usage }), value),
    data: fc.oneof(value, fc.record({ message: fc.record({ message, timestamp: value }) })),
    timestamp: fc.oneof(
      fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
      value,
    ),
    costUSD: fc.oneof(fc.double({ min: 0, max: 9, noNaN: true }), value),
    requestId: value,
    uuid: value,
  },
  { requiredKeys: [] },
);

test("a row of any shape counts as a plain parse says", () => {
  const space = fc.constantFrom<string | number>("", " ", 2);
  fc.assert(
    fc.property(row, space, (fields, indent) => {
      const text = JSON.stringify(fields, null, indent).replaceAll("\n", " ");
      assert.deepEqual(scanned(text), plainly(text));
    }),
    { numRuns: runs(3_000) },
  );
});

const answer = (id: string, output: number, more: object = {}) =>
  JSON.stringify({
    message: { id, model: "m", usage: { input_tokens: 1, output_tokens: output } },
    timestamp: "2026-11-15T00:00:00.000Z",
    ...more,
  });

test("rows of one message are one response with the largest of each count", () => {
  const text = [answer("a", 5), answer("b", 1), answer("a", 90), answer("a", 7)].join("\n");
  assert.deepEqual(
    scanned(text).map(({ counts }) => counts[1]),
    [90, 1],
  );
});

test("one message id with two request ids is two responses", () => {
  const requests = [{ requestId: "r1" }, { requestId: "r2" }, {}];
  const text = requests.map((more) => answer("a", 5, more)).join("\n");
  assert.equal(scanned(text).length, 2);
});

test("a result's usage, a tool's input and an escaped text are no responses", () => {
  const rows = [
    { type: "user", message: { role: "user" }, toolUseResult: { usage: { input_tokens: 7 } } },
    { message: { content: [{ input: { usage: { input_tokens: 7 } } }] } },
    { message: { content: '"usage":{"input_tokens":7}' } },
    { message: { message: { usage: { input_tokens: 7 } } } },
    { data: { usage: { input_tokens: 7 } } },
  ];
  assert.deepEqual(scanned(rows.map((each) => JSON.stringify(each)).join("\n")), []);
});

test("a torn row hides neither the row before nor the row after", () => {
  const torn = answer("t", 3).slice(0, 60);
  assert.equal(scanned([answer("a", 1), torn, answer("b", 2)].join("\n")).length, 2);
});

test("a count that cannot be right is kept as recorded and marked", () => {
  const set = new RowSet();
  const scanner = new MessageRows(set);
  const bytes = Buffer.from([answer("a", 9e12), answer("b", -5), answer("c", 1)].join("\n"));
  scanner.scan(bytes, 0, bytes.length, 0);
  assert.deepEqual([...set.rows.output.subarray(0, 3)], [9e12, 0, 1]);
  assert.deepEqual(
    [0, 1, 2].map((each) => set.rows.has(each, FLAGS.implausible)),
    [true, true, false],
  );
});

test("fewer output tokens than the text can have are kept as recorded and marked", () => {
  const rowOf = (id: string, output: number, content: unknown) =>
    JSON.stringify({
      timestamp: "2026-11-10T10:00:00.000Z",
      message: { id, model: "m", content, usage: { input_tokens: 1, output_tokens: output } },
    });
  const text = (length: number) => [{ type: "text", text: "x".repeat(length) }];
  const call = [{ type: "tool_use", input: { text: "x".repeat(9_000) } }];
  const rows = [
    rowOf("low", 2, text(3_000)),
    rowOf("plain", 1, "x".repeat(3_000)),
    rowOf("right", 6, text(3_000)),
    rowOf("short", 1, text(500)),
    rowOf("call", 1, call),
    // Block by block: only the last row has the true count.
    rowOf("grown", 1, text(9_000)),
    rowOf("grown", 900, []),
    // No row has it; the one with more tokens is not the one with the text.
    rowOf("blocks", 1, text(3_000)),
    rowOf("blocks", 2, []),
  ];
  for (const isParsing of [false, true]) {
    const set = new RowSet();
    const scanner = new MessageRows(set);
    scanner.isParsing = isParsing;
    const bytes = Buffer.from(rows.join("\n"));
    scanner.scan(bytes, 0, bytes.length, 0);
    assert.deepEqual([...set.rows.output.subarray(0, 7)], [2, 1, 6, 1, 1, 900, 2]);
    assert.deepEqual(
      [0, 1, 2, 3, 4, 5, 6].map((each) => set.rows.isImplausible(each)),
      [true, true, false, false, false, false, true],
    );
  }
});
