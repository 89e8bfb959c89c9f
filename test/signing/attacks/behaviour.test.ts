/** Attacks without files to verify: on callers, on places, on time, and by guessing. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createCipheriv, createHash } from "node:crypto";
import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { test } from "vitest";
import { LOG_LIMITS } from "../../../src/core/base/limits.ts";
import { nodeHost } from "../../../src/core/base/node-host.ts";
import type { Native } from "../../../src/core/model/entry.ts";
import { DisplayedLog, unsignedIn } from "../../../src/trust/judge/displayed-log.ts";
import { openVerifiedLog } from "../../../src/trust/judge/open-verified.ts";
import { verifyLog } from "../../../src/trust/judge/verify.ts";
import { memoryHost } from "../../support/memory-files.ts";
import { refusal, thrownRefusal } from "../../support/refusal.ts";
import {
  ALL_SHAPES,
  answered,
  filesOf,
  idFor,
  type SignedShape,
  SigningUser,
  said,
  turnIn,
  writtenBy,
} from "../../support/signing-user.ts";
import { tempDirectory } from "../../support/temp-directory.ts";

const FLAT = { dialect: "rye", envelope: "flat" } as const;
const HOMEAGENT = { dialect: "homeagent" } as const;

/**
 * What a caller may try to pass as a checkpoint, in each dialect's form. Claude's entries are data,
 * and are not searched for checkpoints.
 */
const OWN_CHECKPOINTS: Readonly<Record<string, Native>> = {
  "rye-flat": { type: "checkpoint", turn: 1 },
  "rye-payload": { event_type: "checkpoint", payload: { turn: 1 } },
  entire: { type: "checkpoint", message: { role: "user", content: "hi" } },
  homeagent: {
    turnId: "1",
    role: "user",
    content: "hi",
    ts: 1,
    type: "checkpoint",
    event_type: "checkpoint",
  },
  sdk: { type: "message", event_type: "checkpoint", message: { role: "user", content: "hi" } },
};

for (const [name, native] of Object.entries(OWN_CHECKPOINTS)) {
  const shape = ALL_SHAPES[name] as SignedShape;
  for (const sign of [true, false]) {
    const isSigned = sign ? "signed" : "unsigned";
    test(`a caller's own checkpoint is refused by ${name}, ${isSigned}, and nothing is written`, async () => {
      const user = new SigningUser();
      const store = await user.store({ ...shape, root: tempDirectory(), sign });
      const session = store.session(idFor(shape));
      await session.append(said("hi"));
      const { path } = writtenBy(store, session);
      const before = readFileSync(path);
      await refusal(session.appendNative(native), "INVALID_ENTRY");
      assert.deepEqual(readFileSync(path), before);
      await session.append(answered("hello"));
      await store.close();
      const { verdict } = await user.verify(writtenBy(store, session));
      assert.equal(verdict, sign ? "verified" : "unsigned");
    });
  }
}

test("AD: a link, a directory or a pipe in the place of a log is unreadable, and never opened", async () => {
  const user = new SigningUser();
  const written = await user.writeTurns(FLAT, 1);
  const { path } = written;
  const aside = `${path}.aside`;
  renameSync(path, aside);
  symlinkSync(aside, path);
  assert.equal((await user.verify(written)).verdict, "unreadable");
  renameSync(path, `${path}.link`);
  execFileSync("mkfifo", [path]);
  assert.equal((await user.verify(written)).verdict, "unreadable");
  renameSync(path, `${path}.pipe`);
  mkdirSync(path);
  assert.equal((await user.verify(written)).verdict, "unreadable");
  renameSync(path, `${path}.directory`);
  renameSync(aside, path);
  assert.equal((await user.verify(written)).verdict, "verified");
});

