import assert from "node:assert/strict";
import { expect, test } from "vitest";
import { type Entry, emptyEntry, type Usage } from "./entry.ts";
import { ENTRIES_HELD_MAX, isUsageRepeated, usageOnce } from "./usage-once.ts";

function usage(outputTokens: number): Usage {
  return { inputTokens: 1, outputTokens, totalTokens: null, spend: null };
}

function row(messageId: string, outputTokens: number): Entry {
  return {
    ...emptyEntry({}),
    kind: "message",
    role: "assistant",
    messageId,
    usage: usage(outputTokens),
  };
}

const result: Entry = { ...emptyEntry({}), kind: "message", role: "tool" };

async function shown(items: readonly object[]): Promise<(number | null | undefined)[]> {
  const outputs: (number | null | undefined)[] = [];
  for await (const item of usageOnce(items)) {
    outputs.push("usage" in item ? (item as Entry).usage?.outputTokens : null);
  }
  return outputs;
}

test("the last row of a message has the usage, even with results between the rows", async () => {
  const rows = [row("a", 1), row("a", 1), result, row("a", 9), result, row("b", 4)];
  assert.deepEqual(await shown(rows), [undefined, undefined, undefined, 9, undefined, 4]);
  assert.deepEqual(
    rows.map((_, at) => isUsageRepeated(rows, at)),
    [true, true, false, false, false, false],
  );
});

test("entries keep their order, and other items pass through", async () => {
  const bad = { listed: [], more: 1 };
  const rows = [row("a", 1), bad, row("a", 2), result];
  const left: object[] = [];
  for await (const item of usageOnce<object>(rows)) left.push(item);
  assert.deepEqual(left, [{ ...row("a", 1), usage: null }, bad, row("a", 2), result]);
});

test("no more entries are held than the limit, and none is lost when reading fails", async () => {
  const many = [row("a", 1), ...Array.from({ length: ENTRIES_HELD_MAX }, () => result)];
  async function* failing(): AsyncGenerator<Entry> {
    yield* many;
    throw new Error("the disk");
  }
  const left: Entry[] = [];
  const reading = async () => {
    for await (const entry of usageOnce(failing())) left.push(entry);
  };
  await expect(reading()).rejects.toThrow("the disk");
  assert.deepEqual(left, many);
});
