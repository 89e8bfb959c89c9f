/** Pins on failing disks, and in directories with wrong types or permissions. */

import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PinUser, whose } from "../../../test/support/pin-user.ts";
import { headOf, pinOf } from "../../../test/support/pins.ts";
import { errno, refusal } from "../../../test/support/refusal.ts";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { WatchedFiles } from "../../../test/support/watched-files.ts";
import { pinLine } from "./head-file.ts";
import { PINS_WAITING_MAX } from "./heads.ts";

test("pins that cannot be written are reported once, wait, and are written with the next that can", async () => {
  const user = new PinUser();
  mkdirSync(join(user.stateDirectory, ".."), { recursive: true });
  writeFileSync(user.stateDirectory, "a file in place of the directory");
  const heads = user.heads();
  for (let seq = 0; seq < 3; seq++) {
    heads.pin(headOf("a", seq), "signed");
    heads.pin(headOf("b", seq), "signed");
    await heads.flush();
  }
  assert.equal(user.warnings.length, 1, user.warnings.join("\n"));
  expect(user.warnings[0]).toMatch(
    /could not be pinned.*may be missed.*next checkpoint.*(ENOTDIR|EEXIST)/,
  );

  rmSync(user.stateDirectory);
  heads.pin(headOf("c", 0), "signed");
  await heads.flush();
  assert.deepEqual(
    [await user.seqOf("a"), await user.seqOf("b"), await user.seqOf("c")],
    [2, 2, 0],
  );
  assert.equal(user.warnings.length, 1);
});

test("on a disk that is read-only, full or broken, failing to pin is only a warning", async () => {
  for (const [call, code] of [
    ["open", "EROFS"],
    ["write", "ENOSPC"],
    ["sync", "EIO"],
    ["syncDirectory", "EIO"],
  ] as const) {
    const user = new PinUser();
    const files = new WatchedFiles();
    let isBroken = true;
    files.before = (made) => {
      if (isBroken && made.call === call) throw errno(code);
      return undefined;
    };
    const heads = user.heads(files.host);
    heads.pin(headOf("a", 0), "signed");
    await heads.flush();
    assert.equal(user.warnings.length, 1, call);
    expect(user.warnings[0]).toContain(code);
    isBroken = false;
    heads.pin(headOf("a", 1), "signed");
    await heads.flush();
    assert.equal(await user.seqOf("a"), 1);
    assert.equal(user.warnings.length, 1);
  }
});

test("after a failed sync the whole file is rewritten, since none of its pages can be trusted", async () => {
  const user = new PinUser();
  const files = new WatchedFiles();
  const heads = user.heads(files.host);
  heads.pin(headOf("a", 0), "signed");
  heads.pin(headOf("b", 0), "signed");
  await heads.flush();
  const { ino } = statSync(user.path);
  files.before = ({ call, name }) => {
    if (call === "sync" && name === "heads.jsonl") throw errno("EIO");
    return undefined;
  };
  heads.pin(headOf("a", 1), "signed");
  await heads.flush();
  assert.notEqual(statSync(user.path).ino, ino);
  assert.equal(
    readFileSync(user.path, "utf8"),
    [pinOf("b", 0), pinOf("a", 1)].map(pinLine).join(""),
  );
  assert.deepEqual(user.warnings, []);
});

test("the directory is synced when the file is new, even if an earlier file was removed", async () => {
  const user = new PinUser();
  const files = new WatchedFiles();
  const heads = user.heads(files.host);
  const nameSyncs = async (seq: number) => {
    const isOfName = ({ call }: { call: string }) => call === "syncDirectory";
    const before = files.calls.filter(isOfName).length;
    heads.pin(headOf("a", seq), "signed");
    await heads.flush();
    return files.calls.filter(isOfName).length - before;
  };
  assert.deepEqual([await nameSyncs(0), await nameSyncs(1)], [1, 0]);
  rmSync(join(user.stateDirectory, "heads.jsonl"));
  assert.deepEqual([await nameSyncs(2), await nameSyncs(3)], [1, 0]);
});

test("a disk that writes only part of a line leaves none of it", async () => {
  const user = new PinUser();
  const files = new WatchedFiles();
  const heads = user.heads(files.host);
  heads.pin(headOf("a", 0), "signed");
  await heads.flush();
  const before = readFileSync(user.path);
  const line = pinLine(pinOf("a", 1));
  for (let taken = 0; taken < line.length; taken += 20) {
    files.takes = () => taken;
    heads.pin(headOf("a", 1 + taken), "signed");
    await heads.flush();
    assert.deepEqual(readFileSync(user.path), before, `${taken} bytes taken`);
  }
  assert.equal(user.warnings.length, 1);
  files.takes = ({ bytes }) => bytes;
  await heads.flush();
  expect(await user.seqOf("a")).toBeGreaterThan(1);
});