test("AD: a log or sidecar file with a line over the limit is unreadable", async () => {
  const user = new SigningUser();
  for (const shape of [FLAT, HOMEAGENT]) {
    const written = await user.writeTurns(shape, 1);
    const files = filesOf(written);
    for (const [path, bytes] of files) {
      const atLimit = path === written.path ? "incomplete" : "verified"; // As if it were absent.
      for (const [over, verdict] of [
        [0, atLimit],
        [1, "unreadable"],
      ] as const) {
        const line = Buffer.alloc(LOG_LIMITS.lineBytesMax + over, "a");
        const host = memoryHost(new Map([...files, [path, Buffer.concat([bytes, line])]]));
        const report = await user.verify(written, { host });
        assert.equal(report.verdict, verdict, `${over} over, ${path}`);
        if (over > 0) assert.equal(report.findings[0]?.code, "TOO_LONG");
      }
    }
  }
});

test("AD: a line over the limit is neither shown for vouching nor signed", async () => {
  const user = new SigningUser();
  const shape = { dialect: "claude" } as const;
  const written = await user.write(shape, [said("hi")], { sign: false });
  // More than a chunk over the limit: a line that ends with its chunk is measured without waiting
  // for more.
  appendFileSync(written.path, `${"a".repeat(LOG_LIMITS.lineBytesMax + 1024 * 1024)}\n`);
  const report = await user.verify(written);
  const shown = new DisplayedLog(nodeHost, written.target, unsignedIn(report));
  const showing = (async () => {
    for await (const _ of shown.lines());
  })();
  await refusal(showing, "LINE_TOO_LONG");
  const { root } = written.target;
  await refusal(user.write(shape, [said("more")], { root }), "LINE_TOO_LONG");
});

test("AD: a line over the limit in a signed log is refused, also where such lines are skipped", async () => {
  const user = new SigningUser();
  for (const shape of [FLAT, HOMEAGENT]) {
    const written = await user.writeTurns(shape, 1);
    const line = "a".repeat(LOG_LIMITS.lineBytesMax + 2 * 1024 * 1024);
    appendFileSync(written.path, `${line}\n`);
    const judging = await user.judging(written.target, false);
    const skips = { ...judging, skipsLongLines: true, allowUnsigned: true, isLenient: true };
    await refusal(openVerifiedLog(nodeHost, written.target, skips), "LINE_TOO_LONG");
  }
});

test("AC: an id that leaves the store is refused, and its log is not read", async () => {
  const user = new SigningUser();
  const written = await user.writeTurns(FLAT, 1);
  const store = await user.store({ ...FLAT, root: tempDirectory() });
  thrownRefusal(() => store.session("../outside-1"), "BAD_ID");
  const { target } = written;
  const logId = `../${target.root.split("/").at(-1)}/${target.logId}`;
  const options = await user.judging(target, false);
  assert.equal((await verifyLog(nodeHost, { ...target, logId }, options)).verdict, "unreadable");
});

test("N: bytes that change after verification are not returned", async () => {
  const user = new SigningUser();
  const written = await user.writeTurns(FLAT, 2);
  const honest = readFileSync(written.path, "utf8");
  const forged = honest.replace("turn 1: done", "turn 1: DONE");
  const options = await user.judging(written.target, true);
  const log = await openVerifiedLog(nodeHost, written.target, options);
  assert.equal(log.report.verdict, "verified");
  writeFileSync(written.path, forged);
  const read: string[] = [];
  const reading = (async () => {
    for await (const { line } of log.lines) read.push(Buffer.from(line).toString());
  })();
  await refusal(reading, "CHANGED_WHILE_READ");
  log.close();
  assert.ok(!read.some((line) => line.includes("DONE")));
});

test("V: a session that is not verified is neither signed nor written to", async () => {
  for (const [name, shape] of Object.entries(ALL_SHAPES)) {
    const user = new SigningUser();
    const { path, target } = await user.writeTurns(shape, 2);
    const forged = readFileSync(path, "utf8").replace("turn 1: done", "turn 1: DONE");
    writeFileSync(path, forged);
    const store = await user.store({ ...shape, root: target.root });
    const session = store.session(target.id);
    await refusal(session.append(said("go on")), "CHECKPOINT_MISMATCH");
    await store.close();
    assert.equal(readFileSync(path, "utf8"), forged, name);
  }
});

