/** The history of a program: which sessions it finds, how it stops, and what it refuses. */

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { type History, openHistory } from "../../src/doors/history.ts";
import { answerRow, promptRow, writeClaude } from "../support/agent-home.ts";
import { refusal, thrownRefusal } from "../support/refusal.ts";
import { SigningUser, said } from "../support/signing-user.ts";
import { historyHome } from "./home.ts";

async function allOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

const namesIn = async (history: History, filter = {}) =>
  (await allOf(history.sessions(filter))).map(({ name }) => name);

/** For JavaScript callers, without a compiler's checks. */
// biome-ignore lint/suspicious/noExplicitAny: what a compiler would refuse is what is tried here.
type Untyped = any;

test("sessions are those of all agents and of the stores above the directory, newest first", async () => {
  const { project } = await historyHome();
  const history = openHistory({ cwd: project });

  assert.deepEqual(await namesIn(history), ["thread-2", "s1"]);
  assert.deepEqual(await namesIn(history, { limit: 1 }), ["thread-2"]);
  assert.deepEqual(await namesIn(history, { sort: "id" }), ["s1", "thread-2"]);
  assert.deepEqual(await namesIn(openHistory({ cwd: project, agents: ["Claude Code"] })), ["s1"]);
  assert.deepEqual(await namesIn(openHistory({ cwd: "/", roots: [project] })), ["thread-2"]);
});

test("a filter means a session by its agent, project, title, model, status and time", async () => {
  const { project } = await historyHome();
  const history = openHistory({ cwd: project });
  const day = { since: "2026-11-02", until: "2026-11-02" };

  for (const [filter, names] of [
    [{ agent: "claude code" }, ["s1"]],
    [{ project: "." }, ["thread-2"]],
    [{ project: "app" }, ["s1"]],
    [{ project: "/home/me" }, ["s1"]],
    [{ title: "WEBHOOK" }, ["s1"]],
    [{ model: "claude-opus-4-5-20251101" }, ["s1"]],
    [{ model: "another" }, []],
    [{ status: "error" }, []],
    [day, ["s1"]],
    [{ ...day, until: "2026-11-02T10:00:00Z" }, []],
  ] as const) {
    assert.deepEqual(await namesIn(history, filter), names, JSON.stringify(filter));
  }
});

test("notes are the user's: they rename, tag and star a session, and its file stays", async () => {
  const { home, project } = await historyHome();
  const history = openHistory({ cwd: project });
  const path = join(home, ".claude/projects/-home-me-app/s1.jsonl");
  const before = readFileSync(path);
  await history.annotate("s1", { starred: true, title: "Mine", tags: ["bug"] });
  await history.annotate("s1", { note: "Look here" }, { entry: 0 });
  await history.annotate("thread-2", { tags: ["bug"] });

  assert.ok(readFileSync(path).equals(before));
  const { starred, title, tags, note, entries } = await history.notes("s1");
  assert.deepEqual(
    { starred, title, tags, note },
    { starred: true, title: "Mine", tags: ["bug"], note: null },
  );
  assert.deepEqual(
    entries.map(({ start, note, isChanged }) => [start, note, isChanged]),
    [[0, "Look here", false]],
  );
  const [session] = await allOf(history.sessions({ starred: true }));
  assert.deepEqual(
    [session?.name, session?.title, session?.recordedTitle, session?.starred, session?.tags],
    ["s1", "Mine", "Why does the webhook fail?", true, ["bug"]],
  );
  assert.deepEqual(await namesIn(history, { tag: "bug" }), ["thread-2", "s1"]);
  assert.deepEqual(await namesIn(history, { tag: "bu" }), []);
  for (const part of ["min", "webhook"]) {
    assert.deepEqual(await namesIn(history, { title: part }), ["s1"], part);
  }
  assert.equal((await (await history.get("s1")).summary())?.title, "Mine");
  const [found] = await allOf(history.search("webhook", { tag: "bug" }));
  assert.equal(found?.title, "Mine");
  const hits = await allOf(history.search("look -tag:other tag:bug"));
  assert.deepEqual(
    hits.map((hit) => [hit.session.endsWith("s1"), hit.isNote, hit.start, hit.role]),
    [[true, true, 0, null]],
  );
  assert.deepEqual(await allOf(history.search("look -tag:bug")), []);

  for (const entry of [1, before.length, before.length + 9]) {
    const call = history.annotate("s1", { starred: true }, { entry });
    assert.equal((await refusal(call, "BAD_NOTE")).details.field, "entry");
  }
  writeFileSync(path, before.toString().replace("webhook", "WEBHOOK"));
  assert.equal((await history.notes("s1")).entries[0]?.isChanged, true);
});

