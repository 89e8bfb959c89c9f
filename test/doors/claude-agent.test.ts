/** The store for Claude's Agent SDK between processes, some of which are killed; signed. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { isBuilt } from "../../scripts/setup.mjs";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { claudeSessionStore } from "../../src/doors/claude-agent.ts";
import { resume } from "../../src/doors/resume.ts";
import { verify } from "../../src/doors/signing.ts";
import { Store } from "../../src/sessions/store/store.ts";
import { startChild } from "../support/child.ts";
import { SigningUser } from "../support/signing-user.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const execute = promisify(execFile);

test("several processes append the same entries, one is killed, and each entry is there once", async () => {
  new SigningUser(); // The children inherit this user's environment.
  const root = tempDirectory();
  const child = (...range: string[]) =>
    startChild("test/doors/claude-agent-child.ts", root, ...range);
  const children = [child("0", "60"), child("30", "90"), child("0", "100000")];
  for (const each of children) assert.equal(await each.line(), "ready");
  const [one, other, endless] = children;
  assert.ok(one && other && endless);
  for (const each of children) each.say("go");
  let acknowledged = 0;
  while (acknowledged < 20) acknowledged = Number(await endless.line());
  await endless.kill();
  for (let line = await endless.line(); line !== null; line = await endless.line()) {
    acknowledged = Number(line);
  }
  assert.deepEqual([await one.exitCode(), await other.exitCode()], [0, 0]);

  const store = claudeSessionStore({ root, sign: "append" });
  onTestFinished(() => store.close());
  const key = { projectKey: "app", sessionId: "shared" };
  const numbers = ((await store.load(key)) ?? []).map(({ each }) => Number(each));
  assert.equal(new Set(numbers).size, numbers.length);
  const last = Math.max(90, acknowledged);
  for (let n = 0; n <= last; n++) assert.ok(numbers.includes(n), `${n} was acknowledged`);

  const all = numbers.map((each) => ({ type: "user", uuid: `uuid-${each}`, each }));
  await store.append(key, all);
  assert.deepEqual(await store.load(key), all);
  // Killed between its lines and their checkpoint, it left unsigned lines.
  const { verdict } = await verify("app/shared", { root });
  assert.match(verdict, /^(?:verified|incomplete)$/);
});

test("a signed session is verified, whatever types its entries claim, and an altered one is not", async () => {
  new SigningUser();
  for (const sign of ["append", "turn"] as const) {
    const root = tempDirectory();
    const mode = sign === "turn" ? "exclusive" : "shared";
    const store = claudeSessionStore({ root, sign, mode, durability: "os" });
    const key = { projectKey: "app", sessionId: "s" };
    for (let turn = 0; turn < 3; turn++) {
      await store.append(key, [
        { type: "user", uuid: `u${turn}`, message: { role: "user", content: `question ${turn}` } },
        { type: "assistant", uuid: `a${turn}`, message: { role: "assistant", content: "yes" } },
        { type: "checkpoint", event_type: "checkpoint", payload: { v: 2 } },
      ]);
    }
    await store.close();
    const verdictOf = async () => (await verify("app/s", { root })).verdict;
    assert.equal(await verdictOf(), "verified");
    const again = claudeSessionStore({ root, sign, mode, durability: "os" });
    await again.append(key, [{ type: "tag", tag: "x" }]);
    await again.delete(key);
    await again.close();
    assert.equal(await verdictOf(), "verified");
    const path = join(root, ".verbatim/claude/app/s/transcript.jsonl");
    writeFileSync(path, readFileSync(path, "utf8").replace("question 1", "question 7"));
    assert.equal(await verdictOf(), "tampered");
  }
});

test("the example, killed in the middle, loses nothing, and its next run continues", async () => {
  expect(isBuilt(), "dist is older than src: run `npm run build` first").toBe(true);
  const root = tempDirectory();
  const killed = startChild("examples/claude-agent.mjs", root, "100000");
  let acknowledged = 0;
  const take = (line: string | null) => {
    acknowledged = Number(/^turn (\d+)/.exec(line ?? "")?.[1] ?? acknowledged);
    return line !== null;
  };
  while (acknowledged < 3) assert.ok(take(await killed.line()), "it ended before it was killed");
  await killed.kill();
  while (take(await killed.line()));

  const turns = String(acknowledged + 3);
  const argv = ["examples/claude-agent.mjs", root, turns];
  const { stdout } = await execute(process.execPath, argv);
  const resumed = Number(/^resumed after (\d+) turns\n/.exec(stdout)?.[1]);
  assert.ok(resumed >= acknowledged, `${resumed} of ${acknowledged}`);
  assert.ok(stdout.includes(`${2 * Math.max(acknowledged + 3, resumed)} messages`), stdout);
  // Lines written but not acknowledged may be unsigned.
  const verdicts = resumed > acknowledged ? /^(?:verified|incomplete)$/m : /^verified$/m;
  assert.match(stdout, verdicts);
});

test("a session is listed and resumed like any other, signed or not", async () => {
  new SigningUser();
  for (const sign of [false, "append"] as const) {
    const root = tempDirectory();
    const store = claudeSessionStore({ root, sign, durability: "os" });
    await store.append({ projectKey: "app", sessionId: "s" }, [
      { type: "user", uuid: "1", message: { role: "user", content: "Is the oven on?" } },
      { type: "assistant", uuid: "2", message: { role: "assistant", content: "Yes." } },
      { type: "checkpoint", uuid: "3" },
    ]);
    await store.close();
    const { messages } = await resume(
      new Store(nodeHost, { dialect: "claude", root }).session("app/s"),
      {
        ...({ for: "anthropic", allowUnsigned: !sign } as const),
      },
    );
    assert.deepEqual(messages.map(({ role }) => role).slice(0, 2), ["user", "assistant"]);
    const [listed] = await new Store(nodeHost, {
      dialect: "claude",
      root,
      catalogPath: join(root, "catalog.db"),
    }).list();
    assert.deepEqual(
      [listed?.id, listed?.agent, listed?.title],
      ["app/s", "app", "Is the oven on?"],
    );
  }
});
