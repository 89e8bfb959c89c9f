import assert from "node:assert/strict";
import { test } from "vitest";
import { ManualTime } from "../../../test/support/manual-time.ts";
import { thrownRefusal } from "../../../test/support/refusal.ts";
import { type Admission, LOOK_MS } from "../auth/gate.ts";
import type { TokenEntry } from "../auth/tokens.ts";
import { LiveReaders } from "./live-readers.ts";

const ENTRY: TokenEntry = {
  id: "0123abcd",
  name: "",
  sha256: "0".repeat(64),
  scopes: ["read"],
  paths: ["**"],
  createdAt: "2026-01-01T00:00:00.000Z",
};
const OF_TOKEN = { token: ENTRY.id, sha256: ENTRY.sha256, entry: ENTRY };
const PASS: Admission = { ...OF_TOKEN, needs: [], paths: null, limits: {} };

test("readers up to the limit are accepted, and one more is refused", () => {
  const readers = new LiveReaders(2, () => true);
  const leave = readers.add(() => {}, null);
  readers.add(() => {}, PASS)();
  readers.add(() => {}, null);
  thrownRefusal(() => readers.add(() => {}, null), "TOO_MANY_READERS");
  leave();
  leave(); // A second call changes nothing.
  assert.equal(readers.count, 1);
});

test("tokens are checked again only while a reader uses one", () => {
  let looks = 0;
  const time = new ManualTime();
  const holds = () => {
    looks++;
    return true;
  };
  const readers = new LiveReaders(10, holds, time);
  readers.add(() => {}, null);
  assert.equal(time.timers, 0);
  const leave = [1, 2].map(() => readers.add(() => {}, PASS));
  assert.equal(time.timers, 1, "all readers share one timer");
  time.pass(LOOK_MS - 1);
  assert.equal(looks, 0);
  time.pass(1);
  time.pass(LOOK_MS);
  assert.equal(looks, 4);
  const [first = () => {}, second = () => {}] = leave;
  const left = [first, first, second, second].map((each) => {
    each();
    return time.timers;
  });
  assert.deepEqual(left, [1, 1, 0, 0]);
  readers.add(() => {}, PASS)();
  assert.equal(time.timers, 0);
});

test("readers that end are removed, and all are ended when the server stops", () => {
  const time = new ManualTime();
  const readers = new LiveReaders(10, ({ token }) => token !== "revoked", time);
  const ended: string[] = [];
  const add = (name: string, pass: Admission | null) => {
    const leave = readers.add(() => {
      ended.push(name);
      leave();
    }, pass);
  };
  add("a", null);
  add("b", PASS);
  add("c", { ...PASS, token: "revoked" });
  add("d", { ...PASS, token: "revoked" });
  time.pass(LOOK_MS);
  assert.deepEqual(ended, ["c", "d"]);
  readers.stop();
  assert.deepEqual([ended, readers.count, readers.isStopping], [["c", "d", "a", "b"], 0, true]);
});
