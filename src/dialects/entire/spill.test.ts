import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import fc from "fast-check";
import { test } from "vitest";
import { writerFacts } from "../../../test/support/facts.ts";
import { thrownRefusal } from "../../../test/support/refusal.ts";
import { runs } from "../../../test/support/seed.ts";
import type { Native } from "../../core/model/entry.ts";
import type { SpillTools } from "../facets/writing.ts";
import { SPILLS_MAX } from "../shared/spill.ts";
import { complete } from "./complete.ts";
import { ROW_BYTES_MAX, spilling } from "./spill.ts";

const MIB = 1024 * 1024;

/** Compact JSON; the store escapes a few more characters. */
const TOOLS: SpillTools = {
  encode: (value) => Buffer.from(JSON.stringify(value)),
  sha256: (bytes) => createHash("sha256").update(bytes).digest("hex"),
  newId: () => "the-id",
};

const LOG = "full.jsonl";

function split(native: Native, tools: SpillTools) {
  return spilling.split(native, LOG, tools);
}

function row(message: object, rest: object = {}): Native {
  return complete({ type: "user", message, ...rest }, writerFacts({ newId: () => "the-uuid" }));
}

function results(...contents: readonly string[]): Native {
  const blocks = contents.map((content, n) => {
    return { type: "tool_result", tool_use_id: `t${n}`, content };
  });
  return row({ content: blocks });
}

function lengthOf(native: Native): number {
  return TOOLS.encode(native).length;
}

/** A split row, restored from its unchanged files. */
function restored({ native, files }: ReturnType<typeof spilling.split>): Native | null {
  return spilling.restore(
    native,
    files.map(({ bytes }) => bytes),
  );
}

test("a row's longest string is spilled, and the row is read back unchanged", () => {
  const long = "x".repeat(9 * MIB);
  const given = results("short", long);
  const { native, files } = split(given, TOOLS);
  const token = Buffer.from(JSON.stringify(long));
  assert.deepEqual(
    files.map(({ name, bytes }) => [name, Buffer.compare(bytes, token)]),
    [["the-uuid.0.spill", 0]],
  );
  assert.deepEqual(native.spill, [
    {
      path: "the-uuid.0.spill",
      bytes: token.length,
      sha256: createHash("sha256").update(token).digest("hex"),
      at: "/message/content/1/content",
    },
  ]);
  assert.equal(Object.keys(native).at(-1), "spill");
  const { content } = native.message as { content: Record<string, unknown>[] };
  assert.equal(content[0]?.content, "short");
  assert.match(String(content[1]?.content), /^\[9437186 bytes are kept in the-uuid\.0\.spill\]$/);
  assert.deepEqual(restored({ native, files }), given);
});

test("no more strings are spilled than necessary for the row to fit", () => {
  const contents = [3, 5, 1, 4, 2].map((mib) => "é".repeat((mib * MIB) / 2));
  const { native, files } = split(results(...contents), TOOLS);
  const at = (native.spill as { at: string }[]).map((reference) => reference.at);
  assert.deepEqual(at, ["/message/content/1/content", "/message/content/3/content"]);
  assert.ok(lengthOf(native) <= ROW_BYTES_MAX);
  assert.deepEqual(restored({ native, files }), results(...contents));
});

test("strings outside the message are spilled too, and the writer's own fields never", () => {
  const long = "x".repeat(5 * MIB);
  const rest = { toolUseResult: { stdout: long, "a/b~c": { "": long } } };
  const given = row({ content: "hi" }, rest);
  const { native, files } = split(given, TOOLS);
  const at = (native.spill as { at: string }[]).map((reference) => reference.at);
  assert.ok(at.every((pointer) => pointer.startsWith("/toolUseResult/")));
  assert.deepEqual(restored({ native, files }), given);

  const facts = writerFacts({ cwd: long, version: long });
  const writers = complete({ type: "user", message: { content: "hi" } }, facts);
  thrownRefusal(() => split(writers, TOOLS), "INVALID_ENTRY");
});

test("keys that a JSON pointer must escape are found again", () => {
  const long = "x".repeat(9 * MIB);
  for (const key of ["/a~1b~", "", "__proto__", "0"]) {
    const input = JSON.parse(`{${JSON.stringify(key)}:${JSON.stringify(long)},"z":1}`) as object;
    const given = row({ content: [{ type: "tool_use", id: "t", name: "n", input }] });
    assert.deepEqual(restored(split(given, TOOLS)), given, key);
  }
});

