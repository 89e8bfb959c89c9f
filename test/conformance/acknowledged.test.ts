/**
 * An acknowledged append is in the log, in every dialect; any other is refused, and writes nothing.
 * The log's own bytes are checked, not only what our readers return.
 */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, onTestFinished, test } from "vitest";
import { VerbatimError } from "../../src/core/base/errors.ts";
import { ENTRY_DEPTH_MAX } from "../../src/core/base/limits.ts";
import type { NewEntry } from "../../src/core/model/entry.ts";
import type { DialectName } from "../../src/dialects/registry.ts";
import { openStore, type Session, type StoredEntry } from "../../src/doors/index.ts";
import { refusal } from "../support/refusal.ts";
import { runs } from "../support/seed.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { anyEntry, broken, goodEntry, type Untyped } from "./any-entry.ts";

const DIALECTS: readonly DialectName[] = [
  "verbatim",
  "homeagent",
  "rye",
  "entire",
  "claude",
  "sdk",
];

const TEXT = [{ type: "text", text: "IMPORTANT" }];
const message = (rest: object): Untyped => ({
  kind: "message",
  role: "user",
  parts: TEXT,
  ...rest,
});
const withPart = (part: unknown): Untyped => message({ parts: [part] });
const withInput = (input: unknown) => withPart({ type: "tool_call", tool: "t", input });

async function newSession(dialect: DialectName): Promise<Session> {
  const store = await openStore({ dialect, root: tempDirectory(), agent: "a", durability: "os" });
  onTestFinished(() => store.close());
  return store.create();
}

function linesOf({ path }: Session): unknown[] {
  const lines = readFileSync(path, "utf8").split("\n").slice(0, -1);
  return lines.map((line) => JSON.parse(line));
}

/** All values of an entry: its texts and numbers, and the names in tools' inputs and blocks. */
function wordsIn(value: unknown): (string | number | true)[] {
  if (typeof value === "string" || typeof value === "number" || value === true) return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, held]) => [
    ...(Array.isArray(value) || ENTRY_KEYS.has(key) || held === undefined ? [] : [key]),
    ...(UNSPOKEN.includes(key) ? [] : wordsIn(held)),
  ]);
}

/** Fields that a dialect may express by the kind of its line; those are checked by reading back. */
const UNSPOKEN = ["type", "kind", "role", "outcome"];

/** Fields of our own vocabulary, for which every dialect has its own name. */
const ENTRY_KEYS = new Set(
  "kind at role parts model messageId stopReason isPartial usage outcome error type text signature withheld provider callId tool input output durationMs session agent native inputTokens outputTokens cacheWriteTokens cacheReadTokens totalTokens spend code detail mediaType name data url".split(
    " ",
  ),
);

