/** What the user noted about sessions goes with them, and comes back with them. */

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { NO_NOTES, noteLineText } from "../../src/sessions/notes/note-state.ts";
import { CliUser, jsonLines } from "../cli/cli.ts";
import { promptRow, writeClaude } from "../support/agent-home.ts";
import { holding } from "./byte-search.ts";

const VALUE = "quixote90417zebra";
const AT = "2026-11-15T10:00:00.000Z";
const NAME = "6f1c2d3e-1000-4000-8000-000000000000";
const LATER_VERSION = '{"v":99,"mine":"\\u00e9"}';

class NotingUser extends CliUser {
  readonly notes = join(this.home, ".local/state/verbatim/notes.jsonl");
  readonly agentFile = join(this.home, `.claude/projects/-home-me-app/${NAME}.jsonl`);

  async record(id: string): Promise<void> {
    const entry = { kind: "message", role: "user", parts: [{ type: "text", text: "hello" }] };
    const input = `${JSON.stringify({ type: "entry", entry })}\n`;
    await this.ok(["record", "--session", id], input);
  }

  async ok(args: string[], input?: string): Promise<string> {
    const { code, stdout, stderr } = await this.run(args, input === undefined ? {} : { input });
    assert.equal(code, 0, `${args.join(" ")}: ${stdout}${stderr}`);
    return stdout;
  }

  /** Notes on sessions of ours and, without a store, of an agent: a tag, and one on an entry. */
  note(dialect: string, session: string, store?: string): void {
    const subject = { dialect, session, ...(store !== undefined && { store }) };
    const entry = { start: 0, line: "9f86d081884c7d65" };
    const said = { ...NO_NOTES, at: AT };
    const lines = [
      LATER_VERSION,
      noteLineText({ subject, entry: null, ...said, title: VALUE, tags: ["old"] }),
      noteLineText({ subject, entry, ...said, note: VALUE }),
    ];
    mkdirSync(dirname(this.notes), { recursive: true });
    writeFileSync(this.notes, `${lines.join("\n")}\n`, { mode: 0o600 });
  }

  get noteLines(): string[] {
    return readFileSync(this.notes, "utf8").split("\n").slice(0, -1);
  }
}

test("notes of a removed session are in no file but the trash, and come back with it", async () => {
  const user = new NotingUser();
  await user.record("hello");
  user.note("verbatim", "hello", realpathSync(user.cwd));
  const before = user.noteLines;
  assert.equal(jsonLines(await user.ok(["ls", "--json"]))[0]?.title, VALUE);
  await user.ok(["search", VALUE]);
  await user.ok(["rm", "hello"]);
  assert.deepEqual(user.noteLines, [LATER_VERSION]);
  assert.deepEqual(holding(user.home, VALUE), []);
  assert.equal(holding(user.cwd, VALUE).length, 1);
  await user.ok(["restore", "hello"]);
  assert.deepEqual(user.noteLines, before);
  await user.ok(["rm", "hello"]);
  await user.ok(["rm", "hello", "--purge", "--yes"]);
  assert.deepEqual([...holding(user.home, VALUE), ...holding(user.cwd, VALUE)], []);
});

test("a note that was written meanwhile stays as it is when the session comes back", async () => {
  const user = new NotingUser();
  await user.record("hello");
  user.note("verbatim", "hello", realpathSync(user.cwd));
  const [, own = "", onEntry = ""] = user.noteLines;
  await user.ok(["rm", "hello"]);
  const fresh = own.replace(VALUE, "newer");
  writeFileSync(user.notes, `${fresh}\n`);
  await user.ok(["restore", "hello"]);
  assert.deepEqual(user.noteLines, [fresh, onEntry]);
});

test("notes of an agent's session stay while its file is there, and go with the last copy", async () => {
  const user = new NotingUser();
  const row = promptRow("hello", { session: NAME, at: Date.parse(AT) });
  writeClaude(user.home, `-home-me-app/${NAME}.jsonl`, [row]);
  await user.ok(["guard", "--once"]);
  user.note("claude-code", NAME);
  const before = user.noteLines;
  await user.ok(["rm", NAME]);
  assert.deepEqual(user.noteLines, before);
  await user.ok(["restore", NAME]);
  rmSync(user.agentFile);
  await user.ok(["guard", "--once"]);
  await user.ok(["rm", NAME, "--purge", "--yes"]);
  assert.deepEqual(user.noteLines, [LATER_VERSION]);
  assert.deepEqual(holding(user.home, VALUE), []);
});

test("a rule by tag means the sessions that the user tagged so, and no others", async () => {
  const user = new NotingUser();
  await user.record("hello");
  await user.record("other");
  user.note("verbatim", "hello", realpathSync(user.cwd));
  const dry = await user.run(["rm", "--tag", "old", "--dry-run"]);
  expect([dry.code, dry.stdout]).toEqual([0, "hello would be removed\n"]);
  const ruled = await user.run(["rm", "--tag", "old", "--yes"]);
  expect([ruled.code, ruled.stderr]).toEqual([0, expect.stringContaining("1 session removed")]);
  assert.deepEqual(
    jsonLines(await user.ok(["ls", "--json"])).map(({ id }) => id),
    ["other"],
  );
  assert.equal((await user.run(["rm", "--tag", "old", "--yes"])).code, 0);
  assert.equal((await user.run(["rm", "--starred", "--yes"])).code, 2);
});
