/** The expected prompt.txt and context.md, checked and repaired from the log alone. */

import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { onTestFinished, test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import {
  entireTexts,
  examineEntireFiles,
  mendEntireFiles,
} from "../../src/dialects/entire/files/session-files.ts";
import type { Session } from "../../src/sessions/store/session.ts";
import { ID, MIB, opened, says } from "../support/entire-store.ts";

const CALL = { type: "tool_use", id: "t", name: "bash", input: { command: "ls" } };

/** A session with a prompt and a call, ended, and functions to examine it. */
async function ended(prompt = "hi") {
  const { session, root } = opened({ durability: "os" });
  await says(session, prompt);
  await session.appendNative({ type: "assistant", message: { content: [CALL] } });
  await session.close();
  const path = dirname(session.path);
  const directory = await nodeHost.files.openDirectory(path, { create: false, root });
  onTestFinished(() => directory.close());
  const texts = () => entireTexts({ host: nodeHost, root, logId: session.logId }, directory);
  const examine = async () => examineEntireFiles(await texts(), directory, ID);
  const mend = async () => mendEntireFiles(await texts(), directory, ID);
  const file = (name: string) => join(path, name);
  const textOf = (name: string) => readFileSync(file(name), "utf8");
  return { session: session as Session, examine, mend, file, textOf };
}

const RIGHT = { prompt: "right", context: "right" };

test("the files that a session wrote itself are valid, and repair writes nothing", async () => {
  const { examine, mend, file } = await ended();
  const times = () => ["prompt.txt", "context.md"].map((name) => statSync(file(name)).mtimeMs);
  const before = times();
  assert.deepEqual(await examine(), RIGHT);
  assert.deepEqual(await mend(), RIGHT);
  assert.deepEqual(times(), before);
});

test("the files of a crashed session are rebuilt from its log, as it would have written them", async () => {
  const { mend, examine, file, textOf } = await ended();
  const whole = ["prompt.txt", "context.md"].map(textOf);
  for (const name of ["prompt.txt", "context.md"]) rmSync(file(name));
  assert.deepEqual(await examine(), { prompt: "missing", context: "missing" });
  assert.equal(existsSync(file("context.md")), false, "looking writes nothing");
  await mend();
  assert.deepEqual(["prompt.txt", "context.md"].map(textOf), whole);
  assert.deepEqual(await examine(), RIGHT);
});

test("a context.md of ours with other content is stale, and repaired", async () => {
  const { mend, examine, file, textOf } = await ended();
  const whole = textOf("context.md");
  for (const stale of [whole.replace("bash", "zsh"), whole.replace(ID, "other"), `${whole}- x\n`]) {
    writeFileSync(file("context.md"), stale);
    assert.equal((await examine()).context, "stale");
    await mend();
    assert.equal(textOf("context.md"), whole);
  }
});

test("another program's files are not changed", async () => {
  const { mend, file, textOf } = await ended();
  writeFileSync(file("prompt.txt"), "theirs");
  writeFileSync(file("context.md"), "# Session Context\n\n## User Prompts\n");
  assert.deepEqual(await mend(), { prompt: "right", context: "foreign" });
  assert.equal(textOf("prompt.txt"), "theirs");
  assert.equal(textOf("context.md"), "# Session Context\n\n## User Prompts\n");
});

test("a prompt that was too long for its row is restored whole", async () => {
  const long = "x".repeat(9 * MIB);
  const { mend, file, textOf } = await ended(long);
  rmSync(file("prompt.txt"));
  await mend();
  assert.equal(textOf("prompt.txt"), long);
});