/** The content of the lines as texts and numbers to search, including JSON inside their texts. */
function heldIn(lines: readonly unknown[]): { texts: string[]; numbers: Set<number> } {
  const texts: string[] = [];
  const numbers = new Set<number>();
  const add = (value: unknown): void => {
    if (typeof value === "number") numbers.add(value);
    if (typeof value === "string") {
      texts.push(value);
      if (/^[[{"\d-]|^true|^false/.test(value)) addParsed(value);
    }
    if (typeof value !== "object" || value === null) return;
    for (const [key, held] of Object.entries(value)) {
      texts.push(key);
      add(held);
    }
  };
  const addParsed = (text: string) => {
    try {
      const parsed: unknown = JSON.parse(text);
      if (typeof parsed !== "string" || parsed !== text) add(parsed);
    } catch {
      // Not JSON: it is searched as text.
    }
  };
  for (const line of lines) add(line);
  return { texts, numbers };
}

/** Fails unless the lines contain every value of the entry. */
function assertIn(entry: NewEntry, lines: readonly unknown[]): void {
  const { texts, numbers } = heldIn(lines);
  for (const word of wordsIn(entry)) {
    if (word === true) continue; // Read back below: `isPartial`.
    const isThere =
      typeof word === "number"
        ? numbers.has(word) || texts.includes(String(word))
        : texts.some((text) => text.includes(word)) || isTime(word, numbers);
    assert.ok(isThere, `${JSON.stringify(word)} of ${JSON.stringify(entry)} is not in the log`);
  }
}

function isTime(word: string, numbers: ReadonlySet<number>): boolean {
  return numbers.has(Date.parse(word));
}

/** The lines of one entry, merged into one. */
function together(entries: readonly StoredEntry[]): Partial<StoredEntry> {
  const last = entries.findLast(({ kind }) => kind === "message") ?? entries.at(-1) ?? {};
  return { ...last, parts: entries.flatMap(({ parts }) => parts) };
}

/** Removes nulls and empty ids, which have no meaning; fields that a writer adds are ignored. */
function said(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(said);
  if (typeof value !== "object" || value === null) return value;
  const held = Object.entries(value).filter(
    ([key, each]) => each !== null && each !== undefined && !(key === "callId" && each === ""),
  );
  return Object.fromEntries(held.map(([key, each]) => [key, said(each)]));
}

function isContained(given: unknown, back: unknown): boolean {
  if (Array.isArray(given) || typeof given !== "object" || given === null) {
    return isDeepStrictEqual(given, back);
  }
  const held = (back ?? {}) as Record<string, unknown>;
  return Object.entries(given).every(([key, each]) => isDeepStrictEqual(each, held[key]));
}

const READ_BACK = ["parts", "model", "messageId", "stopReason", "isPartial", "usage"] as const;

/** Fails unless a reader gets the entry's values. */
function assertReadBack(entry: NewEntry, back: Partial<StoredEntry>, dialect: DialectName): void {
  for (const field of [...READ_BACK, "outcome", "error"] as const) {
    const given = entry[field] || undefined;
    if (given === undefined) continue;
    if (field === "parts" && isOtherwiseRead(entry, dialect)) continue;
    const isThere = isContained(said(given), said(back[field]));
    assert.ok(isThere, `${field} of ${JSON.stringify(entry)} reads ${JSON.stringify(back[field])}`);
  }
}

/** Documented exceptions: a message without parts in rye, blocks that look like a known one. */
function isOtherwiseRead({ parts = [] }: NewEntry, dialect: DialectName): boolean {
  if (dialect === "rye") return parts.length === 0;
  return (
    parts.some(({ type }) => type === "other") &&
    !["homeagent", "sdk", "verbatim"].includes(dialect)
  );
}

const PNG = { type: "image", mediaType: "image/png", data: "AAAA" };
const REFUSED: readonly (readonly [string, Untyped, string])[] = [
  ["content instead of parts", { kind: "message", role: "user", content: "IMPORTANT" }, "content"],
  ["text instead of parts", { kind: "message", role: "user", text: "IMPORTANT" }, "text"],
  ["an unknown role", message({ role: "human" }), "role"],
  ["an unknown kind", message({ kind: "msg" }), "kind"],
  ["parts that are a text", message({ parts: "hi" }), "parts"],
  ["a part that is a text", message({ parts: ["hi"] }), "parts.0"],
  ["a text under another name", withPart({ type: "text", value: "IMPORTANT" }), "parts.0.value"],
  ["a text that is missing", withPart({ type: "text" }), "parts.0.text"],
  ["an unknown type", withPart({ type: "picture" }), "parts.0.type"],
  ["an image without bytes", withPart({ type: "image", mediaType: "image/png" }), "parts.0"],
  ["two places", withPart({ ...PNG, url: "https://example.org/a.png" }), "parts.0"],
  ["no base64", withPart({ ...PNG, data: "IMPORTANT words" }), "parts.0.data"],
  ["bytes without a type", withPart({ ...PNG, mediaType: null }), "parts.0.mediaType"],
  ["HTML as an image", withPart({ ...PNG, mediaType: "text/html" }), "parts.0.mediaType"],
  ["an image as a file", withPart({ ...PNG, type: "file" }), "parts.0.mediaType"],
  ["no media type", withPart({ ...PNG, mediaType: "png" }), "parts.0.mediaType"],
  ["a path", withPart({ type: "file", mediaType: null, path: "../IMPORTANT" }), "parts.0.path"],
  ["no URL", withPart({ type: "image", url: "a.png" }), "parts.0.url"],
  ["a part with more to say", withPart({ ...TEXT[0], id: 1 }), "parts.0.id"],
  ["a block without its native", withPart({ type: "other" }), "parts.0.native"],
  ["a failure without a reason", withPart({ type: "tool_result", error: "" }), "parts.0.error"],
  ["a misspelt usage", message({ usage: { input_tokens: 1 } }), "usage.input_tokens"],
  ["a usage in words", message({ usage: { inputTokens: "1" } }), "usage.inputTokens"],
  ["an invalid time", message({ at: "yesterday" }), "at"],
  ["a time without a zone", message({ at: "2026-11-15T10:00:00" }), "at"],
  ["a Date", message({ at: new Date() }), "at"],
  ["an entry as it was read", message({ native: {} }), "native"],
  ["a list in a list", [[]], "entry"],
  ["a text", "hi", "entry"],
  ["nothing", undefined, "entry"],
  ["NaN", withInput({ n: [1, Number.NaN] }), "parts.0.input.n.1"],
  ["Infinity", withPart({ type: "tool_result", durationMs: Infinity }), "parts.0.durationMs"],
  ["-0", withInput({ n: -0 }), "parts.0.input.n"],
  ["a BigInt", withInput({ n: 1n }), "parts.0.input.n"],
  ["a function", withInput({ f: () => 1 }), "parts.0.input.f"],
  ["a toJSON", withInput({ toJSON: () => "other words" }), "parts.0.input.toJSON"],
  ["a symbol", withInput(Symbol("s")), "parts.0.input"],
  ["a Date deep inside", withInput({ when: new Date() }), "parts.0.input.when"],
  ["a Map", withInput(new Map([["a", 1]])), "parts.0.input"],
  ["bytes", withInput(new Uint8Array(2)), "parts.0.input"],
  ["an object of a class", withInput(new (class Order {})()), "parts.0.input"],
  // biome-ignore lint/suspicious/noSparseArray: a hole is what is tried.
  ["a hole in a list", withInput([1, , 3]), "parts.0.input.1"],
  ["undefined in a list", withInput([undefined]), "parts.0.input.0"],
  ["a list with a name", withInput(Object.assign([1], { more: 2 })), "parts.0.input"],
];

describe.each(DIALECTS)("in %s", (dialect) => {
  test("an acknowledged value is in the log unchanged, or the append is refused with the field's name", async () => {
    const session = await newSession(dialect);
    await session.append(message({}));
    let refused = 0;
    let acknowledged = 0;
    await fc.assert(
      fc.asyncProperty(fc.oneof(goodEntry, anyEntry, broken), async (entry) => {
        const before = linesOf(session).length;
        try {
          await session.append(entry);
        } catch (error) {
          assert.ok(
            error instanceof VerbatimError && error.code === "INVALID_ENTRY",
            String(error),
          );
          assert.match((error.details as { field: string }).field, /^[\w.]+/);
          assert.equal(linesOf(session).length, before);
          refused++;
          return;
        }
        acknowledged++;
        const added = linesOf(session).slice(before);
        if (added.length === 0) {
          assert.deepEqual([dialect, said(entry)], ["entire", { kind: "end" }]);
          return;
        }
        assertIn(entry, added);
        const entries = await session.last(added.length);
        assertReadBack(entry, together(entries), dialect);
        const isRoleThere =
          !entry.role ||
          entries.every(({ role }) => role === entry.role) ||
          heldIn(added).texts.includes(entry.role);
        assert.ok(isRoleThere, `the role of ${JSON.stringify(entry)} is not in the log`);
      }),
      { numRuns: runs(300) },
    );
    assert.ok(
      refused > runs(20) && acknowledged > runs(20),
      `${refused} refused, ${acknowledged} not`,
    );
  });

  test("a value that is not an entry is refused with the field's name, and nothing is written", async () => {
    const session = await newSession(dialect);
    for (const [what, entry, field] of REFUSED) {
      const { details, message: told } = await refusal(session.append(entry), "INVALID_ENTRY");
      assert.equal(details.field, field, what);
      assert.ok(!told.includes("IMPORTANT"), "an error quotes no words");
    }
    assert.equal(readFileSync(session.path, { encoding: "utf8", flag: "a+" }), "");
  });

  test("a cycle and a getter that throws are refused", async () => {
    const session = await newSession(dialect);
    const cycle: Untyped = { a: 1 };
    cycle.self = cycle;
    const thrower = {
      get a() {
        throw new TypeError("no");
      },
    };
    for (const input of [cycle, thrower]) {
      const { details } = await refusal(session.append(withInput(input)), "INVALID_ENTRY");
      assert.match(details.field, /^parts\.0\.input/);
    }
  });

  test("a value may nest to the limit, and not deeper", async () => {
    const session = await newSession(dialect);
    const nested = (depth: number) => {
      let value: unknown = "IMPORTANT";
      for (let n = 0; n < depth; n++) value = [value];
      return withInput({ deep: value });
    };
    const inEntry = "parts.0.input.deep".split(".").length;
    await session.append(nested(ENTRY_DEPTH_MAX - inEntry + 1));
    assert.ok(readFileSync(session.path, "utf8").includes("IMPORTANT"));
    await refusal(session.append(nested(ENTRY_DEPTH_MAX - inEntry + 2)), "INVALID_ENTRY");
  });

  test("a getter or a later change by the caller does not alter what was checked", async () => {
    const session = await newSession(dialect);
    let asked = 0;
    const parts = [
      {
        type: "text",
        get text() {
          return asked++ === 0 ? "IMPORTANT" : 5;
        },
      },
    ];
    const entry = message({ parts, messageId: "m1" });
    const appended = session.append(entry);
    entry.parts.push({ type: "text", text: "later" });
    entry.messageId = "other";
    await appended;
    const held = readFileSync(session.path, "utf8");
    assert.ok(held.includes("IMPORTANT") && held.includes("m1"));
    assert.ok(!held.includes("later") && !held.includes("other"));
  });

  test("fields that may be null can be omitted, and an undefined field counts as omitted", async () => {
    const session = await newSession(dialect);
    await session.append(
      message({
        role: "tool",
        parts: [{ type: "tool_result", callId: "c", output: { a: 1, b: undefined } }],
        model: undefined,
      }),
    );
    const [entry] = await session.last(1);
    const result = { callId: "c", output: { a: 1 }, error: null, durationMs: null };
    assert.deepEqual(entry?.parts, [{ type: "tool_result", ...result }]);
  });
});

test.each(["homeagent", "entire", "claude"] as const)(
  "%s has no line for the start of a session or turn, and refuses them",
  async (dialect) => {
    const session = await newSession(dialect);
    for (const kind of ["start", "turn_start", "turn_end"] as const) {
      const { details } = await refusal(session.append({ kind }), "INVALID_ENTRY");
      assert.equal(details.field, "kind");
    }
    const ended = { kind: "end", outcome: "completed" } as const;
    const { details } = await refusal(session.append(ended), "INVALID_ENTRY");
    assert.equal(details.field, dialect === "entire" ? "outcome" : "kind");
  },
);
