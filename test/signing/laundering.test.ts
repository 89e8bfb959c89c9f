/** Lines that would be tampering in a signed log are never signed, however they were added. */

import assert from "node:assert/strict";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { expect, test, vi } from "vitest";
import { TranscriptSigner } from "../../src/doors/signing.ts";
import { Session } from "../../src/sessions/store/session.ts";
import type { StoreOptions } from "../../src/sessions/store/store.ts";
import { refusal } from "../support/refusal.ts";
import {
  idFor,
  SigningUser,
  said,
  turnIn,
  type Written,
  writtenBy,
} from "../support/signing-user.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const EVENT = { ts: "2026-02-09T04:03:50.365000+00:00", type: "assistant_text", directive: "d" };
const ID = idFor({ dialect: "rye" });

/** One line each, as text in latin1. */
const HOSTILE: Readonly<Record<string, string>> = {
  "a CR": `${JSON.stringify({ ...EVENT, thread_id: ID })}\r{"x":1}\n`,
  "two types": `${JSON.stringify({ ...EVENT, thread_id: ID, event_type: "cognition_out" })}\n`,
  "another thread": `${JSON.stringify({ ...EVENT, thread_id: "other" })}\n`,
  "a checkpoint in escapes": '{"ts":"now","type":"check\\u0070oint","directive":"d"}\n',
  "a byte that is not UTF-8": '{"ts":"now","type":"assistant_text","text":"\xff"}\n',
};

const MODES: readonly Pick<StoreOptions, "mode" | "durability">[] = [
  { mode: "shared", durability: "os" },
  { mode: "exclusive", durability: "os" },
  { mode: "exclusive", durability: "disk" },
];

for (const [name, line] of Object.entries(HOSTILE)) {
  test.each(MODES)(
    `a live signer refuses to continue after a line with ${name} ($mode, $durability)`,
    async (options) => {
      const user = new SigningUser();
      const store = await user.store({ dialect: "rye", root: tempDirectory(), ...options });
      const session = store.session(ID);
      for (const entry of turnIn(session, "ours")) await session.append(entry);
      const written = writtenBy(store, session);
      appendFileSync(written.path, line, "latin1");
      const before = readFileSync(written.path);
      const report = await user.verify(written);
      assert.equal(report.verdict, "tampered");
      const { details, message } = await refusal(session.append(said("on")), "CHECKPOINT_MISMATCH");
      assert.equal(details.offset, before.length - line.length);
      expect(message).toContain("take that line out");
      await refusal(session.append(said("again")), "CHECKPOINT_MISMATCH");
      await store.close();
      assert.ok(readFileSync(written.path).equals(before), "and nothing is written");
      assert.deepEqual((await user.verify(written)).findings, report.findings);
    },
  );

  test(`a log with a line with ${name} is not signed for the first time`, async () => {
    const user = new SigningUser();
    const written = await unsigned(user, line);
    const signer = new TranscriptSigner(ID, dirname(written.path));
    const { details, message } = await refusal(signer.checkpoint(1), "CHECKPOINT_MISMATCH");
    expect(details.offset).toBeGreaterThan(0);
    expect(message).toContain("take that line out");
    const store = await user.store({ dialect: "rye", root: written.target.root });
    await refusal(store.session(ID).append(said("on")), "CHECKPOINT_MISMATCH");
    await store.close();
    assert.equal((await user.verify(written)).verdict, "unsigned");

    writeFileSync(written.path, readFileSync(written.path, "latin1").replace(line, ""), "latin1");
    await signer.checkpoint(1);
    assert.equal((await signer.verify()).valid, true, "once the line is out, it is signed");
  });
}

test("a line that a power cut left as NULs is recorded as found, and is not vouched for automatically", async () => {
  const user = new SigningUser();
  const nul = `{"ts":"now","type":"assistant_text","text":"${"\0".repeat(8)}"}\n`;
  const written = await unsigned(user, nul);
  const signer = new TranscriptSigner(ID, dirname(written.path));
  await signer.checkpoint(1);
  const { valid, report } = await signer.verify();
  assert.deepEqual([valid, report?.verdict, report?.found.length], [false, "incomplete", 1]);
});

test("NULs that are hidden while the signer scans for them are not vouched for", async () => {
  const user = new SigningUser();
  const nul = `{"ts":"now","type":"assistant_text","text":"${"\0".repeat(8)}"}\n`;
  const written = await unsigned(user, nul);
  const bytes = readFileSync(written.path);
  const hidden = Buffer.from(bytes.map((byte) => (byte === 0 ? 0x20 : byte)));
  const { addCheckpoints } = Session.prototype;
  // Another program writes after the log was hashed for signing, and before it is scanned.
  const spy = vi.spyOn(Session.prototype, "addCheckpoints").mockImplementation(function (
    this: Session,
    choose,
  ) {
    return addCheckpoints.call(this, (signer) => {
      writeFileSync(written.path, hidden);
      return choose(signer);
    });
  });
  try {
    const signer = new TranscriptSigner(ID, dirname(written.path));
    await refusal(signer.checkpoint(1), "CHANGED_WHILE_READ");
  } finally {
    spy.mockRestore();
  }
  const after = readFileSync(written.path, "latin1");
  assert.ok(!after.includes('"vouched":true'), "what was found may be stated, and no more");
});

test("an Entire log that other programs began, with their own session ids, can be signed late", async () => {
  const user = new SigningUser();
  const shape = { dialect: "entire" } as const;
  const written = await user.writeTurns(shape, 1, { sign: false });
  const own = `"sessionId":"${written.target.id}"`;
  const foreign = '"sessionId":"4e836284-4a0a-44a1-acb3-38c68db78007"';
  writeFileSync(written.path, readFileSync(written.path, "utf8").replaceAll(own, foreign));
  const store = await user.store({ ...shape, root: written.target.root });
  const session = store.session(written.target.id);
  for (const entry of turnIn(session, "ours")) await session.append(entry);
  await store.close();
  const { verdict, found } = await user.verify(written);
  assert.deepEqual([verdict, found.length, found[0]?.[0]], ["incomplete", 1, 0]);
});

/** An unsigned thread with that line in its middle. */
async function unsigned(user: SigningUser, line: string): Promise<Written> {
  const written = await user.writeTurns({ dialect: "rye" }, 1, { sign: false, markdown: false });
  const text = readFileSync(written.path, "latin1");
  writeFileSync(written.path, `${text}${line}${text}`, "latin1");
  return written;
}

test("a line of ours that was altered before it was signed is stated as found", async () => {
  for (const isAltered of [true, false]) {
    const user = new SigningUser();
    const dialect = "homeagent";
    const store = await user.store({ dialect, root: tempDirectory() });
    const session = store.session(idFor({ dialect }));
    await session.append(said("ours"));
    const written = writtenBy(store, session);
    if (isAltered) {
      const text = readFileSync(written.path, "utf8").replace("ours", "OURS");
      writeFileSync(written.path, text);
    }
    const at = readFileSync(written.path).length;
    // What another program appends makes the signer read the log again.
    appendFileSync(written.path, '{"turnId":"x","role":"user","content":"x","ts":1}\n');
    await session.append(said("on"));
    await store.close();
    const { verdict, found } = await user.verify(written);
    assert.equal(verdict, "incomplete");
    assert.equal(found[0]?.[0], isAltered ? 0 : at);
  }
});
