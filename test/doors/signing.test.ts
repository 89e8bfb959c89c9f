/** `verbatim-log/signing`, as a program uses it. */

import assert from "node:assert/strict";
import { appendFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Thread, TranscriptWriter } from "../../src/doors/rye.ts";
import {
  inspectJson,
  openVerified,
  signJson,
  TranscriptSigner,
  verify,
  verifyJson,
} from "../../src/doors/signing.ts";
import { refusal } from "../support/refusal.ts";
import { answered, SHAPES, SigningUser, said } from "../support/signing-user.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { until } from "../support/until.ts";

const ID = "hello-1739012630";

/** A runner that writes its own thread, and signs it like the document does. */
class Runner {
  readonly user = new SigningUser();
  readonly project = tempDirectory();
  readonly directory = join(this.project, ".ai/threads", ID);
  readonly path = join(this.directory, "transcript.jsonl");
  readonly signer = new TranscriptSigner(ID, this.directory);
  readonly writer: TranscriptWriter;

  constructor(envelope: "flat" | "payload" = "flat") {
    const transcriptDir = dirname(this.directory);
    this.writer = new TranscriptWriter({ transcriptDir, envelope, defaultDirective: "hello" });
  }

  say(text: string): Promise<void> {
    return this.writer.writeEvent(ID, "assistant_text", { text });
  }
}

test.each(["flat", "payload"] as const)(
  "a transcript that another writer wrote is signed turn by turn, and is valid (%s)",
  async (envelope) => {
    const runner = new Runner(envelope);
    await runner.signer.checkpoint(1); // There is no transcript.
    const none = await runner.signer.verify();
    assert.deepEqual([none.valid, none.checkpoints, none.unsigned], [false, 0, true]);

    await runner.say("one");
    assert.equal((await runner.signer.verify()).unsigned, true);
    await runner.signer.checkpoint(1);
    await runner.signer.checkpoint(1); // Nothing new.
    await runner.say("two");
    const between = await runner.signer.verify();
    assert.equal(between.valid, false);
    assert.ok((between.unsigned_bytes ?? 0) > 0);
    assert.equal(between.failed_at_turn, 1);
    await runner.signer.checkpoint(2);
    await runner.writer.close();
    const { valid, checkpoints, error, report } = await runner.signer.verify();
    assert.deepEqual([valid, checkpoints, error], [true, 2, undefined]);
    assert.equal(report?.signed_through?.turn, 2);
    assert.equal((await verify(ID, { root: runner.project })).verdict, "verified");
  },
);

test.each([
  ["a byte of it was changed", (text: string) => text.replace("two", "2wo")],
  ["its last line was cut off", (text: string) => text.replace(/[^\n]*\n$/, "")],
  ["a line was put into it", (text: string) => text.replace("\n", '\n{"ts":"t","type":"x"}\n')],
] as const)(
  "between two checkpoints of one signer, a log is judged again: %s",
  async (_, change) => {
    const runner = new Runner();
    for (const [n, text] of ["one", "two"].entries()) {
      await runner.say(text);
      await runner.signer.checkpoint(n + 1);
    }
    await runner.writer.close();
    writeFileSync(runner.path, change(readFileSync(runner.path, "utf8")));
    const altered = readFileSync(runner.path, "utf8");
    await refusal(runner.signer.checkpoint(3), "CHECKPOINT_MISMATCH");
    appendFileSync(runner.path, '{"ts":"t","type":"assistant_text","text":"three"}\n');
    await refusal(runner.signer.checkpoint(3), "CHECKPOINT_MISMATCH");
    assert.ok(readFileSync(runner.path, "utf8").startsWith(altered));
  },
);

test("between two checkpoints of one signer, the log may be replaced by a copy of it", async () => {
  const runner = new Runner();
  await runner.say("one");
  await runner.signer.checkpoint(1);
  await runner.writer.close();
  const text = readFileSync(runner.path, "utf8");
  rmSync(runner.path);
  writeFileSync(runner.path, text, { mode: 0o600 });
  appendFileSync(runner.path, '{"ts":"t","type":"assistant_text","text":"two"}\n');
  await runner.signer.checkpoint(2);
  const { valid, checkpoints } = await runner.signer.verify();
  assert.deepEqual([valid, checkpoints], [true, 2]);
});

