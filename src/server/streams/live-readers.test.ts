import assert from "node:assert/strict";
import { test } from "vitest";
import { thrownRefusal } from "../../../test/support/refusal.ts";
import { LOOK_MS, type Pass } from "../auth/gate.ts";
import { LiveReaders } from "./live-readers.ts";

const PASS: Pass = { token: "0123abcd", sha256: "0".repeat(64), needs: [], paths: null };

function timers(): number {
  return process.getActiveResourcesInfo().filter((each) => each === "Timeout").length;
}

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

test("tokens are checked again only while a reader uses one", async () => {
  let looks = 0;
  const readers = new LiveReaders(10, () => {
    looks++;
    return true;
  });
  const leave: (() => void)[] = [];
  /** How many timers `work` adds; the runner's own timers do not change in between. */
  const began = (work: () => void) => {
    const before = timers();
    work();
    return timers() - before;
  };
  assert.equal(
    began(() => readers.add(() => {}, null)),
    0,
  );
  for (const more of [1, 0]) {
    assert.equal(
      began(() => leave.push(readers.add(() => {}, PASS))),
      more,
      "all readers share one timer",
    );
  }
  while (looks < 4) await new Promise((later) => setTimeout(later, LOOK_MS / 5));
  const [first = () => {}, second = () => {}] = leave;
  assert.deepEqual([first, first, second, second].map(began), [0, 0, -1, 0]);
  assert.equal(
    began(() => readers.add(() => {}, PASS)()),
    0,
  );
});

test("readers that end are removed, and all are ended when the server stops", async () => {
  const readers = new LiveReaders(10, ({ token }) => token !== "revoked");
  const ended: string[] = [];
  const add = (name: string, pass: Pass | null) => {
    const leave = readers.add(() => {
      ended.push(name);
      leave();
    }, pass);
  };
  add("a", null);
  add("b", PASS);
  add("c", { ...PASS, token: "revoked" });
  add("d", { ...PASS, token: "revoked" });
  while (ended.length < 2) await new Promise((later) => setTimeout(later, LOOK_MS / 5));
  assert.deepEqual(ended, ["c", "d"]);
  readers.stop();
  assert.deepEqual([ended, readers.count, readers.isStopping], [["c", "d", "a", "b"], 0, true]);
});
