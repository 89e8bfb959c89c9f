/**
 * Every value of every kind of row, replaced by each wrong type.
 *
 * Method: of lines with the same fields one is taken, from the format's page and from real samples.
 * Each value in it is replaced in turn. The result goes through everything that reads a row. A run
 * tries one kind of row in eight; VERBATIM_DEEP=1 tries all.
 */

import assert from "node:assert/strict";
import { describe, test } from "vitest";
import type { Entry, Native } from "../../src/core/model/entry.ts";
import { dialectNamed } from "../../src/dialects/all.ts";
import { type LineMemory, listedAside } from "../../src/dialects/facets/reading.ts";
import { READ_DIALECT_NAMES } from "../../src/dialects/registry.ts";
import { Assembly } from "../../src/resume/assembly.ts";
import { Pipeline } from "../../src/resume/pipeline.ts";
import { anthropic } from "../../src/resume/targets/anthropic.ts";
import { renderEntry } from "../../src/sessions/render/entry-markdown.ts";
import { IndexFold } from "../../src/sessions/search/index-fold.ts";
import { SummaryFold } from "../../src/sessions/summary/summary.ts";
import { isTried } from "../support/seed.ts";
import { seedsOf } from "./seeds.ts";

/** As JSON: `__proto__` is a field there, and nesting costs no stack. */
const WRONG: readonly string[] = [
  "null",
  "true",
  "-1",
  "1e999",
  '""',
  '"\\ud800\\u0000\\u001b[2J"',
  '"__proto__"',
  "[]",
  "{}",
  "[null]",
  "[[]]",
  '["text"]',
  '[{"type":"text","text":{}}]',
  '{"__proto__":{"type":"text"}}',
  '{"constructor":null,"toString":1,"length":-1}',
];
/** Long to read: once for each kind of row, in each of its fields. */
const DEEP = `${'{"content":['.repeat(2000)}${"]}".repeat(2000)}`;
/** Kinds of rows for each program; one in so many is tried in a run. */
const SHAPES_MAX = 40;
const EVERY = 8;
const MARK = "\u0001here";
const ID = "0a1b2c3d-4e5f-4061-8071-2a3b4c5d6e7f";

function linesOf(name: string): string[] {
  return seedsOf(name).filter((line) => line.startsWith("{"));
}

/** One line of each shape: its fields, and the types that name it; some of them if many. */
function shapesIn(lines: readonly string[]): string[] {
  const shapes = new Map<string, string>();
  for (const line of lines) {
    const shape = new Set<string>();
    JSON.parse(line, (key, value: unknown) => {
      shape.add(key === "type" || key === "role" ? `${key}=${value}` : `${key}:${typeof value}`);
      return value;
    });
    const key = [...shape].filter((each) => !/^\d/.test(each)).join();
    if (!shapes.has(key)) shapes.set(key, line);
  }
  const step = Math.max(1, shapes.size / SHAPES_MAX);
  const chosen = Array.from({ length: SHAPES_MAX }, (_, at) => Math.floor(at * step));
  const all = [...shapes.values()];
  return [...new Set(chosen)].flatMap((at) => all[at] ?? []);
}

/** How many objects and arrays are open at MARK. */
function depth(marked: string): number {
  const before = marked.slice(0, marked.indexOf(JSON.stringify(MARK)));
  return before.split(/[[{]/).length - before.split(/[\]}]/).length;
}

/** The line with each value replaced by MARK in turn. */
function* markedIn(line: string): Generator<string> {
  let places = 0;
  JSON.parse(line, (_, value: unknown) => {
    places++;
    return value;
  });
  for (let place = 0; place < places; place++) {
    let at = 0;
    yield JSON.stringify(JSON.parse(line, (_, value: unknown) => (at++ === place ? MARK : value)));
  }
}

/** Everything that reads a row. */
class AllReaders {
  readonly #name: string;
  readonly #memory: LineMemory | undefined;
  readonly #summary = new SummaryFold();
  readonly #index = new IndexFold();
  readonly #pipeline = new Pipeline();
  #lines = 0;

