/** `verbatim doctor` as a person or a script uses it. Its findings are tested with the library. */

import assert from "node:assert/strict";
import { appendFileSync, chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { WHOLE_THREAD, writeThread } from "../support/examining.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { CliUser, jsonLines } from "./cli.ts";
import { event, putThread, putTurns, turn } from "./stores.ts";

async function userWithThread(): Promise<{ user: CliUser; path: string }> {
  const user = new CliUser();
  return { user, path: await writeThread(user.cwd, "hello-1", WHOLE_THREAD) };
}

test("a clean store prints one line and exits 0", async () => {
  const { user } = await userWithThread();
  const { code, stdout, stderr } = await user.run(["doctor"]);
  assert.deepEqual([code, stderr], [0, ""]);
  assert.equal(stdout, "looked at 1 session: nothing found\n");
});

test("each finding is printed with its meaning and its remedy, and the exit code is 1", async () => {
  const { user, path } = await userWithThread();
  const size = readFileSync(path).length;
  appendFileSync(path, '{"torn');
  rmSync(join(dirname(path), "transcript.md"));
  const { code, stdout } = await user.run(["doctor"]);
  assert.equal(code, 1);
  assert.equal(
    stdout,
    [
      `hello-1  ${path}`,
      `  warning TORN_TAIL: at byte ${size}: 6 bytes after the last whole line`,
      "    A crash cut an append short; nothing that was acknowledged as durable is in these bytes.",
      "    `verbatim doctor --fix hello-1` keeps the bytes in a .torn file next to the log and cuts them off",
      "  warning DERIVED_MISSING: transcript.md is missing",
      "    A file that is made from the log is not there.",
      "    `verbatim doctor --fix hello-1` makes it from the log",
      "",
      "looked at 1 session: 2 warnings; --fix mends 2",
      "",
    ].join("\n"),
  );
});

test("--json prints one finding per line, and a summary last", async () => {
  const { user, path } = await userWithThread();
  const offset = readFileSync(path).length;
  appendFileSync(path, '{"torn');
  const { code, stdout } = await user.run(["doctor", "--json"]);
  assert.equal(code, 1);
  assert.deepEqual(jsonLines(stdout), [
    {
      code: "TORN_TAIL",
      severity: "warning",
      session: "hello-1",
      path,
      offset,
      bytes: 6,
      detail: "6 bytes after the last whole line",
      mends: true,
    },
    { summary: { sessions: 1, errors: 0, warnings: 1, notes: 0, mends: 1 } },
  ]);
});

test("notes alone exit 0", async () => {
  const { user, path } = await userWithThread();
  writeFileSync(join(dirname(path), "thread.json.tmp"), "", { mode: 0o600 });
  const { code, stdout } = await user.run(["doctor"]);
  assert.equal(code, 0);
  assert.match(stdout, /note TEMP_LEFT/);
});

test("a session can be named by id, id prefix or path, and a store by its root", async () => {
  const { user, path } = await userWithThread();
  await writeThread(user.cwd, "other-2", WHOLE_THREAD);
  for (const name of ["hello-1", "hel", path, dirname(path)]) {
    const { code, stdout } = await user.run(["doctor", name]);
    assert.deepEqual([code, stdout], [0, "looked at 1 session: nothing found\n"], name);
  }
  for (const args of [[user.cwd], ["."], ["--root", user.cwd], ["--dialect", "rye"]]) {
    const { code, stdout } = await user.run(["doctor", ...args]);
    assert.deepEqual([code, stdout], [0, "looked at 2 sessions: nothing found\n"], String(args));
  }
});

test("without a path, doctor examines every store found from the current directory", async () => {
  const { user } = await userWithThread();
  const turns = putTurns(user, "cook/s1", [turn("user", { content: "hi" }), "no json"]);
  chmodSync(turns, 0o600);
  chmodSync(dirname(turns), 0o700);
  const { code, stdout } = await user.run(["doctor"]);
  assert.equal(code, 1);
  assert.match(stdout, /^cook\/s1 .*\n {2}error BAD_LINE: line 2, at byte \d+: not JSON\n/m);
  assert.match(stdout, /looked at 2 sessions: 1 error\n$/);
});

test("a missing store, an unknown session and an ambiguous name are reported, with exit code 7", async () => {
  const user = new CliUser();
  const nowhere = await user.run(["doctor"]);
  assert.equal(nowhere.code, 7);
  assert.match(nowhere.stderr, /no store was found/);
  await writeThread(user.cwd, "hello-1", WHOLE_THREAD);
  await writeThread(user.cwd, "hello-2", WHOLE_THREAD);
  assert.equal((await user.run(["doctor", "none"])).code, 7);
  const several = await user.run(["doctor", "hello"]);
  assert.equal(several.code, 7);
  assert.match(several.stderr, /may be one of 2 sessions/);
  assert.equal((await user.run(["doctor", ""])).code, 2);
  assert.equal((await user.run(["doctor", "--root", join(user.cwd, "none")])).code, 7);
});

test("of many findings of one kind the first are printed and the rest counted; --json prints all", async () => {
  const { user, path } = await userWithThread();
  appendFileSync(path, "bad\n".repeat(2000));
  const { stdout } = await user.run(["doctor"]);
  assert.match(stdout, /\n {2}and 1995 more BAD_LINE\n/);
  const { stdout: json } = await user.run(["doctor", "--json"]);
  assert.equal(jsonLines(json).filter(({ code }) => code === "BAD_LINE").length, 2000);
});

test("the exit code reports findings even if the reader of stdout closes it early", async () => {
  const { user, path } = await userWithThread();
  appendFileSync(path, "bad\n".repeat(50_000));
  const { code, stderr } = await user.run(["doctor", "--json"], { stdoutBytesMax: 100 });
  assert.deepEqual([code, stderr], [1, ""]);
});

test("doctor and repair print no control character of a transcript or a name, and no message text", async () => {
  const user = new CliUser();
  const hostile = "\u001b[2J\u202e";
  const path = putThread(user.cwd, "hello-1", [
    event("tool_call_start", {
      tool: `secret ${hostile}`,
      call_id: `id${hostile}`,
      input: "secret",
    }),
    "secret, and no JSON",
  ]);
  mkdirSync(join(dirname(path), `${hostile}secret`));
  for (const args of [["doctor"], ["doctor", "--json"], ["doctor", "--fix"]]) {
    const { stdout, stderr } = await user.run(args);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what must not be there.
    assert.doesNotMatch(stdout + stderr, /[\u0000-\u0008\u000b-\u001f\u202e]|secret/, String(args));
    assert.match(stdout, /id\\u001b\[2J\\u202e/);
  }
});

test("a long check shows its progress on a terminal", async () => {
  const { user, path } = await userWithThread();
  const line = `${JSON.stringify(event("user_message", { text: "x".repeat(100_000) }))}\n`;
  for (let n = 0; n < 200; n++) appendFileSync(path, line);
  const shown = await user.runInTerminal(["doctor", "hello-1"]);
  assert.match(shown, /hello-1: \d+ %/);
  assert.match(shown, /looked at 1 session/);
});

test("a log outside any store is examined by its path", async () => {
  const user = new CliUser();
  const path = join(tempDirectory(), "copy.jsonl");
  writeFileSync(path, `${JSON.stringify(event("user_message", { text: "hi" }))}\n{`, {
    mode: 0o600,
  });
  const { code, stdout } = await user.run(["doctor", path]);
  assert.equal(code, 1);
  expect(stdout).toContain(`(unknown)  ${path}\n  warning TORN_TAIL`);
  expect(stdout).toContain(`\`verbatim doctor --fix ${path}\` keeps`);
});
