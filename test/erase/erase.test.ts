/** Erasing from real sessions of every dialect: verdicts, entries, pins, and every byte that is left. */

import assert from "node:assert/strict";
import { appendFileSync, cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { finishErasure } from "../../src/evidence/erase/carry-out.ts";
import { erase, tryErasing } from "../../src/evidence/erase/erase.ts";
import {
  carryingOut,
  refuseOthers,
  sessionErasing,
} from "../../src/evidence/erase/session-erasure.ts";
import type { Finder } from "../../src/evidence/redact/hits.ts";
import { entriesNumbered, matching } from "../../src/evidence/redact/text-matches.ts";
import { verifyWithCopy } from "../../src/evidence/verify/erased-copy.ts";
import { UserJudging } from "../../src/evidence/verify/user-judging.ts";
import { verifyLog } from "../../src/trust/judge/verify.ts";
import { SECRET, SHORT } from "../support/disclosing.ts";
import { refusal, thrownRefusal } from "../support/refusal.ts";
import {
  ALL_SHAPES,
  answered,
  SigningUser,
  said,
  turnOf,
  type Written,
} from "../support/signing-user.ts";

const ENTRIES = [
  ...turnOf("good morning"),
  ...turnOf(SECRET),
  said(SHORT),
  answered(`nothing to hide: ${"y".repeat(100)}`),
  ...turnOf("good evening"),
];

async function eraseFrom(user: SigningUser, { target }: Written, finder: Finder) {
  const onWarning = (warning: string) => void user.warnings.push(warning);
  const asked = { finder, reason: "a test", places: user.places, onWarning };
  const { erasing } = await tryErasing(await sessionErasing(nodeHost, target, asked), () => {});
  return erase(erasing);
}

async function verdictOf(user: SigningUser, { target }: Written) {
  const judging = await UserJudging.load(nodeHost, { places: user.places, onWarning: () => {} });
  return verifyLog(nodeHost, target, await judging.optionsFor(target));
}

function assertInNoFile(directory: string, values: readonly string[]): void {
  for (const name of readdirSync(directory)) {
    const text = readFileSync(join(directory, name), "latin1");
    for (const value of values) assert.ok(!text.includes(value), name);
  }
}

test.each(Object.entries(ALL_SHAPES))(
  "after erasing, the session is verified, and the value is in no file (%s)",
  async (_name, shape) => {
    const user = new SigningUser();
    const written = await user.write(shape, ENTRIES);
    const before = await verdictOf(user, written);
    assert.equal(before.verdict, "verified", JSON.stringify(before.findings));
    const erased = await eraseFrom(user, written, matching(["is 48213", "code 90417"]));
    assert.deepEqual(erased.counts, { text: 3, string: 0, line: 0 });
    const after = await verdictOf(user, written);
    assert.deepEqual([after.verdict, after.freshness, after.findings], ["verified", "match", []]);
    assert.equal(after.from?.log, before.log);
    assertInNoFile(dirname(written.path), ["is 48213", "code 90417"]);
    assert.ok(readFileSync(written.path, "utf8").includes("17 Mill Lane"));
  },
);

test("an erased entry is a placeholder with its role, and the entries around it are unchanged", async () => {
  for (const shape of Object.values(ALL_SHAPES)) {
    const user = new SigningUser();
    const written = await user.write(shape, ENTRIES);
    const before = readFileSync(written.path, "utf8").split("\n");
    const at = before.findIndex((line) => line.includes("code 90417")) + 1;
    const { counts } = await eraseFrom(user, written, entriesNumbered(new Set([at])));
    assert.deepEqual(counts, { text: 0, string: 0, line: 1 });
    assert.equal((await verdictOf(user, written)).verdict, "verified");
    const text = readFileSync(written.path, "utf8");
    assert.ok(
      !text.includes("code 90417") && text.includes("[erased]") && text.includes("is 48213"),
    );
  }
});

test("lines that a signer found stay found, until a person vouches for them", async () => {
  for (const shape of Object.values(ALL_SHAPES)) {
    const user = new SigningUser();
    const written = await user.write(shape, ENTRIES);
    const lines = readFileSync(written.path, "utf8").trimEnd().split("\n");
    const copied = lines.find((line) => line.includes("good morning")) ?? "";
    appendFileSync(written.path, `${copied.replace("good morning", "found is 48213 here")}\n`);
    await eraseFrom(user, written, matching(["is 48213"]));
    const { verdict, found } = await verdictOf(user, written);
    assert.equal(verdict, "incomplete");
    const [[from, to] = [0, 0]] = found;
    const bytes = readFileSync(written.path).subarray(from, to).toString();
    assert.equal(found.length, 1);
    assert.match(bytes, /^[^\n]*found \[erased\] here[^\n]*\n$/);
  }
});

test("a copy that is not of this log, or was altered, makes the session tampered", async () => {
  const user = new SigningUser();
  const [one, other] = [
    await user.write({ dialect: "homeagent" }, ENTRIES),
    await user.write({ dialect: "homeagent" }, ENTRIES),
  ];
  for (const each of [one, other]) await eraseFrom(user, each, matching(["is 48213"]));
  const verify = async () => {
    const judging = await UserJudging.load(nodeHost, { places: user.places, onWarning: () => {} });
    return verifyWithCopy(nodeHost, one.target, await judging.optionsFor(one.target));
  };
  assert.equal((await verify()).verdict, "verified");
  const copy = `${one.path}.vbd`;
  const bytes = readFileSync(copy);
  const altered = Buffer.from(bytes.toString().replace("good morning", "good evening"));
  for (const wrong of [readFileSync(`${other.path}.vbd`), altered, bytes.subarray(0, 900)]) {
    writeFileSync(copy, wrong);
    const { verdict, findings } = await verify();
    assert.deepEqual([verdict, findings[0]?.code], ["tampered", "ERASED_COPY_MISMATCH"]);
  }
});

test("a planted intent changes no pinned head", async () => {
  const user = new SigningUser();
  const [mine, older] = [
    await user.write({ dialect: "homeagent" }, ENTRIES),
    await user.write({ dialect: "homeagent" }, ENTRIES.slice(0, 3)),
  ];
  const pinned = await user.remembered(mine.target);
  cpSync(older.path, `${mine.path}.erase-log`);
  cpSync(older.sidecarPath, `${mine.path}.erase-log.checkpoints`);
  const name = "evening.jsonl";
  const moves = [
    [`${name}.erase-log.checkpoints`, `${name}.checkpoints`],
    [`${name}.erase-log`, name],
  ];
  const { log } = await user.verify(older);
  const { dialect, id } = mine.target;
  const intent = { verbatim: "erase", v: 1, dialect, id, log, moves, removes: [] };
  writeFileSync(`${mine.path}.erase`, JSON.stringify(intent));
  const carrying = carryingOut(nodeHost, mine.target, { places: user.places, onWarning: () => {} });
  await assert.rejects(finishErasure(carrying));
  assert.deepEqual((await user.remembered(mine.target)).here, pinned.here);
  assert.equal((await user.verify(mine)).verdict, "unreadable");
  rmSync(`${mine.path}.erase`);
  assert.equal((await user.verify(mine)).verdict, "rollback");
});

test("an intent without the copy of the old log is refused, and no pinned head changes", async () => {
  const user = new SigningUser();
  const mine = await user.write({ dialect: "homeagent" }, ENTRIES);
  const { log } = await user.verify(mine);
  const pinned = await user.remembered(mine.target);
  const { dialect, id } = mine.target;
  const intent = { verbatim: "erase", v: 1, dialect, id, log, moves: [], removes: [] };
  writeFileSync(`${mine.path}.erase`, JSON.stringify(intent));
  const carrying = carryingOut(nodeHost, mine.target, { places: user.places, onWarning: () => {} });
  const { message } = await refusal(finishErasure(carrying), "NOT_VERIFIED");
  assert.ok(message.includes(`${mine.path}.vbd is missing`), message);
  rmSync(`${mine.path}.erase`);
  assert.equal((await user.verify(mine)).verdict, "verified");
  assert.deepEqual((await user.remembered(mine.target)).here, pinned.here);
});

test.each(Object.entries(ALL_SHAPES))(
  "a second erasure continues the log of the first, and leaves neither value (%s)",
  async (_name, shape) => {
    const user = new SigningUser();
    const written = await user.write(shape, ENTRIES);
    await eraseFrom(user, written, matching(["is 48213"]));
    const first = await verdictOf(user, written);
    await eraseFrom(user, written, matching(["code 90417"]));
    const second = await verdictOf(user, written);
    assert.deepEqual(
      [second.verdict, second.freshness, second.findings],
      ["verified", "match", []],
    );
    assert.equal(second.from?.log, first.log);
    assertInNoFile(dirname(written.path), ["is 48213", "code 90417"]);
  },
);

test("streams, other programs' sessions, a reason with the value and other signers are refused", async () => {
  const user = new SigningUser();
  const { target } = await user.write({ dialect: "verbatim" }, ENTRIES);
  for (const dialect of ["streams", "claude-code", "codex"]) {
    thrownRefusal(() => refuseOthers({ ...target, dialect }), "CANNOT_ERASE");
  }
  thrownRefusal(() => refuseOthers({ ...target, id: null }), "CANNOT_ERASE");
  const onWarning = () => {};
  const asked = {
    finder: matching(["is 48213"]),
    reason: "it is 48213",
    places: user.places,
    onWarning,
  };
  await refusal(
    tryErasing(await sessionErasing(nodeHost, target, asked), () => {}),
    "CANNOT_ERASE",
  );
});