  constructor(name: string) {
    this.#name = name;
    this.#memory = dialectNamed(name).reading.remembers?.();
  }

  read(value: unknown): void {
    const dialect = dialectNamed(this.#name);
    const { entry: decoded, fault } = dialect.reading.decode(value);
    for (const ask of [dialect.reading.isOwn, dialect.reading.readsToo, dialect.reading.sessionOf])
      ask?.(value);
    if (decoded === null) {
      assert.equal(typeof fault, "string");
      return;
    }
    const entry = this.#memory?.read(decoded) ?? decoded;
    // What users of this package write is returned as they wrote it.
    checkEntry(entry, dialect.program === undefined ? Number.NEGATIVE_INFINITY : 0);
    const { native } = entry;
    const aside = listedAside(dialect.reading, native, ID);
    const mark = dialect.turns.turnMark(native, ID, aside);
    this.#summary.add(entry, aside, mark);
    this.#index.add(entry, this.#lines, aside);
    const about = dialect.reading.about?.(native, ID);
    if (about) this.#summary.learn(about);
    renderEntry(entry, { thinking: true });
    askAll(dialect, native);
    const line = { ...entry, start: this.#lines, line: this.#lines, verified: false, aside };
    this.#pipeline.add(line as never);
    this.#lines++;
  }

  /** What is stored of them. */
  finish(): void {
    JSON.stringify(this.#memory?.state());
    const again = dialectNamed(this.#name).reading.remembers?.(this.#memory?.state());
    JSON.stringify(again?.state());
    JSON.stringify([this.#index.state(), this.#summary.summary({ agent: null })]);
    this.#index.take();
    this.#pipeline.finish(new Assembly(anthropic), null);
  }
}

function askAll(dialect: ReturnType<typeof dialectNamed>, native: Native): void {
  const {
    turns: { compaction, takingBack, branching },
    program,
  } = dialect;
  dialect.reading.agentSaidIn?.(native);
  dialect.reading.isSilent?.(native);
  if (compaction?.isBoundary(native)) compaction.keptBy(native, [native]);
  compaction?.isSummary(native);
  takingBack?.says(native);
  takingBack?.takesBack(native);
  takingBack?.idOf?.(native);
  takingBack?.backTo?.(native);
  takingBack?.turnOf?.(native);
  branching?.idOf(native);
  branching?.parentOf(native);
  const key = program?.lineKey?.(native) ?? null;
  assert.ok(key === null || typeof key === "string");
}

function checkEntry({ at, role, model, parts, usage }: Entry, countsFrom: number): void {
  assert.ok(at === null || !Number.isNaN(Date.parse(at)), `at ${at}`);
  assert.ok(role === null || typeof role === "string");
  assert.ok(model === null || typeof model === "string");
  for (const part of parts) assert.equal(typeof part.type, "string");
  for (const count of Object.values(usage ?? {})) {
    if (typeof count === "number")
      assert.ok(Number.isFinite(count) && count >= countsFrom, `${count}`);
  }
}

describe.each(READ_DIALECT_NAMES.filter((name) => linesOf(name).length > 0))(
  "rows of %s",
  (name) => {
    test("are read whatever the type of each value", () => {
      for (const [nth, shape] of shapesIn(linesOf(name)).entries()) {
        if (!isTried(nth, EVERY)) continue;
        const readers = new AllReaders(name);
        for (const marked of markedIn(shape)) {
          for (const wrong of depth(marked) === 1 ? [...WRONG, DEEP] : WRONG) {
            const line = marked.replace(JSON.stringify(MARK), () => wrong);
            try {
              readers.read(JSON.parse(line));
            } catch (cause) {
              throw new Error(`${marked} with ${wrong.slice(0, 80)}`, { cause });
            }
          }
        }
        readers.finish();
      }
    });
  },
);
