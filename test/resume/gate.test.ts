/**
 * The gate before a session is resumed: a signed and whole session passes, others are refused with
 * their verdict and advice, in every dialect (S4-6).
 */

import assert from "node:assert/strict";
import { appendFileSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { handoff, resume } from "../../src/doors/resume.ts";
import { LAST_USER_TEXT } from "../../src/resume/wire-text.ts";
import { startChild } from "../support/child.ts";
import { refusal } from "../support/refusal.ts";
import { SHAPES, SigningUser, said, turnIn, type Written } from "../support/signing-user.ts";
import { settledTreeAt, treeAt } from "../support/tree.ts";

const FOR = { for: "openai-chat" } as const;

function wordsOf({ messages }: { readonly messages: readonly { readonly content: unknown }[] }) {
  return messages.map(({ content }) => content);
}

const THREE = ["turn 1", "turn 1: done", "turn 2", "turn 2: done", "turn 3", "turn 3: done"];

test.each(Object.entries(SHAPES))(
  "a signed session is resumed from its entries, and checkpoints are invisible (%s, S4-6, S4-8)",
  async (_name, shape) => {
    const user = new SigningUser();
    const written = await user.writeTurns(shape, 3);
    const { root, id } = written.target;
    const before = await settledTreeAt(root);
    const resumed = await resume(id, { ...FOR, root });
    assert.deepEqual(wordsOf(resumed), [...THREE, LAST_USER_TEXT]);
    const { report } = resumed;
    assert.deepEqual(
      [report.verdict, report.session, report.unverified, report.head?.at],
      ["verified", id, 0, statSync(written.path).size],
    );
    assert.ok(report.messages.every(({ unverified }) => unverified === undefined));
    const again = await resume(id, { ...FOR, root });
    assert.equal(JSON.stringify(again), JSON.stringify(resumed));
    assert.deepEqual(treeAt(root), before, "resuming writes nothing");
  },
);

/** What an attacker, a crash or a colleague does to a log, and the verdict. */
const HARM: Readonly<Record<string, (written: Written) => void>> = {
  tampered: ({ path }) => {
    writeFileSync(path, readFileSync(path, "utf8").replace("turn 2: done", "turn 2: gone"));
  },
  rollback: ({ path, target, sidecarPath }) => {
    const hasSidecar = target.dialect === "homeagent";
    const lines = readFileSync(hasSidecar ? sidecarPath : path, "utf8").split("\n");
    const last = lines.findLastIndex(
      (line, at) => at < lines.length - 2 && line.includes('"sig2"'),
    );
    const kept = `${lines.slice(0, last + 1).join("\n")}\n`;
    writeFileSync(hasSidecar ? sidecarPath : path, kept);
    if (!hasSidecar) return;
    const { byte_offset: end } = JSON.parse(lines[last] ?? "").payload;
    writeFileSync(path, readFileSync(path).subarray(0, end));
  },
};

test.each(
  Object.entries(SHAPES).flatMap(([name, shape]) => {
    return Object.keys(HARM).map((verdict) => [name, verdict, shape] as const);
  }),
)("%s: a session that is %s is refused, under either policy, with what to do", async (...named) => {
  const [, verdict, shape] = named;
  const user = new SigningUser();
  const written = await user.writeTurns(shape, 3);
  HARM[verdict]?.(written);
  const { root, id } = written.target;
  for (const policy of ["strict", "lenient"] as const) {
    const options = { ...FOR, root, policy, allowUnsigned: true };
    const error = await refusal(resume(id, options), "NOT_VERIFIED");
    assert.equal(error.details.verdict, verdict);
    expect(error.message).toMatch(/restore/);
  }
});

test.each(Object.entries(SHAPES))(
  "unsigned lines pass only leniently, and their messages are reported (%s)",
  async (_name, shape) => {
    const user = new SigningUser();
    const { target } = await user.writeTurns(shape, 1);
    const { root, id } = target;
    const store = await user.store({ ...shape, root, sign: false });
    const session = await store.open(id);
    for (const entry of turnIn(session, "turn 2")) await session.append(entry);
    await store.close();
    const strict = await refusal(resume(id, { ...FOR, root }), "NOT_VERIFIED");
    assert.equal(strict.details.verdict, "incomplete");
    expect(strict.message).toMatch(/--vouch/);
    const { report, ...resumed } = await resume(id, { ...FOR, root, policy: "lenient" });
    assert.deepEqual(wordsOf(resumed), [...THREE.slice(0, 4), LAST_USER_TEXT]);
    const flags = report.messages.map(({ unverified }) => unverified === true);
    assert.deepEqual(flags, [false, false, true, true, false]);
  },
);

test.each(Object.entries(SHAPES))(
  "a session without any signature needs allowUnsigned (%s)",
  async (_name, shape) => {
    const user = new SigningUser();
    const { target } = await user.writeTurns(shape, 1, { sign: false });
    const { root, id } = target;
    for (const policy of ["strict", "lenient"] as const) {
      const error = await refusal(resume(id, { ...FOR, root, policy }), "NOT_VERIFIED");
      assert.equal(error.details.verdict, "unsigned");
      expect(error.message).toMatch(/allowUnsigned/);
    }
    const { report } = await resume(id, { ...FOR, root, allowUnsigned: true });
    assert.equal(report.unverified, report.entries);
    const told = report.messages.filter(({ lines }) => lines.length > 0);
    assert.ok(told.length === 2 && told.every(({ unverified }) => unverified));
  },
);

test("a project may require strict, which overrides lenient", async () => {
  const user = new SigningUser();
  const { target, path } = await user.writeTurns({ dialect: "rye" }, 1);
  const { root, id } = target;
  appendFileSync(
    path,
    '{"ts":"x","type":"user_message","thread_id":"hello-1739012630","text":"go"}\n',
  );
  writeFileSync(`${root}/.verbatim.json`, '{"transcript_integrity":"strict"}');
  await refusal(resume(id, { ...FOR, root, policy: "lenient" }), "NOT_VERIFIED");
});

test("bad lines and a torn end are skipped and reported, and a last line may lack its LF", async () => {
  const user = new SigningUser();
  const { target, path } = await user.writeTurns({ dialect: "homeagent" }, 1, { sign: false });
  const { root, id } = target;
  const line = (content: string) => JSON.stringify({ turnId: "t", role: "user", content, ts: 1 });
  const options = { ...FOR, root, allowUnsigned: true };
  appendFileSync(path, `not JSON\n{"foreign":1}\n${line("whole")}`);
  const whole = await resume(id, options);
  assert.deepEqual(wordsOf(whole).at(-1), "whole");
  const badLines = (report: typeof whole.report) => {
    return report.actions.filter(({ why }) => why === "bad_line").map((each) => each.line);
  };
  assert.deepEqual([badLines(whole.report), whole.report.entries], [[3, 4], 5]);
  appendFileSync(path, `\n${line("torn").slice(0, -5)}`);
  assert.deepEqual(badLines((await resume(id, options)).report), [3, 4, 6]);
});

test("spilled files next to a log are restored", async () => {
  const user = new SigningUser();
  const long = "x".repeat(9 * 1024 * 1024);
  const { target } = await user.write({ dialect: "entire" }, [said("short"), said(long)]);
  const { messages } = await resume(target.id, { ...FOR, root: target.root });
  assert.ok(messages[1]?.content === long);
});

test("a session that another process writes is refused, unless a snapshot is requested", async () => {
  const user = new SigningUser();
  const { target, path } = await user.writeTurns({ dialect: "rye" }, 1);
  const { root, id } = target;
  const holder = startChild("test/support/lock-holder.ts", `${path}.lock`);
  assert.equal(await holder.line(), "held");
  const busy = await refusal(resume(id, { ...FOR, root }), "SESSION_BUSY");
  assert.equal(busy.details.session, id);
  expect(busy.message).toMatch(/snapshot/);
  const resumed = await resume(id, { ...FOR, root, snapshot: true });
  assert.deepEqual(wordsOf(resumed), [...THREE.slice(0, 2), LAST_USER_TEXT]);
  await holder.kill();
  await resume(id, { ...FOR, root });
});

test("a session that this process has open can be resumed", async () => {
  const user = new SigningUser();
  const store = await user.store({ dialect: "homeagent", root: user.home, sign: false });
  const session = await store.create({ agent: "kitchen" });
  await session.append(said("go"));
  const resumed = await resume(session, { ...FOR, allowUnsigned: true });
  assert.deepEqual(wordsOf(resumed), ["go"]);
  await store.close();
});

test.each([FOR, { ...FOR, snapshot: true }])(
  "a session that was never appended to is not found, also if its store does not exist (%o)",
  async (options) => {
    const user = new SigningUser();
    for (const root of [user.home, `${user.home}/missing`]) {
      const store = await user.store({ root });
      const { details } = await refusal(resume(store.session("new"), options), "SESSION_NOT_FOUND");
      assert.match(details.session, /new/);
      await refusal(handoff(store.session("new")), "SESSION_NOT_FOUND");
      await store.close();
      const byId = await refusal(resume("new", { ...options, root }), "SESSION_NOT_FOUND");
      assert.match(byId.message, /missing; check the root|no session new/);
      await refusal(handoff("new", { root }), "SESSION_NOT_FOUND");
    }
  },
);
