/** Transcripts that the Python original signed: read, continued and vouched for, on request. */

import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { openVerified, TranscriptSigner, verify } from "../../src/doors/signing.ts";
import { vouchForSession } from "../../src/evidence/verify/own-checkpoints.ts";
import { handoffSession } from "../../src/resume/handoff/handoff.ts";
import { resumeSession } from "../../src/resume/resume.ts";
import { DisplayedLog, unsignedIn } from "../../src/trust/judge/displayed-log.ts";
import { loadSigner } from "../../src/trust/keys/keys.ts";
import { addTrust } from "../../src/trust/trusted-keys/trust.ts";
import { refusal } from "../support/refusal.ts";
import { SigningUser } from "../support/signing-user.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { legacyLog } from "./attacks/kit.ts";

const ID = "hello-1739012630";
const profile = "rye" as const;

class Original {
  readonly user = new SigningUser();
  readonly root = tempDirectory();
  readonly path = join(this.root, ".ai/threads", ID, "transcript.jsonl");

  /** A thread of the original, by a key that is trusted for its format. */
  static async make(): Promise<Original> {
    const made = new Original();
    const signer = await loadSigner(nodeHost, made.user.places);
    const { publicKey } = signer;
    const grant = { publicKey, owner: "me", purposes: [], sessions: [], profile } as const;
    await addTrust(nodeHost, made.user.places, grant, Date.now());
    mkdirSync(dirname(made.path), { recursive: true });
    writeFileSync(made.path, await legacyLog(signer));
    return made;
  }

  verify(given: { profile?: "rye" } = {}) {
    return verify(ID, { root: this.root, ...given });
  }

  /** The payload of its first checkpoint of this format. */
  get genesis() {
    const lines = readFileSync(this.path, "utf8").trim().split("\n");
    return lines.map((line) => JSON.parse(line).payload).find((payload) => payload?.v === 2);
  }

  append(): void {
    const event = { timestamp: 1, thread_id: ID, event_type: "cognition_out", payload: {} };
    appendFileSync(this.path, `${JSON.stringify(event)}\n`);
  }

  async vouch(): Promise<void> {
    const log = { dialect: "rye", root: this.root, id: ID } as const;
    const target = { ...log, logId: `.ai/threads/${ID}/transcript.jsonl` };
    const shown = new DisplayedLog(nodeHost, target, unsignedIn(await this.verify({ profile })));
    for await (const _ of shown.lines());
    await vouchForSession(nodeHost, target, shown, () => {}, profile);
  }
}

test("the original's transcripts are opened, resumed and verified only on request", async () => {
  const { root, path } = await Original.make();
  const directory = dirname(path);
  await refusal(openVerified(ID, { root }), "NOT_VERIFIED");
  (await openVerified(ID, { root, profile })).close();
  await refusal(resumeSession(nodeHost, ID, { root, for: "anthropic" }), "NOT_VERIFIED");
  const { report } = await resumeSession(nodeHost, ID, { root, for: "anthropic", profile });
  assert.deepEqual([report.verdict, report.unverified], ["verified", 0]);
  assert.equal((await new TranscriptSigner(ID, directory).verify()).valid, false);
  assert.equal((await new TranscriptSigner(ID, directory, { profile }).verify()).valid, true);
  await refusal(handoffSession(nodeHost, ID, { root, profile }), "NOT_VERIFIED");
  for (const given of ["v2", "", null, 1]) {
    const wrong = { root, profile: given as "rye" };
    await refusal(openVerified(ID, wrong), "BAD_SETTING");
    await refusal(handoffSession(nodeHost, ID, wrong), "BAD_SETTING");
    assert.throws(() => new TranscriptSigner(ID, directory, wrong), { code: "BAD_SETTING" });
  }
});

test("a store that continues one records all of it as found, and a person vouches for it", async () => {
  const original = await Original.make();
  const { root, user } = original;
  const { length } = readFileSync(original.path);
  const goOn = async (given: { profile?: "rye" }) => {
    const store = await user.store({ dialect: "rye", root, ...given });
    await store
      .session(ID)
      .appendNative({ type: "user_message", text: "hi" })
      .finally(() => store.close());
  };
  await refusal(goOn({}), "CHECKPOINT_MISMATCH");
  await goOn({ profile });
  const { found, vouched } = original.genesis;
  assert.deepEqual([found, vouched], [[0, length], false]);
  for (const given of [{}, { profile }]) {
    const { verdict, findings } = await original.verify(given);
    assert.equal(verdict, "incomplete");
    assert.ok(findings.some(({ code }) => code === "FOUND_UNSIGNED"));
  }
  await original.vouch();
  assert.equal((await original.verify()).verdict, "verified");
});

test("TranscriptSigner continues one, and does not vouch for the existing lines", async () => {
  const original = await Original.make();
  original.append();
  const directory = dirname(original.path);
  await refusal(new TranscriptSigner(ID, directory).checkpoint(3), "CHECKPOINT_MISMATCH");
  await new TranscriptSigner(ID, directory, { profile }).checkpoint(3);
  assert.equal(original.genesis.vouched, false);
  assert.equal((await original.verify()).verdict, "incomplete");
});

test("an altered one can neither be continued nor vouched for", async () => {
  const original = await Original.make();
  const text = readFileSync(original.path, "utf8");
  writeFileSync(original.path, text.replace("turn 1", "turn 9"));
  assert.equal((await original.verify({ profile })).verdict, "tampered");
  await refusal(original.vouch(), "NOT_VERIFIED");
  const signer = new TranscriptSigner(ID, dirname(original.path), { profile });
  original.append();
  await refusal(signer.checkpoint(3), "CHECKPOINT_MISMATCH");
});

test("a whole transcript of the original can be vouched for as it is", async () => {
  const original = await Original.make();
  await original.vouch();
  assert.equal(original.genesis.vouched, true);
  assert.equal((await original.verify()).verdict, "verified");
});