test("the limit of spilled strings is accepted, and one more is refused", () => {
  // Strings of which 128 are as long as a row may be, without the rest of the row.
  const string = "x".repeat(ROW_BYTES_MAX / 128);
  const rowOf = (count: number) => results(...Array<string>(count).fill(string));
  const most = split(rowOf(SPILLS_MAX + 127), TOOLS);
  assert.equal(most.files.length, SPILLS_MAX);
  assert.ok(lengthOf(most.native) <= ROW_BYTES_MAX);
  thrownRefusal(() => split(rowOf(SPILLS_MAX + 128), TOOLS), "INVALID_ENTRY");
});

test("a row that is long because of many short values is refused, and not quoted", () => {
  const text = "secret ".repeat(100);
  const many = row({ content: Array(15_000).fill({ type: "text", text }) });
  assert.ok(lengthOf(many) > ROW_BYTES_MAX);
  const { message } = thrownRefusal(() => split(many, TOOLS), "INVALID_ENTRY");
  assert.ok(!message.includes("secret"));
});

test("a row is restored exactly or not at all", () => {
  // Method: every way in which a file or a reference can be wrong.
  const given = results("a", "x".repeat(9 * MIB));
  const { native, files } = split(given, TOOLS);
  const [reference] = native.spill as Record<string, unknown>[];
  const bytes = files.map((file) => file.bytes);
  const tokens = ["", "1", "{}", '"open', '"\xff"', '"ok" x'].map((text) =>
    Buffer.from(text, "latin1"),
  );
  for (const token of tokens) assert.equal(spilling.restore(native, [token]), null);
  assert.equal(spilling.restore(native, []), null);
  for (const at of [
    "/",
    "/message",
    "/message/content/0/content",
    "/message/content/7",
    "/nowhere",
  ]) {
    assert.equal(spilling.restore({ ...native, spill: [{ ...reference, at }] }, bytes), null, at);
  }
  const elsewhere = results("a", "[1 bytes are kept in the-uuid.0.spill]");
  assert.equal(spilling.restore({ ...elsewhere, spill: native.spill }, bytes), null);
});

test("only references that we write are followed: another program's path is never opened", () => {
  const good = { path: "u.0.spill", bytes: 9, sha256: "0".repeat(64), at: "/message/content" };
  assert.deepEqual(spilling.referencesOf({ spill: [good] }, LOG), [{ ...good, name: good.path }]);
  const bad = [
    { ...good, path: "../u.0.spill" },
    { ...good, path: "/etc/passwd" },
    { ...good, path: "u.0.spill/../x" },
    { ...good, path: ".spill" },
    { ...good, path: `${"u".repeat(200)}.0.spill` },
    { ...good, path: "u\n.0.spill" },
    { ...good, bytes: -1 },
    { ...good, bytes: 1.5 },
    { ...good, bytes: 1e15 },
    { ...good, sha256: null },
    { ...good, at: "message" },
    null,
    "u.0.spill",
  ];
  for (const spill of bad) assert.deepEqual(spilling.referencesOf({ spill: [spill] }, LOG), []);
  const values: unknown[] = [
    null,
    1,
    {},
    { spill: "x" },
    { spill: Array(SPILLS_MAX + 1).fill(good) },
  ];
  for (const value of values) assert.deepEqual(spilling.referencesOf(value, LOG), []);
});

test("any row is restored unchanged, whatever its strings hold", () => {
  const chars = fc.string({ unit: "binary", minLength: 1, maxLength: 12 });
  const strings = fc.array(fc.tuple(chars, fc.integer({ min: 1, max: 6 })), {
    minLength: 1,
    maxLength: 3,
  });
  fc.assert(
    fc.property(strings, (units) => {
      const contents = units.map(([unit, mib]) =>
        unit.repeat(Math.ceil((mib * MIB) / unit.length)),
      );
      const given = results(...contents);
      if (lengthOf(given) <= ROW_BYTES_MAX) return;
      const made = split(given, TOOLS);
      assert.ok(lengthOf(made.native) <= ROW_BYTES_MAX);
      assert.deepEqual(restored(made), given);
    }),
    { numRuns: runs(6) },
  );
});
