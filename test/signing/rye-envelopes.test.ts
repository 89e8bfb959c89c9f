/** rye's two envelopes: no verdict depends on which one a log has. */

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "vitest";
import { TranscriptSigner } from "../../src/doors/signing.ts";
import { SigningUser, turnIn, writtenBy } from "../support/signing-user.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const ID = "hello-1739012630";
const LONG = "x".repeat(2 * 1024 * 1024);
const EVENT = {
  timestamp: "2026-02-09T04:03:50.365000+00:00",
  thread_id: ID,
  event_type: "cognition_in",
};
const eventWith = (text: string) =>
  `${JSON.stringify({ ...EVENT, payload: { directive: "hello", text } })}\n`;

const BEGINNINGS: Readonly<Record<string, string>> = {
  "a very long line": eventWith(LONG),
  "a byte order mark": `\ufeff${eventWith("hi")}`,
  "an empty line": `\n${eventWith("hi")}`,
  "no JSON": `garbage\n${eventWith("hi")}`,
  "no event": `{"note":"made by hand"}\n${eventWith("hi")}`,
  "an event without a time": `{"event_type":"cognition_in"}\n${eventWith("hi")}`,
};

test.each(Object.entries(BEGINNINGS))(
  "a thread in the payload envelope that begins with %s is verified once it is signed",
  async (_name, beginning) => {
    const user = new SigningUser();
    const root = tempDirectory();
    const path = join(root, ".ai/threads", ID, "transcript.jsonl");
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, beginning);
    const signer = new TranscriptSigner(ID, dirname(path));
    await signer.checkpoint(1);
    const { valid, checkpoints, error } = await signer.verify();
    assert.deepEqual([valid, checkpoints, error], [true, 1, undefined]);

    const store = await user.store({ dialect: "rye", root });
    const session = store.session(ID);
    for (const entry of turnIn(session, "on it goes")) await session.append(entry);
    await store.close();
    assert.equal((await user.verify(writtenBy(store, session))).verdict, "verified");
  },
);

test("a recorded thread whose first event is long is verified, in either envelope", async () => {
  for (const envelope of ["flat", "payload"] as const) {
    const user = new SigningUser();
    const store = await user.store({ dialect: "rye", root: tempDirectory(), envelope });
    const session = store.session(ID);
    await session.appendNative({ type: "thread_start", inputs: { doc: LONG } });
    for (const entry of turnIn(session, "one")) await session.append(entry);
    await store.close();
    assert.equal((await user.verify(writtenBy(store, session))).verdict, "verified", envelope);
  }
});

test("signers that share a thread and begin it in different envelopes write one chain", async () => {
  const user = new SigningUser();
  const where = { dialect: "rye", root: tempDirectory(), mode: "shared" } as const;
  const stores = [
    await user.store({ ...where, envelope: "flat" }),
    await user.store({ ...where, envelope: "payload" }),
  ];
  const sessions = stores.map((store) => store.session(ID));
  for (const session of sessions) await session.openToAppend();
  for (const session of sessions)
    for (const entry of turnIn(session, "said")) await session.append(entry);
  for (const store of stores) await store.close();

  const [store = assert.fail()] = stores;
  const written = writtenBy(store, store.session(ID));
  const lines = readFileSync(written.path, "utf8").trim().split("\n");
  const signed = lines.filter((line) => line.includes('"sig2"')).map((line) => JSON.parse(line));
  assert.deepEqual(new Set(signed.map((line) => "type" in line)), new Set([true, false]));
  const { verdict, findings } = await user.verify(written);
  assert.equal(verdict, "verified", JSON.stringify(findings));
});