test("search, usage and scan take the filters of the commands", async () => {
  const { project } = await historyHome();
  const history = openHistory({ cwd: project });
  for (const [filter, isMeant] of [
    [{ agent: "claude code" }, true],
    [{ agent: "codex" }, false],
    [{ project: "APP" }, true],
    [{ project: "=app" }, false],
    [{ model: "OPUS" }, true],
    [{ model: "gpt" }, false],
    [{ since: "2026-11-02", until: "2026-11-02" }, true],
    [{ since: "2026-11-03" }, false],
    [{ until: "2026-11-01" }, false],
  ] as const) {
    const ways = { search: [] as string[], scan: [] as string[], usage: [] as string[] };
    for await (const { session } of history.search("webhook", filter)) ways.search.push(session);
    for await (const { session } of history.scan(filter)) ways.scan.push(session);
    const { groups } = await history.usage({ by: "session", ...filter });
    ways.usage = groups.map(({ key, title }) => `${key} ${title}`);
    const [found, of] = ["-home-me-app/s1", JSON.stringify(filter)];
    assert.deepEqual(ways.search, isMeant ? [found] : [], of);
    assert.equal(ways.scan.includes(found), isMeant, of);
    assert.deepEqual(ways.usage, isMeant ? ["s1 Why does the webhook fail?"] : [], of);
  }
  for (const wrong of [{ model: 3 }, { since: "yesterday" }, { subagents: false }]) {
    thrownRefusal(() => history.search("x", wrong as object), "BAD_SETTING");
  }
});

test("a subagent's session is left out on request, if the one that started it is listed", async () => {
  const { home } = await historyHome();
  const at = Date.parse("2026-11-02T11:00:00Z");
  const rows = [promptRow("Look", { at }), answerRow("b", { at: at + 1 })];
  writeClaude(home, "-home-me-app/s1/subagents/agent-a1.jsonl", rows);
  const history = openHistory({ agents: ["claude-code"] });

  assert.equal((await namesIn(history)).length, 2);
  assert.deepEqual(await namesIn(history, { subagents: false }), ["s1"]);
});

test("a signed session whose log is gone is listed as missing, and verified as rolled back", async () => {
  const { project } = await historyHome();
  rmSync(join(project, ".ai/threads/thread-2/transcript.jsonl"));
  const history = openHistory({ roots: [project] });

  assert.deepEqual(
    (await allOf(history.sessions())).map(({ id, isMissing }) => [id, isMissing]),
    [["thread-2", true]],
  );
  const reports = await allOf(history.verify());
  assert.deepEqual(
    reports.map(({ verdict }) => verdict),
    ["rollback"],
  );
});

test("a name is looked for in all roots, and never guessed", async () => {
  const { project, home } = await historyHome();
  const other = join(home, "other");
  mkdirSync(other);
  const user = new SigningUser();
  await user.write({ dialect: "rye" }, [said("Hi")], { root: other, id: "thread-3" });
  const history = openHistory({ roots: [project, other] });

  assert.equal((await history.get("thread-3")).id, "thread-3");
  assert.equal((await history.get("last")).id, "thread-3");
  await refusal(history.get("thread"), "SESSION_NOT_FOUND");
  await refusal(history.get("nothing"), "SESSION_NOT_FOUND");
  await refusal(history.redact("nothing", { reason: "-", texts: ["a"] }), "SESSION_NOT_FOUND");
});

test("a redaction whose text is missing writes nothing, unless that is allowed", async () => {
  const { project } = await historyHome();
  const history = openHistory({ roots: [project] });
  const output = join(project, "copy.vbd");
  const asked = { reason: "private", texts: ["17 Mill Lane", "no such text"], output };

  await refusal(history.redact("thread-2", asked), "CANNOT_DISCLOSE");
  assert.equal(existsSync(output), false);
  const { missing, path } = await history.redact("thread-2", { ...asked, allowMissing: true });
  assert.deepEqual([missing, path], [[2], output]);
  await refusal(history.redact("thread-2", { ...asked, allowMissing: true }), "IO_ERROR");
});

test("an aborted call throws the signal's reason", async () => {
  const { project } = await historyHome();
  const history = openHistory({ cwd: project });
  const reason = new Error("enough");
  const signal = AbortSignal.abort(reason);
  const isReason = (error: unknown) => error === reason;

  await assert.rejects(allOf(history.sessions({ signal })), isReason);
  await assert.rejects(allOf(history.search("webhook", { signal })), isReason);
  await assert.rejects(history.usage({ signal }), isReason);
  await assert.rejects(allOf(history.scan({ signal })), isReason);
  await assert.rejects(allOf(history.verify({ signal })), isReason);
  await assert.rejects(allOf(history.doctor({ signal })), isReason);
  await assert.rejects(history.guard({ signal }), isReason);
  const why = { reason: "-", texts: ["Ada"], signal };
  await assert.rejects(history.redact("thread-2", why), isReason);
  await assert.rejects(history.prove("thread-2", { entries: [1], signal }), isReason);
});

test.each<[string, (history: History) => unknown]>([
  ["agent", (history) => history.sessions({ agnt: "claude" } as Untyped)],
  ["sort", (history) => history.sessions({ sort: "size of it" } as Untyped)],
  ["since", (history) => history.sessions({ since: "yesterday" })],
  ["limit", (history) => history.sessions({ limit: 0 })],
  ["signal", (history) => history.sessions({ signal: {} } as Untyped)],
  ["sessions", (history) => history.verify({ sessions: "all" } as Untyped)],
  ["rules", (history) => history.scan({ rules: [""] })],
  ["profile", (history) => history.verify({ profile: "none" } as Untyped)],
  ["fix", (history) => history.doctor({ fix: "yes" } as Untyped)],
])("a wrong %s is refused when the method is called", (_, call) => {
  thrownRefusal(() => call(openHistory({ roots: [] })), "BAD_SETTING");
});

test("an agent that is not known is refused when the history is opened", () => {
  const { message } = thrownRefusal(() => openHistory({ agents: ["clippy"] }), "BAD_SETTING");
  assert.match(message, /known are .*Claude Code/);
});
