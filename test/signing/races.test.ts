/** Races: no verdict is false, whichever processes verify, sign or overwrite at the same time. */

import assert from "node:assert/strict";
import {
  appendFileSync,
  closeSync,
  openSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeSync,
} from "node:fs";
import { test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import type { DialectName } from "../../src/dialects/registry.ts";
import { openVerifiedLog } from "../../src/trust/judge/open-verified.ts";
import { startChild } from "../support/child.ts";
import { refusal } from "../support/refusal.ts";
import {
  answered,
  idFor,
  SHAPES,
  SigningUser,
  said,
  turnIn,
  writtenBy,
} from "../support/signing-user.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import type { SigningOrder } from "./signing-child.ts";

function startSigner(order: SigningOrder) {
  return startChild("test/signing/signing-child.ts", JSON.stringify(order));
}

for (const [name, shape] of Object.entries(SHAPES)) {
  test(`a session that is verified while it is written is never reported as tampered (${name})`, async () => {
    const user = new SigningUser();
    await user.writeTurns(shape, 1); // Otherwise they may be verified with the keys from before their first.
    const id = idFor(shape);
    const store = await user.store({ root: tempDirectory(), ...shape });
    const written = writtenBy(store, store.session(id));
    const options = { ...shape, root: store.root, durability: "os" as const };
    const child = startSigner({ store: options, id, name: "said", turns: 30 });
    child.say("go");
    let isDone = false;
    const ended = (async () => {
      for (let line = await child.line(); line !== null; line = await child.line()) {
        isDone ||= line === "done";
      }
    })();
    const verdicts = new Map<string, number>();
    while (!isDone) {
      const { verdict, findings } = await user.verify(written);
      const isFair = ["verified", "incomplete", "unsigned", "unreadable"].includes(verdict);
      assert.ok(isFair, `${verdict} ${JSON.stringify(findings)}`);
      verdicts.set(verdict, (verdicts.get(verdict) ?? 0) + 1);
      await new Promise(setImmediate);
    }
    await ended;
    assert.ok((verdicts.get("incomplete") ?? 0) > 0, JSON.stringify([...verdicts]));
    const report = await user.verify(written);
    assert.equal(report.verdict, "verified");
    assert.equal(report.freshness, "match");
  });
}

const SHARED: readonly DialectName[] = ["rye", "entire", "homeagent"];

test.for(SHARED)(
  "two signing processes that share a session write one chain (%s)",
  async (dialect) => {
    const user = new SigningUser();
    const id = idFor({ dialect });
    const store = await user.store({ root: tempDirectory(), dialect, mode: "shared" });
    const written = writtenBy(store, store.session(id));
    const names = ["one", "other"];
    const options = { dialect, root: store.root, mode: "shared", durability: "os" } as const;
    const children = names.map((name) => startSigner({ store: options, id, name, turns: 15 }));
    for (const child of children) child.say("go");
    for (const child of children) assert.equal(await child.exitCode(), 0);

    const report = await user.verify(written);
    assert.equal(report.verdict, "verified", JSON.stringify(report.findings));
    assert.deepEqual(report.found, []);
    const log = readFileSync(written.path, "utf8");
    for (const name of names) {
      for (let n = 0; n < 15; n++) assert.equal(log.split(`"${name} ${n}."`).length, 2);
    }
  },
);

test.for(SHARED)(
  "lines appended by a process that does not sign are recorded as found (%s)",
  async (dialect) => {
    const user = new SigningUser();
    const id = idFor({ dialect });
    const where = { root: tempDirectory(), dialect, mode: "shared" as const };
    const signing = await user.store(where);
    const silent = await user.store({ ...where, sign: false });
    const [signed, unsigned] = [signing.session(id), silent.session(id)];
    const written = writtenBy(signing, signed);
    for (const entry of turnIn(signed, "ours")) await signed.append(entry);
    assert.equal((await user.verify(written)).verdict, "verified");
    await unsigned.append(answered("theirs"));
    assert.equal((await user.verify(written)).verdict, "incomplete");
    for (const entry of turnIn(signed, "ours again")) await signed.append(entry);
    await Promise.all([signing.close(), silent.close()]);

    const { verdict, found, tail } = await user.verify(written);
    assert.equal(verdict, "incomplete");
    assert.equal(found.length, 1);
    const [from, to] = found[0] ?? [0, 0];
    assert.match(readFileSync(written.path).subarray(from, to).toString("utf8"), /theirs/);
    assert.equal(tail.bytes, 0);
  },
);

test("a link in the place of a log is not followed, even to a log that verifies", async () => {
  const user = new SigningUser();
  const written = await user.writeTurns({ dialect: "rye" }, 3);
  assert.equal((await user.verify(written)).verdict, "verified");
  renameSync(written.path, `${written.path}.aside`);
  symlinkSync(`${written.path}.aside`, written.path);
  assert.equal((await user.verify(written)).verdict, "unreadable");
});

test("a log that is overwritten while it is read returns no altered line", async () => {
  const user = new SigningUser();
  const long = "x".repeat(60_000);
  const turns = Array.from({ length: 60 }, (_, n) => [said(`${n}`), answered(`${n} ${long}`)]);
  const written = await user.write({ dialect: "entire" }, turns.flat());
  const bytes = readFileSync(written.path);
  const options = await user.judging(written.target, true);
  const { report, lines, close } = await openVerifiedLog(nodeHost, written.target, options);
  assert.equal(report.verdict, "verified");

  const at = bytes.length - 100_000;
  const file = openSync(written.path, "r+");
  writeSync(file, Buffer.alloc(50, "y"), 0, 50, at);
  closeSync(file);
  const handed: Uint8Array[] = [];
  const reading = (async () => {
    for await (const { line } of lines) handed.push(line);
  })();
  const { details } = await refusal(reading, "CHANGED_WHILE_READ");
  close();
  assert.ok(details.offset <= at);
  const given = Buffer.concat(handed.flatMap((line) => [line, Buffer.from("\n")]));
  assert.ok(given.length > 0 && given.equals(bytes.subarray(0, given.length)));
});

test("lines appended to a log after it was verified are not returned", async () => {
  const user = new SigningUser();
  const written = await user.writeTurns({ dialect: "rye" }, 3);
  const options = await user.judging(written.target, true);
  const { lines, close } = await openVerifiedLog(nodeHost, written.target, options);
  const before = readFileSync(written.path, "utf8");
  appendFileSync(written.path, '{"type":"user_message","text":"forged"}\n');
  let given = "";
  for await (const { line } of lines) given += `${Buffer.from(line).toString("utf8")}\n`;
  close();
  assert.equal(given, before);
});
