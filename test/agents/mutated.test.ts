/**
 * Hostile files: every reader of another program's sessions is fed broken ones.
 *
 * Method: lines of the format's page and of samples are put where the program keeps a session,
 * mutated, and read through the store. Every line must become an entry or a reported bad line; only
 * VerbatimErrors may be thrown. A new reader needs nothing here, unless none of the NAMES fits.
 */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { describe, test } from "vitest";
import { VerbatimError } from "../../src/core/base/errors.ts";
import { LOG_LIMITS } from "../../src/core/base/limits.ts";
import { dialectNamed } from "../../src/dialects/all.ts";
import { iterateLogs } from "../../src/dialects/find.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { testWhere } from "../support/test-where.ts";
import { readSession, storeAt } from "./read-session.ts";
import { PROGRAMS, placeOf, seedsOf } from "./seeds.ts";

const hostile = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom<unknown>(
    null,
    "",
    0,
    -1,
    1e300,
    true,
    [],
    {},
    [[]],
    [null],
    { type: null },
    { text: 7 },
    "__proto__",
    "\ud800",
    "x".repeat(70_000),
    "2026-13-45T99:99:99Z",
    "constructor",
    { constructor: 1 },
    { length: -1 },
    [{ type: "text" }],
    { type: "tool_use", input: 0 },
  ),
);

type Mutation = (lines: readonly string[]) => readonly (string | Buffer)[];

const ID_KEYS = ["uuid", "parentUuid", "id", "parentId", "parent_id", "sessionId", "call_id"];

/** Replaces what is at a random place in the JSON of a line. */
const wrongType = fc.tuple(fc.nat(), fc.nat(), hostile).map(
  ([line, place, value]): Mutation =>
    (lines) =>
      lines.map((text, at) => (at === line % lines.length ? replaced(text, place, value) : text)),
);

function replaced(text: string, place: number, value: unknown): string {
  let places = 0;
  JSON.parse(text, (_, inner: unknown) => {
    places++;
    return inner;
  });
  let at = 0;
  return JSON.stringify(
    JSON.parse(text, (_, inner: unknown) => (at++ === place % places ? value : inner)),
  );
}

const flipped = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 8 }).map(
  (flips): Mutation =>
    (lines) => {
      const bytes = Buffer.from(lines.join("\n"));
      for (const [at, value] of flips) bytes[at % bytes.length] = value;
      return [bytes];
    },
);

const truncated = fc.nat().map(
  (length): Mutation =>
    (lines) => {
      const bytes = Buffer.from(lines.join("\n"));
      return [bytes.subarray(0, length % bytes.length)];
    },
);

const junk = fc.uint8Array({ maxLength: 2000 }).map(
  (bytes): Mutation =>
    () => [Buffer.from(bytes)],
);

const nested = fc.tuple(fc.nat(20_000), fc.constantFrom("[", '{"a":', '{"payload":')).map(
  ([depth, opening]): Mutation =>
    (lines) => {
      const closing = opening === "[" ? "]" : "}";
      return [...lines, `${opening.repeat(depth)}1${closing.repeat(depth)}`];
    },
);

/** Ids are those of other lines, and each line is its own or the next one's parent. */
const cyclic = fc.nat(3).map(
  (ids): Mutation =>
    (lines) =>
      lines.map((text, at) => {
        const row = JSON.parse(text) as Record<string, unknown>;
        for (const [n, key] of ID_KEYS.entries()) row[key] = `i${(at + (n % 2)) % (ids + 1)}`;
        return JSON.stringify(row);
      }),
);

const repeated = fc.constant<Mutation>((lines) => [...lines, ...lines]);

const mutation = fc.oneof(
  wrongType,
  wrongType,
  wrongType,
  flipped,
  truncated,
  junk,
  nested,
  cyclic,
  repeated,
);

