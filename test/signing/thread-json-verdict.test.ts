/**
 * What `verify`, `openVerified` and related functions report about a signed thread's thread.json.
 */

import assert from "node:assert/strict";
import { copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { readVerifiedThreadMeta, ThreadTelemetry, writeThreadMeta } from "../../src/doors/rye.ts";
import { openVerified, signJson, TranscriptSigner, verify } from "../../src/doors/signing.ts";
import { vouchForSession } from "../../src/evidence/verify/own-checkpoints.ts";
import { DisplayedLog, unsignedIn } from "../../src/trust/judge/displayed-log.ts";
import { loadSigner } from "../../src/trust/keys/keys.ts";
import { addTrust } from "../../src/trust/trusted-keys/trust.ts";
import { refusal } from "../support/refusal.ts";
import { SigningUser } from "../support/signing-user.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const ID = "hello-1739012630";
const START = { type: "thread_start", model: "m", capabilities: ["read"], limits: { spend: 0.5 } };
const STEP = { type: "step_start", turn_number: 1 };
const END = { type: "thread_complete", cost: { spend: 0.25, tokens: 7 } };
type Fields = Record<string, unknown>;

class Project {
  readonly user: SigningUser;
  readonly root = tempDirectory();
  readonly path = join(this.root, ".ai/threads", ID, "thread.json");
  readonly logPath = join(dirname(this.path), "transcript.jsonl");

  constructor(user = new SigningUser()) {
    this.user = user;
  }

  /** Writes events through a store, and closes it. */
  async write(events: readonly Fields[], options: { sign?: boolean } = {}): Promise<this> {
    const store = await this.user.store({ dialect: "rye", root: this.root, ...options });
    const session = store.session(ID);
    for (const event of events) await session.appendNative(event as typeof START);
    await store.close();
    return this;
  }

  /** Vouches for all unsigned lines. */
  async vouch(): Promise<void> {
    const target = {
      dialect: "rye",
      root: this.root,
      id: ID,
      logId: relative(this.root, this.logPath),
    };
    const shown = new DisplayedLog(
      nodeHost,
      target,
      unsignedIn(await verify(ID, { root: this.root })),
    );
    for await (const _ of shown.lines());
    await vouchForSession(nodeHost, target, shown, assert.fail);
  }

  get meta(): Fields {
    return JSON.parse(readFileSync(this.path, "utf8"));
  }

  put(change: (meta: Fields) => object): void {
    writeFileSync(this.path, JSON.stringify(change(this.meta)));
  }

  /** The verdict, and the finding about thread.json. */
  async judged(): Promise<string> {
    const { verdict, findings } = await verify(ID, { root: this.root });
    const codes = findings.map(({ code }) => code).filter((code) => code.startsWith("META_"));
    return [verdict, ...codes].join(" ");
  }
}

const without =
  (...names: string[]) =>
  (meta: Fields) =>
    Object.fromEntries(Object.entries(meta).filter(([name]) => !names.includes(name)));
const escalated = (meta: Fields) => ({ ...meta, capabilities: ["everything"] });
const SIGNATURES = ["_signature", "_signature2"];

const ATTACKS: readonly (readonly [string, (meta: Fields) => object, string])[] = [
  ["escalated", escalated, "tampered META_ALTERED"],
  ["with a higher revision", (meta) => ({ ...meta, rev: 99 }), "tampered META_ALTERED"],
  ["without its signatures", without(...SIGNATURES), "tampered META_STRIPPED"],
  ["without its second signature", without("_signature2"), "tampered META_ALTERED"],
  ["without its first signature", without("_signature"), "tampered META_ALTERED"],
  [
    "escalated, and without all that a signer adds",
    (meta) => escalated(without(...SIGNATURES, "rev", "head")(meta)),
    "tampered META_STRIPPED",
  ],
  ["of another thread", () => ({ thread_id: "other-1", status: "x" }), "tampered META_OTHER_LOG"],
  ["that is not a thread.json", () => [], "tampered META_ALTERED"],
  [
    "escalated, and said to be rebuilt",
    (meta) => ({ ...escalated(without(...SIGNATURES)(meta)), reconstructed: true }),
    "incomplete META_RECONSTRUCTED",
  ],
];

test("an altered, stripped or replaced thread.json is reported in the verdict on its thread", async () => {
  const project = await new Project().write([START, STEP, END]);
  assert.equal(await project.judged(), "verified");
  const honest = readFileSync(project.path);
  for (const [name, change, expected] of ATTACKS) {
    project.put(change);
    assert.equal(await project.judged(), expected, `a thread.json ${name}`);
    await refusal(openVerified(ID, { root: project.root }), "NOT_VERIFIED");
    await refusal(readVerifiedThreadMeta(project.root, ID), "NOT_VERIFIED");
    const { valid } = await new TranscriptSigner(ID, dirname(project.path)).verify();
    assert.equal(valid, false, name);
    writeFileSync(project.path, honest);
  }
  for (const bytes of ["", "{", "\ud800", " ".repeat(2 ** 21)]) {
    writeFileSync(project.path, bytes);
    assert.equal(await project.judged(), "tampered META_ALTERED");
  }
  rmSync(project.path);
  assert.equal(await project.judged(), "incomplete META_MISSING");
  writeFileSync(project.path, honest);
  assert.equal(await project.judged(), "verified");
});

test("a thread of a single line is reported to have lost its signatures, too", async () => {
  const project = await new Project().write([START]);
  assert.equal(await project.judged(), "verified");
  const honest = readFileSync(project.path);
  project.put(escalated);
  assert.equal(await project.judged(), "tampered META_ALTERED");
  writeFileSync(project.path, honest);
  project.put(without(...SIGNATURES));
  assert.equal(await project.judged(), "tampered META_STRIPPED");
  project.put(without("rev", "head"));
  assert.equal(await project.judged(), "incomplete META_UNSIGNED");
});

test("an older thread.json, and a log that is older than it, are rollbacks", async () => {
  const project = await new Project().write([START, STEP]);
  const [old, oldLog] = [readFileSync(project.path), readFileSync(project.logPath)];
  await project.write([STEP, { type: "assistant_text", text: "hi" }, END]);
  await project.write([STEP, END]);
  const now = readFileSync(project.path);
  writeFileSync(project.path, old);
  assert.equal(await project.judged(), "rollback META_BEHIND");
  writeFileSync(project.path, now);
  writeFileSync(project.logPath, oldLog);
  rmSync(project.user.places.stateDirectory, { recursive: true }); // Without its pin.
  assert.equal(await project.judged(), "rollback META_AHEAD");
});

test("the thread.json of a namesake, signed by the same key, belongs to another log", async () => {
  const project = await new Project().write([START, STEP, END]);
  const other = await new Project(project.user).write([{ ...START, model: "n" }, STEP, END]);
  copyFileSync(other.path, project.path);
  assert.equal(await project.judged(), "tampered META_OTHER_LOG");
});

test("a thread.json that another key signed is not trusted", async () => {
  const user = new SigningUser();
  const project = await new Project(user).write([START, STEP, END]);
  const stranger = await new Project(new SigningUser()).write([START, STEP, END]);
  copyFileSync(stranger.path, project.path);
  await user.store({ dialect: "rye", root: project.root }); // Sets the environment back to the first user.
  assert.equal(await project.judged(), "untrusted META_UNTRUSTED");
});

test("a reader who trusts a key only for transcripts gets a finding for thread.json, and verifies the log", async () => {
  const ada = new SigningUser();
  const project = await new Project(ada).write([START, STEP, END]);
  const { publicKey } = await loadSigner(nodeHost, ada.places);
  const bob = new SigningUser();
  const grant = { publicKey, owner: "Ada", purposes: ["transcript"], sessions: ["**"] } as const;
  await addTrust(nodeHost, bob.places, grant, Date.now());
  assert.equal(await project.judged(), "verified META_UNTRUSTED");
  const honest = readFileSync(project.path);
  project.put(escalated);
  assert.equal(await project.judged(), "tampered META_ALTERED");
  writeFileSync(project.path, honest);
  project.put(without(...SIGNATURES));
  assert.equal(await project.judged(), "verified META_STRIPPED", "it is not trusted either way");
});

test("a writer that does not sign leaves the thread incomplete, never tampered", async () => {
  const project = await new Project().write([START, STEP]);
  await project.write([{ type: "user_message", text: "hi" }], { sign: false });
  assert.equal(await project.judged(), "incomplete META_UNSIGNED");
  await project.vouch();
  assert.equal(await project.judged(), "incomplete META_UNSIGNED", "vouching changes only the log");
  const { meta } = project;
  rmSync(project.path);
  await writeThreadMeta(project.root, ID, meta as typeof START & never);
  await project.write([STEP, END]);
  assert.equal(await project.judged(), "verified");
  project.put(without(...SIGNATURES));
  assert.equal(await project.judged(), "tampered META_STRIPPED", "it was signed since");
});

test("an unsigned store that opens a signed thread without writing keeps its signature", async () => {
  const project = await new Project().write([START, STEP]);
  project.put((meta) => meta); // Still signed, despite other spacing.
  const store = await project.user.store({ dialect: "rye", root: project.root, sign: false });
  await store.session(ID).openToAppend();
  await store.close();
  assert.equal(await project.judged(), "verified");
});

test("a rebuilt thread.json and an unsigned one have different findings", async () => {
  const project = await new Project().write([START, STEP]);
  rmSync(project.path);
  await project.write([STEP, END]);
  assert.equal(project.meta.reconstructed, true);
  assert.equal(await project.judged(), "incomplete META_RECONSTRUCTED");

  const other = new Project();
  await other.write([START, { ...END, outputs: "\ud800" }]);
  assert.equal(await other.judged(), "incomplete META_UNSIGNED", "our writer could not sign it");
});

test("a signed transcript without a signed thread.json is verified", async () => {
  const project = await new Project().write([START, STEP], { sign: false });
  await new TranscriptSigner(ID, dirname(project.path)).checkpoint(1);
  assert.equal(await project.judged(), "verified META_UNSIGNED");
  const signed = await signJson(project.meta);
  project.put(() => signed);
  assert.equal(await project.judged(), "verified META_UNSIGNED");
  project.put(escalated);
  assert.equal(await project.judged(), "tampered META_ALTERED");
});

test("the cost of a signed thread is counted only from a verified thread.json", async () => {
  const now = { created_at: new Date().toISOString() };
  const project = await new Project().write([START, STEP, END]);
  const stats = () => new ThreadTelemetry().aggregate(project.root, { days: 36_000 });
  const honest = await stats();
  assert.deepEqual([honest.total, honest.total_spend, honest.excluded], [1, 0.25, undefined]);
  const text = readFileSync(project.path);
  const forged = { ...now, cost: { spend: 1000 } };
  for (const change of [
    (meta: Fields) => ({ ...meta, ...forged }),
    (meta: Fields) => ({ ...without(...SIGNATURES, "rev", "head")(meta), ...forged }),
  ]) {
    project.put(change);
    const { total, total_spend, excluded } = await stats();
    assert.deepEqual([total, total_spend, excluded?.length], [0, 0, 1]);
    assert.equal(excluded?.[0]?.thread_id, ID);
    writeFileSync(project.path, text);
  }
});

test("writeThreadMeta signs the thread.json of a signed thread, with a higher revision", async () => {
  const project = await new Project().write([START, STEP]);
  const { rev } = project.meta;
  const meta = await readVerifiedThreadMeta(project.root, ID);
  await writeThreadMeta(project.root, ID, { ...meta, limits: { spend: 9 } });
  assert.equal(project.meta.rev, Number(rev) + 1);
  assert.deepEqual((await readVerifiedThreadMeta(project.root, ID)).limits, { spend: 9 });
  assert.equal(await project.judged(), "verified");
  await project.write([STEP, END]);
  assert.equal(await project.judged(), "verified");
  assert.deepEqual(project.user.warnings, []);
});

test("writeThreadMeta refuses to replace a thread.json that was altered, or is not this thread's", async () => {
  const project = await new Project().write([START, STEP]);
  const honest = readFileSync(project.path);
  const { meta } = project;
  const write = (given: unknown) =>
    writeThreadMeta(project.root, ID, given as typeof START & never);
  for (const given of [null, [], {}, { ...meta, thread_id: "other-1" }, { ...meta, status: 1 }]) {
    await refusal(write(given), "BAD_SETTING");
  }
  await refusal(write({ ...meta, inputs: "\ud800" }), "UNSIGNABLE_JSON");
  assert.deepEqual(readFileSync(project.path), honest);
  project.put(escalated);
  const forged = readFileSync(project.path);
  await refusal(write({ ...project.meta, status: "completed" }), "NOT_VERIFIED");
  assert.deepEqual(readFileSync(project.path), forged, "and leaves it as it is");
  rmSync(project.path);
  await write({ thread_id: ID, status: "completed" });
  assert.equal(await project.judged(), "verified", "the caller's own word");
});

test("writeThreadMeta writes the thread.json of an unsigned thread unchanged", async () => {
  const project = await new Project().write([START], { sign: false });
  await writeThreadMeta(project.root, ID, { thread_id: ID, status: "paused" });
  assert.deepEqual(project.meta, { thread_id: ID, status: "paused" });
});
