/** `openStore()` and `verbatim record` with nothing named: sessions in our own layout. */

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { openStore } from "../../src/doors/index.ts";
import { CliUser, jsonLines } from "../cli/cli.ts";
import { refusal } from "../support/refusal.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const HELLO = { kind: "message", role: "user", parts: [{ type: "text", text: "Hello" }] } as const;

test("a store without options writes entries to .verbatim/sessions of the current directory", async () => {
  const before = process.cwd();
  process.chdir(tempDirectory());
  try {
    const store = await openStore();
    const [one, two] = [await store.create(), await store.create()];
    assert.notEqual(one.id, two.id);
    await one.append(HELLO);
    await store.close();
    const [line = ""] = readFileSync(`.verbatim/sessions/${one.id}.jsonl`, "utf8").split("\n");
    const { id, at, ...rest } = JSON.parse(line);
    assert.deepEqual(rest, { type: "entry", entry: HELLO });
    assert.deepEqual([typeof id, typeof at], ["string", "string"]);
    assert.equal(readFileSync(".verbatim/.gitignore", "utf8"), "*\n");
    const read = (await openStore()).session(one.id);
    for await (const { parts } of read.entries()) assert.deepEqual(parts, HELLO.parts);
  } finally {
    process.chdir(before);
  }
});

test("an existing .verbatim gets no .gitignore: its owner may want it in Git", async () => {
  const root = tempDirectory();
  mkdirSync(join(root, ".verbatim"));
  const store = await openStore({ root });
  await store.create({ id: "s" });
  await store.close();
  assert.ok(existsSync(join(root, ".verbatim/sessions/s.jsonl")));
  assert.deepEqual(readdirSync(join(root, ".verbatim")), ["sessions"]);
});

test("record without a dialect accepts entries, and its signed session is verified", async () => {
  const user = new CliUser();
  const input = `${JSON.stringify(HELLO)}\n${JSON.stringify({ type: "entry", entry: HELLO })}\n`;
  const recorded = await user.run(["record", "--sign"], { input });
  assert.equal(recorded.code, 0, recorded.stderr);
  const [{ session } = {}] = jsonLines(recorded.stdout);
  const shown = await user.run(["show", "last", "--json"]);
  assert.deepEqual(
    jsonLines(shown.stdout).map(({ role }) => role),
    ["user", "user"],
  );
  const [report] = jsonLines((await user.run(["verify", "--json"])).stdout);
  assert.deepEqual([report?.session, report?.verdict], [session, "verified"]);
  const sidecar = join(user.cwd, `.verbatim/sessions/${session}.jsonl.checkpoints`);
  assert.match(readFileSync(sidecar, "utf8"), new RegExp(`"thread_id":"verbatim:${session}"`));
  const refused = await user.run(["record"], { input: '{"kind":"message","role":"human"}\n' });
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /role: expected one of system, user, assistant, tool/);
});

test("an option of one dialect is refused with another, and by the compiler", async () => {
  const given = { root: tempDirectory() };
  for (const [name, value] of [
    ["model", "m"],
    ["version", "1"],
  ] as const) {
    // @ts-expect-error: for `entire` alone.
    await refusal(openStore({ ...given, dialect: "rye", [name as "model"]: value }), "BAD_SETTING");
  }
  // @ts-expect-error: for `rye` alone.
  await refusal(openStore({ ...given, markdown: false }), "BAD_SETTING");
  await (await openStore({ ...given, dialect: "rye", markdown: false })).close();
  await (await openStore({ ...given, dialect: "entire", model: "m", version: "1" })).close();
  assert.deepEqual(readdirSync(given.root), []);
});
