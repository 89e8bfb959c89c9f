/** `verbatim record --sign`, `verify` and `doctor --fix --vouch`: what a person and a script see. */

import assert from "node:assert/strict";
import {
  appendFileSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { asLines, CliUser, jsonLines } from "./cli.ts";
import { event, put, putThread } from "./stores.ts";

const ID = "hello-1739012630";

class SigningCliUser extends CliUser {
  readonly path = join(this.cwd, ".ai/threads", ID, "transcript.jsonl");

  /** Records turns of a rye thread, signed. */
  async record(texts: readonly string[], id = ID, ...more: string[]): Promise<void> {
    const turns = texts.flatMap((text) => [
      { type: "step_start" },
      { type: "assistant_text", text },
    ]);
    const args = ["record", "--dialect", "rye", "--directive", "hello", "--session", id, ...more];
    const input = turns.map((turn) => `${JSON.stringify(turn)}\n`).join("");
    const { code, stderr } = await this.run(args, { input });
    // Of a log that was put back, the markdown has more.
    const kept =
      /^warning: transcript\.md of \S+ had other content than its log; it is kept in \S+\n/;
    assert.deepEqual([code, stderr.replace(kept, "")], [0, ""]);
  }

  async verify(...args: string[]) {
    return this.run(["verify", ...args]);
  }

  async verdict(...args: string[]): Promise<[unknown, number | null]> {
    const { code, stdout } = await this.verify(...args, "--json");
    return [jsonLines(stdout)[0]?.verdict, code];
  }

  change(from: string, to: string, path = this.path): void {
    writeFileSync(path, readFileSync(path, "utf8").replace(from, to));
  }
}

test("a recorded session is verified, and an alteration is reported with its turn", async () => {
  const user = new SigningCliUser();
  await user.record(["first", "second", "third"], ID, "--sign");
  const good = await user.verify(ID);
  assert.deepEqual([good.code, good.stderr], [0, ""]);
  expect(good.stdout).toMatch(/^hello-1739012630: verified: 3 turns, nothing missing; it ends/);
  expect(good.stdout).toMatch(/\n {2}signed by you \([0-9a-f]{64}\), 20\S+Z\n$/);

  user.change("second", "2econd");
  const bad = await user.verify(ID);
  assert.equal(bad.code, 1);
  const [headline = ""] = bad.stdout.split("\n");
  expect(headline).toMatch(
    /: tampered: bytes [\d,]+ to [\d,]+ \(turn 2\) were changed after signing; verified to turn 1$/,
  );
  expect(bad.stdout).not.toContain("2econd");
  const [report] = jsonLines((await user.verify(ID, "--json", "--deep")).stdout);
  assert.equal(report?.schema, "verbatim.verify/1");
  expect(report?.bad_range).toMatchObject({ turns: [2] });
});

test("every verdict has its exit code, and flags change only the code", async () => {
  const user = new SigningCliUser();
  await user.record(["one"], ID, "--sign", "append");
  const bytes = readFileSync(user.path);
  appendFileSync(user.path, `${JSON.stringify({ ...event("x"), thread_id: ID })}\n`);
  assert.deepEqual(await user.verdict(ID), ["incomplete", 5]);
  assert.deepEqual(await user.verdict(ID, "--lenient"), ["incomplete", 0]);
  assert.deepEqual(await user.verdict(ID, "--allow-unsigned"), ["incomplete", 5]);
  put(join(user.cwd, "coordination.yaml"), "transcript_integrity: strict\n");
  assert.deepEqual(await user.verdict(ID, "--lenient"), ["incomplete", 5], "the project insists");

  putThread(user.cwd, "plain-1");
  assert.deepEqual(await user.verdict("plain-1"), ["unsigned", 3]);
  assert.deepEqual(await user.verdict("plain-1", "--allow-unsigned"), ["unsigned", 0]);
  assert.deepEqual(await user.verdict("nothing-1"), [undefined, 7]);

  writeFileSync(user.path, bytes.subarray(0, bytes.indexOf("\n", bytes.indexOf("genesis")) + 1));
  assert.deepEqual(await user.verdict(ID, "--lenient"), ["rollback", 6]);
  rmSync(dirname(user.path), { recursive: true });
  assert.deepEqual(await user.verdict(ID), ["rollback", 6], "gone, and seen before");

  put(user.path, bytes);
  const stranger = new SigningCliUser();
  put(stranger.path, bytes);
  assert.deepEqual(await stranger.verdict(ID), ["untrusted", 4]);
  assert.equal((await user.verify("--profile", "python", ID)).code, 2);
});

test("a directory or no argument means all sessions there, and the worst verdict sets the exit code", async () => {
  const user = new SigningCliUser();
  await user.record(["one"], ID, "--sign");
  await user.record(["two"], "other-1739012631", "--sign");
  const all = await user.verify(".ai/threads", "--json");
  assert.deepEqual(
    [all.code, jsonLines(all.stdout).map(({ verdict }) => verdict)],
    [0, ["verified", "verified"]],
  );
  user.change("two", "2wo", user.path.replace(ID, "other-1739012631"));
  const { code, stdout } = await user.verify();
  assert.equal(code, 1);
  expect(stdout).toContain(`${ID}: verified`);
  expect(stdout).toContain("other-1739012631: tampered");
});

test("heads are stored on request, and heads of another machine are used", async () => {
  const user = new SigningCliUser();
  await user.record(["one"], ID, "--sign");
  await user.run(["keys", "head", "export", "pins.jsonl"]);
  copyFileSync(user.path, join(user.cwd, "copy.jsonl"));
  await user.run(["keys", "head", "forget", ID]);
  assert.deepEqual(await user.verdict(ID, "--require-pin"), ["unpinned", 6]);
  assert.deepEqual(await user.verdict(ID, "--require-pin", "--against", "pins.jsonl"), [
    "verified",
    0,
  ]);
  assert.deepEqual(await user.verdict(ID, "--pin"), ["verified", 0]);
  assert.deepEqual(await user.verdict(ID, "--require-pin"), ["verified", 0]);

  const outside = await user.verify("copy.jsonl");
  assert.equal(outside.code, 0);
  expect(outside.stdout).toContain("IDENTITY_UNKNOWN");

  put(join(user.home, ".config/verbatim/trust.json"), "{");
  const refused = await user.verify(ID);
  assert.equal(refused.code, 7);
  expect(refused.stderr).toContain("TRUST_REFUSED");
});

test("a failure to store requested heads is an error", async () => {
  const user = new SigningCliUser();
  const other = "hello-1739012631";
  for (const id of [ID, other]) await user.record(["one"], id, "--sign");
  const lock = join(user.home, ".local/state/verbatim/heads.lock");
  rmSync(lock);
  mkdirSync(lock); // This fails for root, too.
  const { code, stdout, stderr } = await user.verify(ID, "--pin");
  assert.equal(code, 7, stderr);
  expect(stdout).toContain(`${ID}: verified`);
  expect(stderr).toMatch(/^error: .*state\/verbatim is a directory.*\(IO_ERROR\)\n$/);
  assert.deepEqual(await user.verdict(ID), ["verified", 0], "nothing was to be written");

  user.change("one", "uno");
  const both = await user.verify(ID, other, "--pin");
  assert.equal(both.code, 1, "that one is tampered with is said first");
  expect(both.stderr).toContain("could not be pinned");
});

test("heads of another machine are added to the user's own and replace none of them", async () => {
  const user = new SigningCliUser();
  await user.record(["one"], ID, "--sign");
  const older = readFileSync(user.path);
  await user.record(["two"], ID, "--sign");
  writeFileSync(user.path, older);
  await user.run(["keys", "head", "accept", ID, "--yes"]);
  await user.run(["keys", "head", "export", "pins.jsonl"]);
  await user.record(["three"], ID, "--sign");
  const newer = readFileSync(user.path);
  writeFileSync(user.path, older);
  const pins = readFileSync(join(user.cwd, "pins.jsonl"), "utf8");
  expect(pins).toContain('"why":"accepted"');
  put(join(user.cwd, "forgotten.jsonl"), pins.replace('"accepted"', '"forgotten"'));
  for (const file of ["pins.jsonl", "forgotten.jsonl"]) {
    assert.deepEqual(await user.verdict(ID, "--against", file), ["rollback", 6], file);
  }

  writeFileSync(user.path, newer);
  assert.deepEqual(await user.verdict(ID, "--against", "pins.jsonl"), ["verified", 0]);
  const ofAnother = pins.replace(/"log":"\w{8}/, '"log":"00000000');
  put(join(user.cwd, "another.jsonl"), ofAnother);
  const conflict = await user.verify(ID, "--against", "another.jsonl");
  assert.equal(conflict.code, 6, "no log has both heads");
  expect(conflict.stderr).toMatch(/^warning: conflict: hello-1739012630 .*they are of two logs/);
});

test("sessions next to the files of a server's data directory are verified, too", async () => {
  const user = new SigningCliUser();
  const data = join(user.cwd, "data");
  const server = user.start(["serve", "--port", "0", "--data", data, "--root", user.cwd]);
  await server.line();
  server.signal("SIGTERM");
  assert.equal(await server.exitCode(), 0);
  assert.deepEqual(await user.verdict(data), [undefined, 2], "nothing was judged");

  await user.record(["one"], ID, "--sign");
  cpSync(data, user.cwd, { recursive: true });
  assert.deepEqual(await user.verdict("."), ["verified", 0]);
  user.change("one", "0ne");
  assert.deepEqual(await user.verdict("."), ["tampered", 1]);
});

test("a single log in a directory does not replace the verdict on all sessions there", async () => {
  const user = new SigningCliUser();
  await user.record(["one"], ID, "--sign");
  copyFileSync(user.path, join(user.cwd, "transcript.jsonl"));
  user.change("one", "0ne");
  const { code, stdout } = await user.verify(".", "--json");
  assert.equal(code, 1);
  assert.deepEqual(
    jsonLines(stdout).map(({ verdict }) => verdict),
    ["verified", "tampered"],
  );
});

test("sessions of a deleted store are reported as rollback, however the store is named", async () => {
  const user = new SigningCliUser();
  await user.record(["one"], ID, "--sign");
  const entire = ["record", "--dialect", "entire", "--model", "m", "--sign"];
  await user.run(entire, { input: asLines({ type: "user", message: { content: "hi" } }) });
  rmSync(join(user.cwd, ".ai"), { recursive: true });
  const ways = [
    [],
    ["--root", "."],
    ["."],
    ["--root", user.cwd, "--dialect", "rye"],
    [".ai/threads"],
  ];
  for (const way of ways) assert.deepEqual(await user.verdict(...way), ["rollback", 6], `${way}`);

  rmSync(join(user.cwd, ".entire"), { recursive: true });
  const { code, stdout } = await user.verify("--json");
  assert.equal(code, 6);
  assert.equal(jsonLines(stdout).length, 2);
});

test("a flag that allows a finding of one session hides no finding of another", async () => {
  const user = new SigningCliUser();
  await user.record(["one"], ID, "--sign", "append");
  putThread(user.cwd, "plain-1");
  assert.deepEqual((await user.verify("--allow-unsigned")).code, 0);
  assert.deepEqual((await user.verify("--require-pin")).code, 3);
  appendFileSync(user.path, `${JSON.stringify({ ...event("x"), thread_id: ID })}\n`);
  assert.deepEqual((await user.verify("--allow-unsigned")).code, 5);
  assert.deepEqual((await user.verify("--lenient")).code, 3);
  assert.deepEqual((await user.verify("--lenient", "--allow-unsigned")).code, 0);
  await user.run(["keys", "head", "forget", ID]);
  assert.deepEqual((await user.verify("--allow-unsigned", "--require-pin")).code, 6);

  const strict = join(user.cwd, "strict");
  cpSync(join(user.cwd, ".ai/threads", ID), join(strict, ".ai/threads", ID), { recursive: true });
  put(join(strict, "coordination.yaml"), "transcript_integrity: strict\n");
  assert.deepEqual((await user.verify(ID, "--lenient")).code, 0);
  assert.deepEqual((await user.verify(ID, strict, "--lenient")).code, 5, "one project insists");
});

test("an unreadable project setting is an error, and reported as one", async () => {
  const user = new SigningCliUser();
  await user.record(["one"], ID, "--sign");
  put(join(user.cwd, ".verbatim.json"), "{bad");
  const { code, stdout, stderr } = await user.verify("--lenient");
  assert.deepEqual([code, stdout], [7, ""]);
  expect(stderr).toMatch(/^error: transcript_integrity in .*is refused.*\(BAD_SETTING\)\n$/);
});

test("unsigned lines are shown and vouched for, and then the session is verified", async () => {
  const user = new SigningCliUser();
  await user.record(["one"], ID, "--sign");
  appendFileSync(
    user.path,
    `${JSON.stringify({ ...event("x", { text: "a\u001b[31m" }), thread_id: ID })}\n`,
  );
  await user.record(["two"], ID, "--sign"); // Records the line as found.
  appendFileSync(user.path, `${JSON.stringify({ ...event("y"), thread_id: ID })}\n`);
  assert.deepEqual(await user.verdict(ID), ["incomplete", 5]);

  assert.equal(
    (await user.run(["doctor", "--fix", "--vouch", ID])).code,
    2,
    "there is no terminal to ask at",
  );
  const declined = await user.atTerminal(["doctor", "--fix", "--vouch", ID], { typed: "n\n" });
  assert.equal(declined.code, 1);
  const { code, stdout, stderr } = await user.run(["doctor", "--fix", "--vouch", "--yes", ID]);
  assert.deepEqual([code, stderr], [0, ""]);
  expect(stdout).toContain('"type":"x"');
  expect(stdout).toContain('"type":"y"');
  expect(stdout).not.toContain("\u001b");
  expect(stdout).toContain(`vouched for 2 lines of ${ID}`);
  assert.deepEqual(await user.verdict(ID), ["verified", 0]);
  const again = await user.run(["doctor", "--fix", "--vouch", "--yes", ID]);
  assert.equal(again.stdout, `${ID}: every line is signed\n`);

  user.change("one", "0ne");
  const altered = await user.run(["doctor", "--fix", "--vouch", "--yes", ID]);
  assert.equal(altered.code, 1, "what was altered cannot be vouched for");
});

test("a session that was never signed is signed after a person has seen it", async () => {
  const user = new SigningCliUser();
  putThread(user.cwd, ID, [{ ...event("user_message", { text: "hi" }), thread_id: ID }]);
  const prove = ["redact", "prove", ID, "--entry", "1", "-o", "hi.vbp"];
  assert.match((await user.run(prove)).stderr, /`doctor --fix --vouch` signs one of your own/);
  const { code, stdout } = await user.run(["doctor", "--fix", "--vouch", "--yes", ID]);
  assert.deepEqual([code, stdout.includes("vouched for 1 line")], [0, true]);
  assert.deepEqual(await user.verdict(ID), ["verified", 0]);
  assert.equal((await user.run(prove)).stdout, "hi.vbp: verified: 1 line\n");
});

test("after an accepted rollback, the next append records what was lost", async () => {
  const user = new SigningCliUser();
  await user.record(["one"], ID, "--sign");
  const old = readFileSync(user.path);
  await user.record(["two"], ID, "--sign");
  writeFileSync(user.path, old);
  assert.deepEqual(await user.verdict(ID), ["rollback", 6]);
  assert.equal((await user.run(["keys", "head", "accept", "--yes", ID])).code, 0);
  await user.record(["three"], ID, "--sign", "append");
  const lines = jsonLines(readFileSync(user.path, "utf8").slice(old.length));
  const { kind, lost } = (lines[0]?.payload ?? {}) as { kind?: string; lost?: { seq: number } };
  assert.equal(kind, "recovery");
  assert.ok(lost && lost.seq > 0);
  assert.deepEqual(await user.verdict(ID), ["verified", 0]);
});

test.each([
  [
    "homeagent",
    ["--agent", "kitchen"],
    { turnId: "1", role: "user", content: "hi", ts: 1 },
    "kitchen/s1",
  ],
  ["entire", ["--model", "m"], { type: "user", message: { content: "hi" } }, "s1"],
] as const)("sessions of %s are signed too", async (dialect, args, native, id) => {
  const user = new SigningCliUser();
  const root = ["--root", join(user.cwd, "store"), "--dialect", dialect];
  const session = dialect === "entire" ? "2026-02-10-a1b2c3d4-e5f6-4890-abcd-ef1234567890" : "s1";
  const input = `${JSON.stringify(native)}\n`;
  const ran = await user.run(["record", ...root, ...args, "--session", session, "--sign"], {
    input,
  });
  assert.deepEqual([ran.code, ran.stderr], [0, ""]);
  assert.deepEqual(await user.verdict(...root, dialect === "entire" ? session : id), [
    "verified",
    0,
  ]);
});
