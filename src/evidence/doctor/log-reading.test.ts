import assert from "node:assert/strict";
import { appendFileSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { onTestFinished, test } from "vitest";
import { startChild } from "../../../test/support/child.ts";
import { logHolding } from "../../../test/support/open-log.ts";
import { WatchedFiles } from "../../../test/support/watched-files.ts";
import { findLogEnd, isHeld, lastWriter } from "./log-reading.ts";

const LINE = '{"n":1}\n';

async function opened(content: string) {
  const path = logHolding(content);
  const files = new WatchedFiles();
  const directory = await files.openDirectory(dirname(path), { create: false });
  const name = basename(path);
  const file = directory.open(name, "read");
  onTestFinished(() => {
    file.close();
    directory.close();
  });
  return { path, files, directory, name, file };
}

test("bytes that do not change while no writer holds the log are torn", async () => {
  const { directory, name, file } = await opened(`${LINE}{"n`);
  const end = await findLogEnd(directory, name, file);
  assert.deepEqual(end, { end: 8, tornBytes: 3, lacksOnlyLf: false, isAtWork: false });
});

test("bytes of a writer that holds the log are unfinished", async () => {
  const { path, directory, name, file } = await opened(`${LINE}{"n`);
  const holder = startChild("test/support/lock-holder.ts", `${path}.lock`);
  assert.equal(await holder.line(), "held");
  assert.equal((await findLogEnd(directory, name, file)).isAtWork, true);
  await holder.kill();
  assert.equal((await findLogEnd(directory, name, file)).isAtWork, false);
});

test("a log that changes between two reads is read again, until it is stable (LE1)", async () => {
  const { path, files, directory, name, file } = await opened(`${LINE}{"n`);
  // Method: writers take turns, each seen in the middle of a line; the fourth read sees the log at
  // rest.
  const writes = ['":2}\n{', '"n":3}\n{', '"n":4}\n'];
  files.before = ({ call, name: opening }) => {
    if (call === "open" && opening.endsWith(".lock")) appendFileSync(path, writes.shift() ?? "");
    return undefined;
  };
  const end = await findLogEnd(directory, name, file);
  assert.deepEqual(end, { end: 32, tornBytes: 0, lacksOnlyLf: false, isAtWork: false });
});

test("a log that never becomes stable is in use", async () => {
  const { path, files, directory, name, file } = await opened(`${LINE}{"n`);
  files.before = ({ call, name: opening }) => {
    if (call === "open" && opening.endsWith(".lock")) appendFileSync(path, "n");
    return undefined;
  };
  assert.equal((await findLogEnd(directory, name, file)).isAtWork, true);
});

test.each([
  ["none", null],
  ["none", ""],
  ["died", '{"pid":1,"started":"2026-11-15T04:00:00.000Z"}\n'],
  ["closed", '{"synced":8}\n'],
  ["shares", '{"synced":0}\n'],
  ["shares", '{"syn'],
  ["shares", "null"],
] as const)("the last writer is %s when the lock file says %j", async (expected, hint) => {
  const { path, directory, name } = await opened(LINE);
  if (hint !== null) writeFileSync(`${path}.lock`, hint);
  assert.equal(await lastWriter(directory, name, LINE.length), expected);
});

test("a lock file that is a link is not followed, and blocks no writer", async () => {
  const { path, directory, name } = await opened(LINE);
  symlinkSync("/etc/hostname", `${path}.lock`);
  assert.equal(isHeld(directory, name), false);
  assert.equal(await lastWriter(directory, name, LINE.length), "shares");
  truncateSync(path, 0);
});