test("checkpoints that are requested together are written one after another", async () => {
  const runner = new Runner();
  await runner.say("one");
  const first = runner.signer.checkpoint(1);
  const second = runner.say("two").then(() => runner.signer.checkpoint(2));
  await Promise.all([first, second, runner.signer.checkpoint(2)]);
  await runner.writer.close();
  assert.equal((await runner.signer.verify()).valid, true);
});

test("a thread that this process has open for writing is refused at once", async () => {
  new SigningUser();
  const project = tempDirectory();
  const thread = await Thread.start({ projectPath: project, directive: "hello" });
  const { id } = thread;
  const signer = new TranscriptSigner(id, join(project, ".ai/threads", id));
  const error = await refusal(signer.checkpoint(1), "LOG_LOCKED");
  assert.match(error.message, /is open for writing in this process/);
  await thread.complete();
  await signer.checkpoint(1);
  assert.equal((await signer.verify()).valid, true);
});

interface VerifiedThread {
  readonly user: SigningUser;
  readonly kid: string;
  readonly directory: string;
}

test.each([
  ["the log", ({ directory }: VerifiedThread) => replaceIn(directory, "transcript.jsonl", "one")],
  ["thread.json", ({ directory }: VerifiedThread) => replaceIn(directory, "thread.json", "hello")],
  ["the user's trust", ({ user, kid }: VerifiedThread) => user.revokes(kid)],
  ["the pins", ({ user }: VerifiedThread) => pinNextHead(user)],
] as const)("a verdict is not returned again after a change of %s", async (_, change) => {
  const user = new SigningUser();
  const project = tempDirectory();
  const thread = await Thread.start({ projectPath: project, directive: "hello", sign: true });
  await thread.userMessage("one");
  await thread.complete();
  const directory = join(project, ".ai/threads", thread.id);
  const signer = new TranscriptSigner(thread.id, directory);
  const { valid, report } = await signer.verify();
  assert.equal(valid, true);
  await until(async () => {
    const { report: first } = await signer.verify();
    const { report: second } = await signer.verify();
    return first === second;
  });
  await change({ user, directory, kid: report?.signed_through?.kid ?? assert.fail() });
  assert.equal((await signer.verify()).valid, false);
});

/** Another computer of the user has seen one checkpoint more. */
function pinNextHead({ places }: SigningUser): void {
  const path = join(places.stateDirectory, "heads.jsonl");
  const last = readFileSync(path, "utf8").trimEnd().split("\n").at(-1) ?? assert.fail();
  appendFileSync(path, `${last.replace(/"seq":(\d+)/, (_, seq) => `"seq":${Number(seq) + 1}`)}\n`);
}

/** Replaces the first letter of a word by another one. */
function replaceIn(directory: string, name: string, word: string): void {
  const path = join(directory, name);
  writeFileSync(path, readFileSync(path, "utf8").replace(word, `x${word.slice(1)}`));
}

test("an alteration is reported with its turn, and nothing more is signed", async () => {
  const runner = new Runner();
  for (const [n, text] of ["one", "two", "three"].entries()) {
    await runner.say(text);
    await runner.signer.checkpoint(n + 1);
  }
  await runner.writer.close();
  writeFileSync(runner.path, readFileSync(runner.path, "utf8").replace("two", "2wo"));
  const { valid, failed_at_turn, error } = await runner.signer.verify();
  assert.deepEqual([valid, failed_at_turn], [false, 2]);
  expect(error).toBeTruthy();
  expect(error).not.toContain("2wo");
  appendFileSync(runner.path, `${JSON.stringify({ type: "assistant_text", text: "more" })}\n`);
  await refusal(runner.signer.checkpoint(4), "CHECKPOINT_MISMATCH");
  rmSync(runner.path);
  assert.equal((await runner.signer.verify()).valid, false, "gone, and its head was seen");
});