describe.each(PROGRAMS)("sessions of %s", (name) => {
  const place = placeOf(name);
  const seeds = seedsOf(name).filter((line) => line.startsWith("{"));
  const {
    program,
    naming: { idAt },
  } = dialectNamed(name);
  const isLog = place !== null && seeds.length > 0;

  test("have a known place and known lines, if they are plain logs", () => {
    if (program?.changes === "grows") assert.ok(isLog, `${name} needs a name in NAMES, and a page`);
  });

  testWhere(isLog)("are read to their end, however broken they are", async () => {
    const [root, path] = [tempDirectory(), place ?? ""];
    const id = idAt(path.split("/")) ?? "";
    mkdirSync(dirname(join(root, path)), { recursive: true });
    const lines = fc.array(fc.constantFrom(...seeds), { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(lines, fc.array(mutation, { maxLength: 2 }), async (given, mutations) => {
        const file = mutations.reduce<Buffer>(
          (bytes, mutate) => {
            const whole = bytes.toString().split("\n").filter(isObjectLine);
            if (whole.length === 0) return bytes;
            const parts = mutate(whole).map((part) => Buffer.from(part));
            return Buffer.concat(parts.flatMap((part) => [part, LF]));
          },
          Buffer.from(given.join("\n")),
        );
        writeFileSync(join(root, path), file);
        const read = await readSession(name, root, id);
        const counted = read.entries.length + read.badLines;
        assert.equal(counted, linesIn(file), file.toString("base64"));
        const { lines: listed } = await storeAt(name, root).summaries().summarise(id);
        assert.equal(listed, counted);
        JSON.stringify(dialectNamed(name).reading.remembers?.().state());
      }),
      { numRuns: 100, endOnFailure: true },
    );
  });

  testWhere(isLog)(
    "may have a line that is too long, and the lines after it are read",
    async () => {
      const [root, path] = [tempDirectory(), place ?? ""];
      mkdirSync(dirname(join(root, path)), { recursive: true });
      const [first = ""] = seeds;
      for (const part of [`${first}\n`, TOO_LONG, `\n${first}\n`]) {
        writeFileSync(join(root, path), part, { flag: "a" });
      }
      const read = await readSession(name, root, idAt(path.split("/")) ?? "");
      assert.deepEqual([read.entries.length, read.badLines], [2, 1]);
    },
  );

  testWhere(place !== null)("are not read through a pipe, a directory or a link", async () => {
    const path = place ?? "";
    const outside = join(tempDirectory(), "outside.jsonl");
    writeFileSync(outside, `${seeds[0]}\n`);
    const makers: readonly ((at: string) => void)[] = [
      (at) => execFileSync("mkfifo", [at]),
      (at) => mkdirSync(at),
      (at) => symlinkSync(outside, at),
    ];
    for (const make of makers) {
      const root = tempDirectory();
      mkdirSync(dirname(join(root, path)), { recursive: true });
      make(join(root, path));
      const reported: string[] = [];
      const onUnreadable = ({ path: hidden }: { readonly path: string }) => reported.push(hidden);
      assert.deepEqual(
        [...iterateLogs(root, dialectNamed(name).naming.layout, { onUnreadable })],
        [],
      );
      if (make !== makers[1]) assert.deepEqual(reported, [path]);
      await assert.rejects(readSession(name, root, idAt(path.split("/")) ?? ""), VerbatimError);
    }
  });
});

const LF = Buffer.from("\n");
const TOO_LONG = Buffer.alloc(LOG_LIMITS.lineBytesMax + 1, "x");

/**
 * Lines that are read. A torn tail (docs/formats/log.md) may be a line that is still being written:
 * text after the last LF that is not JSON, and lines with NULs at the end.
 */
function linesIn(file: Buffer): number {
  const lines = file.toString("latin1").split("\n");
  const last = lines.pop() ?? "";
  if (isJsonObject(Buffer.from(last, "latin1").toString())) return lines.length + 1;
  return lines.findLastIndex((line) => !line.includes("\0")) + 1;
}

/** Whether a line can be mutated once more: an object, and not nested too deep to be written. */
function isObjectLine(line: string): boolean {
  return line.length < 8000 && line.startsWith("{") && isJsonObject(line);
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null;
  } catch {
    return false;
  }
}