test("while nothing can be written, a limited number of sessions' pins wait", async () => {
  const user = new PinUser();
  const files = new WatchedFiles();
  let isBroken = true;
  files.before = ({ call }) => {
    if (isBroken && call === "open") throw errno("EROFS");
    return undefined;
  };
  const heads = user.heads(files.host);
  for (let n = 0; n < PINS_WAITING_MAX; n++) heads.pin(headOf(`s${n}`, 0), "signed");
  await heads.flush();
  assert.equal(user.warnings.length, 1, "the warning about the failed write");
  heads.pin(headOf("one-more", 0), "signed");
  assert.equal(user.warnings.length, 2);
  expect(user.warnings[1]).toMatch(/too many pins wait.* s0 is not pinned/);

  isBroken = false;
  await heads.flush();
  const { found } = await heads.read();
  assert.equal(found.current().length, PINS_WAITING_MAX);
  assert.equal(found.lookup(whose("s0")), null);
  assert.ok(found.lookup(whose("s1")) && found.lookup(whose("one-more")));
});

test("a head that would not make a valid line is reported, and no line is written", async () => {
  const user = new PinUser();
  const heads = user.heads();
  heads.pin(headOf("x".repeat(8193), 0), "signed");
  heads.pin({ ...headOf("a", 0), kid: "short" }, "signed");
  await heads.flush();
  assert.equal(user.warnings.length, 2);
  expect(user.warnings[1]).toMatch(/head of a cannot be pinned \(bad kid\)/);
  assert.ok(!existsSync(user.path));
});

test("a user's request that cannot be written fails instead of causing a warning", async () => {
  const user = new PinUser();
  const files = new WatchedFiles();
  const heads = user.heads(files.host);
  heads.pin(headOf("a", 4), "signed");
  await heads.flush();
  files.before = ({ call }) => {
    if (call === "sync") throw errno("EIO");
    return undefined;
  };
  await refusal(heads.accept(headOf("a", 3)), "IO_ERROR");
  await refusal(heads.import([pinOf("b", 1, { log: 2 })]), "IO_ERROR");
  await refusal(heads.forget(whose("a")), "IO_ERROR");
  assert.equal(readFileSync(user.path, "utf8"), pinLine(pinOf("a", 4)), "the file is unchanged");
  assert.deepEqual(user.warnings, []);
});

test("a symbolic link in place of the file or its lock is refused, and its target is not touched", async () => {
  for (const name of ["heads.jsonl", "heads.lock"]) {
    const user = new PinUser();
    const victim = join(tempDirectory(), "victim");
    writeFileSync(victim, pinLine(pinOf("a", 1)));
    mkdirSync(user.stateDirectory, { recursive: true, mode: 0o700 });
    symlinkSync(victim, join(user.stateDirectory, name));
    const heads = user.heads();
    heads.pin(headOf("a", 0), "signed");
    await heads.flush();

    assert.equal(user.warnings.length, 1);
    expect(user.warnings[0]).toContain("symbolic link");
    assert.equal(readFileSync(victim, "utf8"), pinLine(pinOf("a", 1)));
    await refusal(heads.forget(whose("a")), "UNSAFE_PATH");
    if (name === "heads.jsonl") await refusal(heads.lookup(whose("a")), "UNSAFE_PATH");
  }
});

test("a directory that others can change causes a warning: the pins may be forged", async () => {
  const user = new PinUser();
  user.put(pinLine(pinOf("a", 1)));
  chmodSync(user.stateDirectory, 0o770);
  const { found, problem } = await user.heads().lookup(whose("a"));
  assert.deepEqual(found?.pin, pinOf("a", 1));
  expect(problem).toMatch(/may be missing, or not ours.*other users can change it.*chmod 700/);
  assert.equal((await user.heads().remembered(whose("a"))).isDamaged, true);
});

test.for([0o620, 0o602, 0o666])(
  "heads.jsonl with mode %o causes a warning: others can remove pins",
  async (mode) => {
    const user = new PinUser();
    user.put(pinLine(pinOf("a", 1)));
    assert.equal((await user.heads().lookup(whose("a"))).problem, null);
    chmodSync(user.path, mode);
    const { problem } = await user.heads().lookup(whose("a"));
    expect(problem).toMatch(/heads\.jsonl, other users can change it \(mode 6..\); chmod 600/);
    assert.equal((await user.heads().remembered(whose("a"))).isDamaged, true);
  },
);
