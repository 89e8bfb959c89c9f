/**
 * `rm --purge`, killed with SIGKILL before calls that change the disk. What the next command leaves of
 * a session is all of it, or no byte in any file, those of SQLite included. With VERBATIM_DEEP=1
 * every call is tried.
 */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "vitest";
import { NO_NOTES, noteLineText } from "../../src/sessions/notes/note-state.ts";
import { CliUser, main, root } from "../cli/cli.ts";
import { promptRow, writeClaude } from "../support/agent-home.ts";
import { isTried } from "../support/seed.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { holding } from "./byte-search.ts";

const OWN = "quixote90417zebra";
const GUARDED = "rosinante5512heron";
const NAME = "6f1c2d3e-1000-4000-8000-000000000000";
const AT = "2026-11-15T10:00:00.000Z";
const EVERY = 9;

class Subject {
  readonly user = new CliUser();
  readonly #before = tempDirectory();
  readonly #notes = join(this.user.home, ".local/state/verbatim/notes.jsonl");

  /** An own session with a note, and the guard's copy of a deleted one; both are indexed. */
  static async written(): Promise<Subject> {
    const subject = new Subject();
    const { user } = subject;
    const entry = { kind: "message", role: "user", parts: [{ type: "text", text: OWN }] };
    const input = `${JSON.stringify({ type: "entry", entry })}\n`;
    await user.run(["record", "--session", "hello", "--sign"], { input });
    const file = `-home-me-app/${NAME}.jsonl`;
    writeClaude(user.home, file, [promptRow(GUARDED, { session: NAME, at: Date.parse(AT) })]);
    await user.run(["guard", "--once"]);
    rmSync(join(user.home, ".claude/projects", file));
    await user.run(["guard", "--once"]);
    const note = { dialect: "verbatim", session: "hello", store: realpathSync(user.cwd) };
    const line = { ...NO_NOTES, subject: note, entry: null, at: AT, note: OWN };
    mkdirSync(dirname(subject.#notes), { recursive: true });
    writeFileSync(subject.#notes, `${noteLineText(line)}\n`, { mode: 0o600 });
    for (const args of [["ls"], ["search", OWN], ["search", GUARDED]]) await user.run(args);
    for (const [n, each] of [user.home, user.cwd].entries()) subject.#copy(each, subject.#save(n));
    return subject;
  }

  again(): void {
    for (const [n, each] of [this.user.home, this.user.cwd].entries()) {
      this.#copy(this.#save(n), each);
    }
  }

  /** Runs `rm --purge` of both until it is killed; returns how many calls it made if it was not. */
  purge(killAt: number): number | null {
    const preload = ["--import", join(root, "test/support/kill-at.mjs")];
    const args = ["rm", "hello", NAME, "--purge", "--yes"];
    const { signal, stderr } = spawnSync(process.execPath, [...preload, ...main, ...args], {
      cwd: this.user.cwd,
      env: { PATH: process.env.PATH, HOME: this.user.home, KILL_AT: String(killAt) },
      encoding: "utf8",
    });
    return signal === "SIGKILL" ? null : Number(/calls (\d+)/.exec(stderr)?.[1]);
  }

  filesWith(text: string): string[] {
    return [...holding(this.user.home, text), ...holding(this.user.cwd, text)];
  }

  #save(n: number): string {
    return join(this.#before, String(n));
  }

  #copy(from: string, to: string): void {
    rmSync(to, { recursive: true, force: true });
    cpSync(from, to, { recursive: true, preserveTimestamps: true });
  }
}

test("of a session whose purge was killed at any call, the next command leaves all or no byte", async () => {
  const subject = await Subject.written();
  const { user } = subject;
  const log = join(user.cwd, ".verbatim/sessions/hello.jsonl");
  const bytes = readFileSync(log);
  const calls = subject.purge(0) ?? 0;
  assert.ok(calls > 20, String(calls));
  assert.deepEqual([...subject.filesWith(OWN), ...subject.filesWith(GUARDED)], []);
  const seen = { all: 0, none: 0 };
  for (let killAt = 1; killAt <= calls; killAt++) {
    if (!isTried(killAt, EVERY)) continue;
    subject.again();
    subject.purge(killAt);
    const listed = await user.run(["rm", "--list"]);
    const told = `killed at ${killAt} of ${calls}`;
    assert.deepEqual([listed.code, listed.stderr], [0, "the trash is empty\n"], told);
    for (const text of [OWN, GUARDED]) {
      const left = subject.filesWith(text);
      if (left.length === 0) seen.none++;
      else seen.all++;
      const isThere = left.some((name) => /hello\.jsonl$|\.jsonl\.1$/.test(name));
      assert.ok(isThere || left.length === 0, `${told}: ${left.join()}`);
      if (isThere && text === OWN) assert.deepEqual(readFileSync(log), bytes, told);
    }
  }
  assert.ok(seen.all > 0 && seen.none > 0, JSON.stringify(seen));
});
