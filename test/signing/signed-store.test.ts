/**
 * What a signing store guarantees in addition to each line: a checkpoint per turn, and spill files.
 */

import assert from "node:assert/strict";
import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { test } from "vitest";
import { TranscriptSigner, verify } from "../../src/doors/signing.ts";
import { refusal } from "../support/refusal.ts";
import {
  ALL_SHAPES,
  idFor,
  SHAPES,
  SigningUser,
  said,
  turnIn,
  writtenBy,
} from "../support/signing-user.ts";
import { tempDirectory } from "../support/temp-directory.ts";

test.each(Object.entries(SHAPES))(
  "every turn ends with a checkpoint, also if its appends are not awaited (%s)",
  async (_name, shape) => {
    const user = new SigningUser();
    const store = await user.store({ root: tempDirectory(), ...shape });
    const id = shape.dialect === "homeagent" ? "kitchen/evening" : "hello-1739012630";
    const session = store.session(id);
    await Promise.all(
      [1, 2, 3, 4].flatMap((n) => turnIn(session, `${n}`)).map((each) => session.append(each)),
    );
    await store.close();
    const { path, sidecarPath } = writtenBy(store, session);
    const text = readFileSync(existsSync(sidecarPath) ? sidecarPath : path, "utf8");
    const lines = text
      .trim()
      .split("\n")
      .filter((line) => line.includes('"sig2"'));
    const payloads = lines.map((line) => JSON.parse(line).payload);
    const turns = payloads.filter(({ kind }) => kind === "turn").map(({ turn }) => turn);
    assert.equal(payloads[0].kind, "genesis", "it covers the first entry, which goes alone");
    assert.deepEqual(turns, [1, 2, 3]);
    assert.equal((await verify(id, { root: store.root })).verdict, "verified");
  },
);

const SPILLING = ["entire", "verbatim"] as const;

test.each(SPILLING)(
  "an altered or deleted spill file makes its signed session tampered (%s)",
  async (dialect) => {
    const user = new SigningUser();
    const long = "x".repeat(9 * 1024 * 1024);
    const written = await user.write({ dialect }, [said("short"), said(long)]);
    const { root, id } = written.target;
    const verdict = async () => {
      const { verdict, findings } = await verify(id, { root });
      return [verdict, ...findings.filter((each) => each.verdict).map(({ code }) => code)];
    };
    assert.deepEqual(await verdict(), ["verified"]);

    const name = readdirSync(dirname(written.path)).find((each) => each.endsWith(".spill"));
    const path = join(dirname(written.path), name ?? "");
    const bytes = readFileSync(path);
    bytes[100] = 0x79;
    writeFileSync(path, bytes);
    assert.deepEqual(await verdict(), ["tampered", "SPILL_CHANGED"]);
    appendFileSync(path, "x");
    assert.deepEqual(await verdict(), ["tampered", "SPILL_CHANGED"]);
    rmSync(path);
    assert.deepEqual(await verdict(), ["tampered", "SPILL_CHANGED"]);
  },
);

test.each(SPILLING)(
  "a session whose spill file was altered is not signed again (%s)",
  async (dialect) => {
    const user = new SigningUser();
    const long = "x".repeat(9 * 1024 * 1024);
    const { path, target } = await user.write({ dialect }, [said("short"), said(long)]);
    const name = readdirSync(dirname(path)).find((each) => each.endsWith(".spill"));
    const spill = join(dirname(path), name ?? "");
    const honest = readFileSync(spill);
    const goOn = async () => {
      const store = await user.store({ dialect, root: target.root });
      try {
        await store.session(target.id).append(said("on it goes"));
      } finally {
        await store.close();
      }
    };
    const bytes = Buffer.from(honest);
    bytes[100] = 0x79;
    writeFileSync(spill, bytes);
    const log = readFileSync(path);
    const { details } = await refusal(goOn(), "CHECKPOINT_MISMATCH");
    assert.equal(details.verdict, "tampered");
    assert.ok(readFileSync(path).equals(log), "and nothing is written");

    writeFileSync(spill, honest);
    await goOn();
    assert.equal((await verify(target.id, { root: target.root })).verdict, "verified");
  },
);

test("a server's copy, which lacks the spill files, is verified and reports that they are missing", async () => {
  const user = new SigningUser();
  const store = await user.store({ root: join(tempDirectory(), ".received/f/@desk/ada/verbatim") });
  const session = store.session("s1");
  await session.append(said("x".repeat(9 * 1024 * 1024)));
  await store.close();
  const name = readdirSync(dirname(session.path)).find((each) => each.endsWith(".spill")) ?? "";
  rmSync(join(dirname(session.path), name));
  const { verdict, findings } = await verify("s1", { root: store.root });
  const missing = { code: "SPILL_CHANGED", verdict: null };
  assert.equal(verdict, "verified");
  assert.deepEqual(
    findings.map(({ code, verdict }) => ({ code, verdict })),
    [missing],
  );
  writeFileSync(join(dirname(session.path), name), '"other"');
  assert.equal((await verify("s1", { root: store.root })).verdict, "tampered");
});

test.each(Object.entries(SHAPES))(
  "closing a session stores its head on the disk while its store is still open (%s)",
  async (_name, shape) => {
    const user = new SigningUser();
    const store = await user.store({ root: tempDirectory(), durability: "disk", ...shape });
    const session = store.session(idFor(shape));
    for (const entry of [1, 2, 3].flatMap((n) => turnIn(session, `${n}`)))
      await session.append(entry);
    await session.close();
    const { verdict, freshness } = await user.verify(writtenBy(store, session));
    assert.deepEqual([verdict, freshness], ["verified", "match"]);
    await store.close();
  },
);

const LONG = "ö".repeat(20_000);

test("a checkpoint after a very long directive or version is valid", async () => {
  const user = new SigningUser();
  const rye = await user.store({ root: tempDirectory(), dialect: "rye", agent: LONG });
  const entire = await user.store({ root: tempDirectory(), dialect: "entire", version: LONG });
  const thread = rye.session("hello-1739012630");
  await thread.appendNative({ type: "user_message", text: "hi", directive: LONG });
  const session = entire.session("evening");
  await session.append(said("hi"));
  for (const [store, each] of [
    [rye, thread],
    [entire, session],
  ] as const) {
    await store.close();
    const { verdict, findings } = await user.verify(writtenBy(store, each));
    assert.equal(verdict, "verified", JSON.stringify(findings));
  }
});

test.each([-1, 1.5, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY, undefined, "3", {}])(
  "a turn that is not a count is refused before anything is signed (%s)",
  async (turn) => {
    const user = new SigningUser();
    const written = await user.writeTurns({ dialect: "rye" }, 1, { sign: false });
    const before = readFileSync(written.path);
    const signer = new TranscriptSigner(written.target.id, dirname(written.path));
    await refusal(signer.checkpoint(turn as number), "BAD_SETTING");
    assert.ok(readFileSync(written.path).equals(before));
    await signer.checkpoint(1);
    assert.equal((await signer.verify()).valid, true);
  },
);

test.each(Object.entries(ALL_SHAPES))(
  "an unsigned tail is reported with its start (%s)",
  async (_name, shape) => {
    const user = new SigningUser();
    const written = await user.writeTurns(shape, 1);
    const signedBytes = readFileSync(written.path).length;
    const [line = ""] = readFileSync(written.path, "utf8").split("\n");
    appendFileSync(written.path, `${line}\n`);
    const { findings } = await user.verify(written);
    const tail = findings.find(({ code }) => code === "UNSIGNED_TAIL");
    assert.equal(tail?.byte_offset, signedBytes);
  },
);
