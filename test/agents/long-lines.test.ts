/** Sessions whose only line is far over the limit of a line: read once, and not held in memory. */

import assert from "node:assert/strict";
import { closeSync, linkSync, openSync, readFileSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { SessionWindow } from "../../src/sessions/list/session-window.ts";
import { Store } from "../../src/sessions/store/store.ts";
import { CliUser, jsonLines } from "../cli/cli.ts";
import { measured } from "../cli/measured.ts";
import { putClaude } from "./claude-files.ts";

const MIB = 2 ** 20;
const LINE_MIB = 64;
const SESSIONS = 12;

const claudeId = (at: number) => `6f1c2d3e-1000-4000-8000-${String(at).padStart(12, "0")}`;

/** One file under many names. */
function userWithLongLines(): CliUser {
  const user = new CliUser();
  const path = putClaude(user.home, { id: claudeId(0), prompt: "long", answer: "none" });
  const [head = "", tail = ""] = readFileSync(path, "utf8").split("\n", 1)[0]?.split("long") ?? [];
  const file = openSync(path, "w");
  writeSync(file, head);
  const part = Buffer.alloc(MIB, "a");
  for (let written = 0; written < LINE_MIB; written++) writeSync(file, part);
  writeSync(file, `${tail}\n`);
  closeSync(file);
  for (let at = 1; at < SESSIONS; at++) {
    linkSync(path, join(dirname(path), `${claudeId(at)}.jsonl`));
  }
  return user;
}

test("ls, search and doctor read lines over the limit once, in less than 200 MB", async () => {
  const user = userWithLongLines();
  const onceMib = SESSIONS * LINE_MIB;
  const listed = await measured(user, ["ls", "--json"]);
  assert.equal(listed.code, 0);
  assert.equal(jsonLines(listed.stdout).length, SESSIONS);

  const searched = await measured(user, ["search", "needle"]);
  assert.equal(searched.code, 1);
  const says = `${SESSIONS} sessions are not searched, because no message was understood, ${claudeId(0)}`;
  expect(searched.stderr).toContain(says);

  const examined = await measured(user, ["doctor"]);
  assert.equal(examined.code, 1);
  expect(examined.stdout).toContain("line 1, at byte 0: too long");
  expect(examined.stdout).toContain(`looked at ${SESSIONS} sessions: ${SESSIONS} errors`);

  for (const { mib, readMib } of [listed, searched, examined]) {
    expect(mib).toBeLessThan(200);
    // The end of each is looked at twice: up to the limit of a line.
    expect(readMib).toBeLessThan(1.3 * onceMib + 20);
  }

  const again = await measured(user, ["search", "needle"]);
  assert.equal(again.code, 1);
  expect(again.readMib).toBeLessThan(LINE_MIB);
});

test("reading a summary or entries can be aborted inside a long line", async () => {
  const { home } = userWithLongLines();
  const root = join(home, ".claude");
  const store = new Store(nodeHost, { dialect: "claude-code", root, onWarning: () => {} });
  const id = `-home-me-app/${claudeId(0)}`;
  const session = store.session(id);
  const window = await SessionWindow.open(nodeHost, session);
  try {
    const limits = { entriesMax: 1, bytesMax: 1, signal: abortedSoon() };
    await assert.rejects(window.after(0, limits), /too late/);
  } finally {
    window.close();
    await session.release();
  }
  await assert.rejects(store.summaries().summarise(id, { signal: abortedSoon() }), /too late/);
});

/** Aborted once reading has begun, and long before it ends. */
function abortedSoon(): AbortSignal {
  const aborted = new AbortController();
  setImmediate(() => aborted.abort(new Error("too late")));
  return aborted.signal;
}
