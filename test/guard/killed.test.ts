/**
 * A guard that is killed after a random number of scans, under a program that writes. GUARD_KILLS
 * sets how often, or VERBATIM_TIMES=25 for 200 times.
 */

import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { readGuardedRoot } from "../../src/dialects/files/guard-store.ts";
import { unit } from "../crash/lines.ts";
import { type Child, startChild } from "../support/child.ts";
import { GuardedUser } from "../support/guarding.ts";
import { seed, times } from "../support/seed.ts";

const KILLS = Number(process.env.GUARD_KILLS ?? 8 * times);
const SESSIONS = 4;

function pathOf(session: number): string {
  return `projects/-app/session-${session}.jsonl`;
}

/** Kills a guard after this many scans, often in the middle of one. `during`: once it has begun. */
async function killAfter(child: Child, scans: number, during = () => {}): Promise<void> {
  assert.equal(await child.line(), "guarding");
  during();
  for (let scan = 1; scan <= scans; scan++) assert.equal(await child.line(), "scanned");
  const turns = (scans % 1) * 400;
  for (let turn = 0; turn < turns; turn++) await setImmediate();
  await child.kill();
}

test(`a guard that is killed ${KILLS} times under a writer has each byte once`, async () => {
  const user = new GuardedUser();
  mkdirSync(user.pathOf("projects/-app"), { recursive: true });
  let lines = 0;
  let isWriting = true;
  const writing = (async () => {
    while (isWriting) {
      const session = lines % SESSIONS;
      const line = JSON.stringify({ line: lines++, text: "x".repeat((lines * 37) % 5000) });
      // In two writes, so that the guard also sees incomplete lines.
      appendFileSync(user.pathOf(pathOf(session)), line.slice(0, 9));
      if (lines % 3 === 0) await sleep(1); // Pacing, which decides nothing: the files stay short.
      appendFileSync(user.pathOf(pathOf(session)), `${line.slice(9)}\n`);
      if (lines % 50 === 0) await sleep(1);
    }
  })();
  let kills = 0;
  for (; kills < KILLS; kills++) {
    const child = startChild("test/guard/guard-child.ts", user.root, user.store);
    await killAfter(child, unit(seed, kills) * 12);
  }
  isWriting = false;
  await writing;
  await user.pass();
  for (let session = 0; session < SESSIONS; session++) {
    const copy = readFileSync(join(user.directory, `${pathOf(session)}.1`));
    assert.ok(copy.equals(readFileSync(user.pathOf(pathOf(session)))), `session ${session}`);
  }
  const root = readGuardedRoot(user.directory);
  for (const kept of root?.sessions.values() ?? []) expect(kept.losses).toEqual([]);
  assert.equal(root?.sessions.size, SESSIONS);
  process.stderr.write(`killed ${kills} times, ${lines} lines written\n`);
});

test("a guard that is killed while files are rewritten keeps every rewritten content", async () => {
  const user = new GuardedUser();
  const rounds = Math.ceil(KILLS / 2);
  user.write(pathOf(0), "");
  const contents: string[] = [];
  for (let round = 0; round < rounds; round++) {
    const content = `${JSON.stringify({ round, text: `${round}`.repeat(2000) })}\n`.repeat(50);
    contents.push(content);
    writeFileSync(user.pathOf(pathOf(0)), content);
    await user.pass();
    const child = startChild("test/guard/guard-child.ts", user.root, user.store);
    await killAfter(child, unit(seed, round) * 4, () => {
      writeFileSync(user.pathOf(pathOf(0)), content.slice(0, content.length / 2));
    });
  }
  await user.pass();
  const { generation } = user.kept(pathOf(0));
  const kept = new Set<string | null>();
  for (let each = 1; each <= generation; each++) kept.add(user.copyOf(pathOf(0), each));
  for (const content of contents) assert.ok(kept.has(content), content.slice(0, 20));
});