test("V: lines that another program appends while a signer is open are recorded as found, never as its own", async () => {
  for (const [name, shape] of Object.entries(ALL_SHAPES)) {
    const user = new SigningUser();
    const store = await user.store({ ...shape, root: tempDirectory() });
    const session = store.session(idFor(shape));
    for (const entry of turnIn(session, "one")) await session.append(entry);
    const { path } = writtenBy(store, session);
    const forged = readFileSync(path, "utf8").split("\n").at(-2) ?? "";
    appendFileSync(path, `${forged.replace("one: done", "approved")}\n`);
    for (const entry of turnIn(session, "two")) await session.append(entry);
    await store.close();
    const report = await user.verify(writtenBy(store, session));
    assert.equal(report.verdict, "incomplete", name);
    assert.equal(report.found.length, 1);
    const [from, to] = report.found[0] ?? [0, 0];
    assert.ok(readFileSync(path, "utf8").slice(from, to).includes("approved"), name);
  }
});

test("W: verification reads a log a fixed number of times, however many checkpoints it has", async () => {
  const user = new SigningUser();
  const written = await user.writeTurns(FLAT, 40);
  const files = filesOf(written);
  const size = files.get(written.path)?.length ?? 0;
  let read = 0;
  const host = memoryHost(files, (bytes) => {
    read += bytes;
  });
  assert.equal((await user.verify(written, { host })).verdict, "verified");
  // Its first line, its genesis, and all of it once; here the first two together are also the whole
  // log.
  assert.ok(read <= 3 * size, `${read} bytes of ${size}`);
});

test("a pin that was read while a writer is open is behind, never a rollback", async () => {
  const user = new SigningUser();
  const store = await user.store({ ...FLAT, root: tempDirectory(), sign: "append" });
  const session = store.session("hello-1");
  await session.append(said("one"));
  await user.heads.flush();
  const written = writtenBy(store, session);
  await store.close();
  const pinned = await user.judging(written.target, true);
  const again = await user.store({ ...FLAT, root: written.target.root, sign: "append" });
  const live = again.session("hello-1");
  for (const entry of turnIn(live, "two")) {
    await live.append(entry);
    const { verdict, freshness } = await verifyLog(nodeHost, written.target, pinned);
    assert.deepEqual([verdict, freshness], ["verified", "ahead"]);
  }
  await again.close();
});

/** Tries every PIN of four digits in place of the withheld one. */
function guess(line: string, secret: string, isRight: (line: string) => boolean): string | null {
  for (let n = 0; n < 10_000; n++) {
    const tried = n.toString().padStart(4, "0");
    if (isRight(line.replace(secret, tried))) return tried;
  }
  return null;
}

test("a withheld string cannot be guessed from hash, seg or leaf without the salt", async () => {
  const user = new SigningUser();
  const { path, sidecarPath } = await user.write(HOMEAGENT, [said("The PIN is 4711")]);
  const [line = ""] = readFileSync(path, "utf8").split("\n");
  const [genesis = "", closing = ""] = readFileSync(sidecarPath, "utf8").split("\n");
  const { payload } = JSON.parse(closing);
  const sha256 = (...parts: (string | Uint8Array)[]) =>
    parts.reduce((hash, part) => hash.update(part), createHash("sha256"));
  const hashOf = (salt: Uint8Array) => (tried: string) =>
    sha256(salt, `${tried}\n`).digest("hex") === payload.hash;
  const segOf = (salt: Uint8Array) => (tried: string) => {
    const leaf = sha256(Uint8Array.of(0), salt, Buffer.alloc(4), tried).digest();
    return sha256(leaf).digest("hex") === payload.seg;
  };
  // A reader of everything except the genesis line, which is always withheld, has no salt.
  for (const nothing of [Buffer.alloc(0), Buffer.alloc(16), Buffer.alloc(32)]) {
    assert.equal(guess(line, "4711", hashOf(nothing)), null);
    assert.equal(guess(line, "4711", segOf(nothing)), null);
  }
  // The guesser works: only the salt was missing.
  const salt = Buffer.from(JSON.parse(genesis).payload.salt, "hex");
  const ofLine = createCipheriv("aes-256-ctr", salt, Buffer.alloc(16)).update(Buffer.alloc(16));
  assert.equal(guess(line, "4711", hashOf(salt)), "4711");
  assert.equal(guess(line, "4711", segOf(ofLine)), "4711");
});
