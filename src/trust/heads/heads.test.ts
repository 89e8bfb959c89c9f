import assert from "node:assert/strict";
import { appendFileSync, existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { expect, test } from "vitest";
import { PinUser, whose } from "../../../test/support/pin-user.ts";
import { headOf, pinOf } from "../../../test/support/pins.ts";
import { WatchedFiles } from "../../../test/support/watched-files.ts";
import { pinLine } from "./head-file.ts";

test("a pin is one line, in a file and a directory that only their owner can read", async () => {
  const user = new PinUser();
  const heads = user.heads();
  assert.deepEqual(await heads.lookup(whose("a")), { found: null, problem: null });
  assert.ok(!existsSync(user.stateDirectory), "a lookup creates no file");
  heads.pin(headOf("a", 0), "signed");
  await heads.flush();
  heads.pin(headOf("a", 1), "verified");
  await heads.flush();

  const expected = [pinOf("a", 0), pinOf("a", 1, {}, "verified")].map(pinLine);
  assert.equal(readFileSync(user.path, "utf8"), expected.join(""));
  assert.equal(statSync(user.path).mode & 0o777, 0o600);
  assert.equal(statSync(user.stateDirectory).mode & 0o777, 0o700);
  assert.deepEqual(readdirSync(user.stateDirectory).sort(), ["heads.jsonl", "heads.lock"]);
  assert.deepEqual(await user.heads().lookup(whose("a")), {
    found: { pin: pinOf("a", 1, {}, "verified"), lost: null },
    problem: null,
  });
  assert.deepEqual(user.warnings, []);
});

test("pins in quick succession are batched, and the newest of each session is written", async () => {
  const user = new PinUser();
  const files = new WatchedFiles();
  const heads = user.heads(files.host);
  for (let seq = 0; seq < 1000; seq++) {
    for (const id of ["a", "b"]) heads.pin(headOf(id, seq), "signed");
    if (seq % 100 === 0) await new Promise(setImmediate);
  }
  heads.pin(headOf("a", 5), "signed"); // Behind the waiting one.
  await heads.flush();

  assert.equal(await user.seqOf("a"), 999);
  assert.equal(await user.seqOf("b"), 999);
  expect(files.made("write", "heads.jsonl").length).toBeLessThan(20);
  assert.equal(files.made("write", "heads.jsonl").length, user.lines.length, "one write per line");
  assert.equal(files.made("sync", "heads.jsonl").length, 1);
  await heads.flush();
  assert.equal(files.made("sync", "heads.jsonl").length, 1, "nothing was left to sync");
});

test("a pin is written without a flush", async () => {
  const user = new PinUser();
  const files = new WatchedFiles();
  const heads = user.heads(files.host);
  const closed = () => files.next(({ call, name }) => call === "close" && name === "heads.jsonl");
  const first = closed();
  heads.pin(headOf("a", 0), "signed");
  await first;
  assert.equal(await user.seqOf("a"), 0);
  const second = closed();
  heads.pin(headOf("a", 1), "signed");
  await second;
  assert.equal(await user.seqOf("a"), 1);
  assert.equal(files.made("sync", "heads.jsonl").length, 0);
  await heads.flush();
});

test("a forgotten session is unpinned, durably, and only once", async () => {
  const user = new PinUser();
  const heads = user.heads();
  heads.pin(headOf("a", 4), "signed");
  assert.deepEqual(
    await heads.forget(whose("a")),
    pinOf("a", 4),
    "a pin that is not written yet counts too",
  );
  assert.equal(await user.seqOf("a"), null);
  assert.equal(await heads.forget(whose("a")), null);
  assert.equal(user.lines.length, 2);
  assert.deepEqual(JSON.parse(user.lines[1] ?? ""), {
    ...JSON.parse(user.lines[0] ?? ""),
    why: "forgotten",
  });
});

test("an accepted head is pinned in place of a later one, which is reported as lost", async () => {
  const user = new PinUser();
  const heads = user.heads();
  heads.pin(headOf("a", 9), "signed");
  await heads.accept(headOf("a", 3));
  assert.deepEqual((await heads.lookup(whose("a"))).found, {
    pin: pinOf("a", 3, {}, "accepted"),
    lost: pinOf("a", 9),
  });
  const remembered = await heads.remembered(whose("a"));
  assert.deepEqual(remembered.here, pinOf("a", 3, {}, "accepted"));
  assert.deepEqual(remembered.lost, pinOf("a", 9));
  heads.pin(headOf("a", 4), "signed");
  await heads.flush();
  assert.deepEqual((await heads.lookup(whose("a"))).found, { pin: pinOf("a", 4), lost: null });
});

test("verifying gets the pin here, the pin of a moved log, and whether the file is damaged", async () => {
  const user = new PinUser();
  user.put(pinLine(pinOf("a", 4)), pinLine(pinOf("b", 2, { log: 2 })));
  const moved = await user.heads().remembered({ place: "rye:/elsewhere", id: "a" });
  assert.equal(moved.here, null);
  assert.deepEqual(moved.ofLog(pinOf("a", 0).log), pinOf("a", 4));
  assert.equal(moved.ofLog("f".repeat(32)), null);
  assert.equal(moved.isDamaged, false);
  appendFileSync(user.path, "{}\n");
  const here = await user.heads().remembered(whose("a"));
  assert.deepEqual(here.here, pinOf("a", 4));
  assert.equal(here.isDamaged, true);
});

test("pins of another machine are added where they are newer, and conflicts are reported", async () => {
  const user = new PinUser();
  user.put(pinLine(pinOf("a", 4)), pinLine(pinOf("b", 4)), pinLine(pinOf("c", 4)));
  const further = pinOf("a", 7);
  const other = pinOf("b", 0, { log: 2 });
  const merged = await user
    .heads()
    .import([further, other, pinOf("c", 3), pinOf("d", 1, { log: 4 })]);

  assert.deepEqual(merged, {
    added: [further, pinOf("d", 1, { log: 4 })],
    known: 1,
    conflicts: [{ theirs: other, ours: pinOf("b", 4), why: "REPLACED" }],
  });
  assert.equal(user.lines.length, 5);
  assert.equal(await user.seqOf("a"), 7);
  assert.equal(await user.seqOf("b"), 4);
  const again = await user.heads().import([further, pinOf("d", 1, { log: 4 })]);
  assert.deepEqual(again, { added: [], known: 2, conflicts: [] });
  assert.equal(user.lines.length, 5, "nothing new, nothing written");
});
