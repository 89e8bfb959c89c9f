/**
 * Method: logs as several writers leave them: groups that are whole or torn, with or without a
 * reference to their base. A model reads them forward, one group after the other.
 */

import assert from "node:assert/strict";
import fc from "fast-check";
import { onTestFinished, test } from "vitest";
import { runs } from "../../../test/support/seed.ts";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import { Store } from "../../sessions/store/store.ts";
import {
  AT_START,
  countedLines,
  type HistoryLine,
  inGroups,
  lastLines,
  TOGETHER_BYTES_MAX,
} from "./history.ts";

const TYPES = ["item", "pop", "clear"];

interface Written {
  readonly kinds: readonly ("item" | "pop" | "clear")[];
  readonly count: number;
  /** This many lines at the end are missing. */
  readonly torn: number;
  /** How many counting lines its writer had not seen; null if it does not name its base. */
  readonly behind: number | null;
}

const anyWritten: fc.Arbitrary<Written> = fc.record({
  kinds: fc.array(fc.constantFrom("item", "item", "item", "pop", "clear"), {
    minLength: 1,
    maxLength: 3,
  }),
  count: fc.nat({ max: 3 }),
  torn: fc.constantFrom(0, 0, 0, 1, 2),
  behind: fc.option(fc.constantFrom(0, 0, 1, 2)),
});

/** The lines of a log, and which of them count: computed forward. */
function told(writes: readonly Written[]): { lines: HistoryLine[]; counted: HistoryLine[] } {
  const lines: HistoryLine[] = [];
  const counted: HistoryLine[] = [];
  /** What a writer may have seen as the last line: the last one of each counting group. */
  const ends = [AT_START];
  for (const { kinds, count, torn, behind } of writes) {
    const of = kinds.length;
    const after = behind === null ? null : ends[Math.max(0, ends.length - 1 - behind)];
    const group = kinds.map((type, n): HistoryLine => {
      const what = type === "item" ? { item: { n: lines.length + n } } : {};
      return {
        type,
        id: `l${lines.length + n}`,
        ...what,
        ...(type === "pop" ? { count } : {}),
        ...(of > 1 ? { part: [n + 1, of] } : {}),
        ...(n === 0 && after !== null ? { after } : {}),
      };
    });
    lines.push(...group.slice(0, Math.max(1, of - torn)));
    const isWhole = of === 1 || torn === 0;
    if (!isWhole || (after !== null && after !== ends.at(-1))) continue;
    counted.push(...group);
    ends.push(group.at(-1)?.id as string);
  }
  return { lines, counted };
}

/** The items left after all additions and removals. */
function standing(counted: readonly HistoryLine[]): unknown[] {
  let items: unknown[] = [];
  for (const { type, id, count } of counted) {
    if (type === "item") items.push(id);
    if (type === "pop") items = items.slice(0, Math.max(0, items.length - (count as number)));
    if (type === "clear") items = [];
  }
  return items;
}

test("a history is the same read from its end or from its beginning", async () => {
  const store = new Store(nodeHost, { dialect: "sdk", root: tempDirectory(), durability: "os" });
  onTestFinished(() => store.close());
  let sessions = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyWritten, { minLength: 1, maxLength: 10 }),
      fc.nat({ max: 4 }),
      async (writes, limit) => {
        const { lines, counted } = told(writes);
        const session = store.session(`openai-agents/${sessions++}`);
        await session.appendLines(lines);
        const read: unknown[] = [];
        for await (const { id } of countedLines(session, { types: TYPES })) read.unshift(id);
        assert.deepEqual(
          read,
          counted.map(({ id }) => id),
        );
        const look = { types: TYPES, type: "item" };
        const ids = (said: HistoryLine[]) => said.map(({ id }) => id);
        assert.deepEqual(ids(await lastLines(session, look)), standing(counted));
        const last = ids(await lastLines(session, { ...look, limit }));
        assert.deepEqual(last, limit === 0 ? [] : standing(counted).slice(-limit));
        await session.release();
      },
    ),
    { numRuns: runs(100) },
  );
});

test("lines too many for one write are split into as few groups as possible", () => {
  const line = (chars: number): HistoryLine => ({ type: "item", item: "x".repeat(chars) });
  const sizes = (lines: readonly HistoryLine[]) =>
    [...inGroups(lines)].map((group) => group.length);
  const half = TOGETHER_BYTES_MAX / 2;
  assert.deepEqual(sizes([]), []);
  assert.deepEqual(sizes([line(half - 300), line(half - 300), line(1000)]), [2, 1]);
  assert.deepEqual(sizes([line(1), line(TOGETHER_BYTES_MAX), line(1), line(1)]), [1, 1, 2]);
});
