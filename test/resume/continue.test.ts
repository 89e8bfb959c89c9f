/** Continuing from what was resumed: the report in the log, and forks that name their parent. */

import assert from "node:assert/strict";
import { appendFileSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { test } from "vitest";
import type { NewEntry } from "../../src/core/model/entry.ts";
import { continueSession, type RepairReport, resume } from "../../src/doors/resume.ts";
import { verify } from "../../src/doors/signing.ts";
import { continueResumed, RECORDED_ACTIONS_MAX, reportEntry } from "../../src/resume/continue.ts";
import { LAST_USER_TEXT, UNCERTAIN_RESULT } from "../../src/resume/wire-text.ts";
import type { Session } from "../../src/sessions/store/store-api.ts";
import { refusal } from "../support/refusal.ts";
import {
  ALL_SHAPES,
  answered,
  SHAPES,
  SigningUser,
  said,
  turnIn,
  turnOf,
} from "../support/signing-user.ts";
import { settledTreeAt } from "../support/tree.ts";
import { WatchedFiles } from "../support/watched-files.ts";

const FOR = { for: "openai-chat" } as const;

const DANGLING: NewEntry = {
  kind: "message",
  role: "assistant",
  parts: [{ type: "tool_call", callId: "c1", tool: "deploy", input: {} }],
};

function wordsOf({ messages }: { readonly messages: readonly { readonly content: unknown }[] }) {
  return messages.map(({ content }) => content);
}

/** The reports in a session. */
async function reportsIn(session: Session): Promise<Record<string, unknown>[]> {
  const reports: Record<string, unknown>[] = [];
  for await (const { parts, role } of session.entries()) {
    for (const part of parts) {
      const native = part.type === "other" ? (part.native as Record<string, unknown>) : null;
      if (role === "system" && native?.type === "resume_report") reports.push(native);
    }
  }
  return reports;
}

test.each(Object.entries(SHAPES))(
  "a session continues with the report in it, signed, and not sent when it is resumed again (%s)",
  async (_name, shape) => {
    const user = new SigningUser();
    const { target } = await user.write(shape, [
      ...turnOf("one"),
      { kind: "turn_start" },
      DANGLING,
    ]);
    const { root, id } = target;
    const resumed = await resume(id, { ...FOR, root });
    assert.equal(wordsOf(resumed).at(-1), `Error: ${UNCERTAIN_RESULT}`);

    const store = await user.store({ ...shape, root });
    const { session } = await continueSession(store, resumed);
    await session.append(said("look first"));
    await session.append(answered("it ran"));
    await store.close();

    const [report, ...more] = await reportsIn(store.session(id));
    assert.deepEqual(more, []);
    assert.deepEqual(
      [report?.session, report?.verdict, report?.counts],
      [id, "verified", resumed.report.actions.reduce(counted, {})],
    );
    assert.equal((await verify(id, { root })).verdict, "verified");
    const again = await resume(id, { ...FOR, root });
    assert.deepEqual(wordsOf(again).slice(-3), ["look first", "it ran", LAST_USER_TEXT]);
    assert.ok(again.report.actions.some(({ why }) => why === "resume_report"));
  },
);

function counted(
  counts: Record<string, number>,
  { why, lines = 1 }: { why: string; lines?: number },
) {
  return { ...counts, [why]: (counts[why] ?? 0) + lines };
}

test("a session that has grown since it was resumed is not continued from there", async () => {
  const user = new SigningUser();
  const { target } = await user.writeTurns({ dialect: "homeagent" }, 1);
  const { root, id } = target;
  const resumed = await resume(id, { ...FOR, root });
  const store = await user.store({ dialect: "homeagent", root });
  const { session } = await continueSession(store, resumed);
  await session.close();
  await refusal(continueSession(store, resumed), "SESSION_BUSY");
  await store.close();
});

test.each(Object.entries(ALL_SHAPES))(
  "a session whose unsigned end was swapped for other bytes as long is not continued (%s)",
  async (_name, shape) => {
    const user = new SigningUser();
    const { target, path } = await user.writeTurns(shape, 1);
    const { root, id } = target;
    const silent = await user.store({ ...shape, root, sign: false });
    await silent.session(id).append(said("the real words"));
    await silent.close();
    const resumed = await resume(id, { ...FOR, root, policy: "lenient" });
    assert.ok(JSON.stringify(resumed.messages).includes("the real words"));
    const swapped = readFileSync(path);
    swapped.write("the fake words", swapped.lastIndexOf("the real words"));
    writeFileSync(path, swapped);
    const store = await user.store({ ...shape, root });
    await refusal(continueSession(store, resumed), "SESSION_BUSY");
    const again = await resume(id, { ...FOR, root, policy: "lenient" });
    await continueSession(store, again);
    await store.close();
  },
);

test.each(Object.entries(ALL_SHAPES))(
  "a session that has grown since it was resumed is refused, and no file of it changes (%s)",
  async (_name, shape) => {
    const user = new SigningUser();
    const { target, path } = await user.writeTurns(shape, 1);
    const { root, id } = target;
    const resumed = await resume(id, { ...FOR, root });
    const silent = await user.store({ ...shape, root, sign: false });
    await silent.session(id).append(said("in between"));
    await silent.close();
    // A torn end, which opening to append would cut.
    appendFileSync(path, '{"torn":"');
    const before = await settledTreeAt(root);
    const store = await user.store({ ...shape, root });
    await refusal(continueSession(store, resumed), "SESSION_BUSY");
    await store.close();
    assert.deepEqual(await settledTreeAt(root), before);
  },
);

test.each(Object.entries(ALL_SHAPES))(
  "a session that grows before continueSession has its lock is refused, and gets no checkpoint (%s)",
  async (_name, shape) => {
    const user = new SigningUser();
    const { target, path } = await user.writeTurns(shape, 1);
    const { root, id } = target;
    const resumed = await resume(id, { ...FOR, root });
    const before = readFileSync(path);
    const silent = await user.store({ ...shape, root, sign: false });
    await silent.session(id).append(said("in between"));
    await silent.close();
    const grown = readFileSync(path);
    const { signed_through: through, verdict } = await verify(id, { root });
    truncateSync(path, before.length);

    // The line comes once the log was hashed, and before it is opened to append.
    const disk = new WatchedFiles();
    disk.before = ({ call, name }) => {
      if (call !== "close" || name !== basename(path) || disk.made(call, name).length > 1) return;
      appendFileSync(path, grown.subarray(before.length));
    };
    const store = await user.store({ ...shape, root });
    await refusal(continueResumed(disk.host, store, resumed), "SESSION_BUSY");
    await store.close();
    assert.equal(disk.made("close", basename(path)).length, 2);
    assert.ok(readFileSync(path).equals(grown));
    const after = await verify(id, { root });
    assert.deepEqual([after.signed_through, after.verdict], [through, verdict]);
  },
);

/** Longer than the next message: after the cut, the file does not grow by that. */
const LONG = "x".repeat(64 * 1024);
const TORN = {
  "half a line": `{"torn":"${LONG}`,
  "a hole": `{"torn":"${LONG}\0\n`,
  "all but an LF": `{"whole":"${LONG}"}`,
};

test.each(Object.entries(TORN))(
  "of two processes that resumed a session with a torn end only one continues it (%s)",
  async (_name, torn) => {
    const user = new SigningUser();
    const { target, path } = await user.writeTurns({ dialect: "homeagent" }, 1, { sign: false });
    appendFileSync(path, torn);
    const { root, id } = target;
    const options = { ...FOR, root, allowUnsigned: true } as const;
    const [ada, ben] = [await resume(id, options), await resume(id, options)];
    const store = await user.store({ dialect: "homeagent", root, sign: false });
    const { session } = await continueSession(store, ben);
    await session.append(said("go on"));
    await session.close();
    await refusal(continueSession(store, ada), "SESSION_BUSY");
    await store.close();
  },
);

test.each(Object.entries(ALL_SHAPES))(
  "a session with a torn end continues from its last whole line (%s)",
  async (_name, shape) => {
    const user = new SigningUser();
    const { target, path } = await user.writeTurns(shape, 1);
    const { root, id } = target;
    for (const torn of ['{"torn":"', "\0\n"]) {
      appendFileSync(path, torn);
      const resumed = await resume(id, { ...FOR, root, policy: "lenient" });
      const store = await user.store({ ...shape, root });
      await continueSession(store, resumed);
      await store.close();
    }
    const store = await user.store({ ...shape, root });
    assert.equal((await reportsIn(store.session(id))).length, 2);
    await store.close();
  },
);

test("a session whose torn end another process repaired can be continued", async () => {
  const user = new SigningUser();
  const { target, path } = await user.writeTurns({ dialect: "homeagent" }, 1);
  const { root, id } = target;
  appendFileSync(path, '{"torn":"');
  const resumed = await resume(id, { ...FOR, root, policy: "lenient" });
  const other = await user.store({ dialect: "homeagent", root });
  await (await other.open(id)).openToAppend();
  await other.close();
  const store = await user.store({ dialect: "homeagent", root });
  const { session } = await continueSession(store, resumed);
  assert.equal((await reportsIn(session)).length, 1);
  await store.close();
});

test.each(Object.entries(SHAPES))(
  "continuing from a turn is a fork that names its parent and the signed head (%s)",
  async (_name, shape) => {
    const user = new SigningUser();
    const { target, path } = await user.writeTurns(shape, 3);
    const { root, id } = target;
    const resumed = await resume(id, { ...FOR, root, upTo: 2 });
    const words = ["turn 1", "turn 1: done", "turn 2", "turn 2: done"];
    // rye's turns begin with its own event: the prompt before that is included, without an answer.
    const asked = wordsOf(resumed).filter((word) => word !== LAST_USER_TEXT);
    assert.deepEqual(asked.slice(0, 4), words);
    assert.ok(!asked.includes("turn 3: done"));
    const before = readFileSync(path);
    const { signed_through: through, log } = await verify(id, { root });

    const store = await user.store({ ...shape, root });
    const forkId = shape.dialect === "homeagent" ? "kitchen/fork" : "hello-1739012999";
    const { session, notLinked } = await continueSession(store, resumed, { id: forkId });
    await session.append(said("otherwise"));
    await store.close();

    const after = readFileSync(path);
    assert.deepEqual(after.subarray(0, before.length), before);
    const added = after.subarray(before.length).toString().split("\n").slice(0, -1);
    assert.ok(
      added.every((line) => line.includes('"kind":"link"')),
      "no line but a checkpoint",
    );
    assert.equal(notLinked, null);
    const [report] = await reportsIn(store.session(forkId));
    assert.deepEqual(report?.fork, { parent: id, turn: 2 });
    assert.deepEqual(report?.head, {
      log,
      seq: through?.seq,
      line: through?.line,
      at: resumed.report.head?.at,
    });
    assert.equal((await verify(forkId, { root })).verdict, "verified");
    const forked = await resume(forkId, { ...FOR, root });
    assert.deepEqual(wordsOf(forked), [...asked, "otherwise"]);
    if (shape.dialect !== "rye") return;
    const meta = JSON.parse(readFileSync(join(dirname(session.path), "thread.json"), "utf8"));
    assert.equal(meta.parent_thread_id, id);
  },
);

test("a turn that does not exist is refused, with the number of turns", async () => {
  const user = new SigningUser();
  const { target } = await user.writeTurns({ dialect: "entire" }, 2);
  const { root, id } = target;
  for (const upTo of [0, -1, 1.5, Number.NaN]) {
    await refusal(resume(id, { ...FOR, root, upTo }), "BAD_SETTING");
  }
  const error = await refusal(resume(id, { ...FOR, root, upTo: 3 }), "TURN_NOT_FOUND");
  assert.deepEqual(error.details, { session: id, turn: 3, turns: 2 });
  const last = await resume(id, { ...FOR, root, upTo: 2, prompt: null });
  assert.deepEqual(wordsOf(last), wordsOf(await resume(id, { ...FOR, root, prompt: null })));
});

test("unsigned lines are not copied into a fork, where they would be signed", async () => {
  const user = new SigningUser();
  const { target } = await user.writeTurns({ dialect: "homeagent" }, 1);
  const { root, id } = target;
  const unsigned = await user.store({ dialect: "homeagent", root, sign: false });
  const session = await unsigned.open(id);
  for (const text of ["two", "three"]) {
    for (const entry of turnIn(session, text)) await session.append(entry);
  }
  await unsigned.close();
  const store = await user.store({ dialect: "homeagent", root });
  const options = { ...FOR, root, policy: "lenient" } as const;
  const laundered = await resume(id, { ...options, upTo: 2 });
  const error = await refusal(continueSession(store, laundered), "NOT_VERIFIED");
  assert.match(error.message, /--vouch/);
  const honest = await resume(id, { ...options, upTo: 1 });
  await continueSession(store, honest, { id: "kitchen/fork" });
  await store.close();
  assert.equal((await verify("kitchen/fork", { root })).verdict, "verified");
});

test("a report in the log has a limit, and counts the rest", () => {
  const actions = Array.from({ length: RECORDED_ACTIONS_MAX + 1 }, (_, at) => {
    return { action: "left_out", why: "blank", line: at, offset: at } as const;
  });
  const kept = (count: number) => {
    const report = { actions: actions.slice(0, count), messages: [] } as unknown as RepairReport;
    const [part] = reportEntry(report).parts ?? [];
    const { actions: told, actionsInAll } = (part as { native: Record<string, unknown> }).native;
    return [(told as unknown[]).length, actionsInAll];
  };
  assert.deepEqual(kept(RECORDED_ACTIONS_MAX), [RECORDED_ACTIONS_MAX, undefined]);
  assert.deepEqual(kept(RECORDED_ACTIONS_MAX + 1), [
    RECORDED_ACTIONS_MAX,
    RECORDED_ACTIONS_MAX + 1,
  ]);
});