test("an unreadable trust list is an error, and never taken for valid", async () => {
  const runner = new Runner();
  await runner.say("one");
  await runner.signer.checkpoint(1);
  await runner.writer.close();
  writeFileSync(runner.user.places.trustPath, "{", { mode: 0o600 });
  const { valid, error, report } = await runner.signer.verify();
  assert.deepEqual([valid, report], [false, null]);
  expect(error).toContain("trust.json");
  assert.equal(verifyJson({ a: 1 }), false, "not a promise, which would be true in an if");
});

test.each(Object.entries(SHAPES))(
  "entries are read from verified bytes: strict refuses an unsigned tail, lenient marks it (%s)",
  async (_name, shape) => {
    const user = new SigningUser();
    const written = await user.write(shape, [said("hi"), answered("hello")]);
    const { root, id } = written.target;
    const read = async (policy?: "lenient") => {
      const session = await openVerified(id, { root, ...(policy && { policy }) });
      const entries = [];
      for await (const entry of session.entries()) entries.push(entry);
      session.close();
      return entries.filter(({ kind }) => kind === "message");
    };
    const marks = (await read()).map(({ role, verified }) => [role, verified]);
    assert.deepEqual(marks, [
      ["user", true],
      ["assistant", true],
    ]);
    const store = await user.store({ ...shape, root, sign: false });
    await store.session(id).append(said("slipped in"));
    await store.close();
    await refusal(read(), "NOT_VERIFIED");
    const lenient = await read("lenient");
    assert.deepEqual(
      lenient.map(({ verified }) => verified),
      [true, true, false],
    );

    // A signer records lines as found; that does not vouch for them.
    const signing = await user.store({ ...shape, root });
    await signing.session(id).append(answered("mine"));
    await signing.close();
    await refusal(read(), "NOT_VERIFIED");
    assert.deepEqual(
      (await read("lenient")).map(({ verified }) => verified),
      [true, true, false, true],
    );
  },
);

test("all sessions of a store are in the report, missing ones too", async () => {
  const user = new SigningUser();
  const root = tempDirectory();
  const shape = { dialect: "rye" } as const;
  await user.write(shape, [said("a")], { root, id: "one-1" });
  const gone = await user.write(shape, [said("b")], { root, id: "two-2" });
  rmSync(dirname(gone.path), { recursive: true });
  const reports = await verify([], { root });
  assert.deepEqual(
    reports.map(({ session, verdict }) => [session, verdict]),
    [
      ["one-1", "verified"],
      ["two-2", "rollback"],
    ],
  );
});

test("verifyJson is false for any value that is not a signed object", async () => {
  new SigningUser();
  const { _signature } = await signJson({ a: 1 });
  const odd: unknown[] = [undefined, null, 1, true, [], "", "null", new Uint8Array(3), () => true];
  const others = [{ _signature }, { a: 1, _signature: 1 }, { a: 2, _signature }, { toJSON: 1 }];
  for (const value of [...odd, ...others]) {
    assert.equal(verifyJson(value as string), false);
  }
});

test("any JSON object that can be signed verifies, as an object and as its text", async () => {
  new SigningUser();
  const object = fc.dictionary(fc.string(), fc.jsonValue());
  await fc.assert(
    fc.asyncProperty(object, async (value) => {
      const signed = await signJson(value);
      assert.equal(verifyJson(signed), true);
      const { valid, fp, ts } = inspectJson(JSON.stringify(signed, null, 2));
      assert.deepEqual([valid, typeof fp, typeof ts], [true, "string", "string"]);
      const altered = { ...signed, "another field": 1 };
      assert.equal(verifyJson(altered), false);
      assert.equal(inspectJson(altered).reason, "altered");
    }),
    { numRuns: 60, examples: [[{ big: 1e16, small: 1e-7, long: 2 ** 53 + 2 }]] },
  );
  assert.equal(inspectJson({ a: 1 }).reason, "unsigned");
  assert.equal(inspectJson("{").reason, "malformed");
  await refusal(signJson({ a: Number.NaN }), "UNSIGNABLE_JSON");
});
