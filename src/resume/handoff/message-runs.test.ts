import assert from "node:assert/strict";
import { test } from "vitest";
import { type Entry, emptyEntry } from "../../core/model/entry.ts";
import { RUN_ENTRIES_MAX, withMessageIds } from "./transcode.ts";

const said = (role: Entry["role"], messageId?: string): Entry => ({
  ...emptyEntry({}),
  kind: "message",
  role,
  ...(messageId === undefined ? {} : { messageId }),
});

async function idsOf(...entries: readonly Entry[]): Promise<(string | undefined)[]> {
  async function* given() {
    yield* entries;
  }
  const ids: (string | undefined)[] = [];
  for await (const { messageId } of withMessageIds(given())) ids.push(messageId);
  return ids;
}

test("consecutive assistant lines have the id of one of them", async () => {
  const [me, other] = [said("assistant"), said("assistant", "m1")];
  assert.deepEqual(await idsOf(said("user"), me, me, other), [undefined, "m1", "m1", "m1"]);
  assert.deepEqual(await idsOf(me, other, said("assistant", "m2"), me), ["m1", "m1", "m2", "m2"]);
});

test("without one they get a new id, and another after another speaker", async () => {
  const turn: Entry = { ...emptyEntry({}), kind: "turn_start" };
  const [one, same, , next, , third] = await idsOf(
    said("assistant"),
    said("assistant"),
    said("tool"),
    said("assistant"),
    turn,
    said("assistant"),
  );
  assert.ok(one && one === same);
  assert.equal(new Set([one, next, third]).size, 3);
});

test("a run is held up to its limit, and one past it begins a new one", async () => {
  const ids = await idsOf(...Array.from({ length: RUN_ENTRIES_MAX + 1 }, () => said("assistant")));
  assert.equal(new Set(ids.slice(0, RUN_ENTRIES_MAX)).size, 1);
  assert.notEqual(ids.at(-1), ids[0]);
});
