/** Another program appends to the log without its lock, between any two calls of its writer. */

import assert from "node:assert/strict";
import { appendFileSync, readdirSync } from "node:fs";
import { dirname } from "node:path";
import { describe, test } from "vitest";
import {
  bytesOf,
  contentOf,
  logHolding,
  newLogPath,
  openWriter,
} from "../../../test/support/open-log.ts";
import { refusal } from "../../../test/support/refusal.ts";
import { WatchedFiles } from "../../../test/support/watched-files.ts";
import { WRITER_KINDS } from "../../../test/support/writer-kinds.ts";
import { createNodeFiles } from "../base/node-files.ts";
import type { Turn } from "./companion.ts";

const LOG = "log.jsonl";
const FOREIGN = '{"foreign":true}\n';

/** Calls back before each call on the log. */
function watched(before: (call: string) => void): WatchedFiles {
  const disk = new WatchedFiles();
  disk.before = ({ call, name }) => {
    if (name === LOG) before(call);
    return undefined;
  };
  disk.beforeLook = (name) => {
    if (name === LOG) before("look");
  };
  return disk;
}

/** Writes some lines next to a program that writes before call `at`; returns the number of calls. */
async function writeNextTo(at: number, options: (typeof WRITER_KINDS)[number][1]): Promise<number> {
  const path = newLogPath();
  let calls = 0;
  let written = 0;
  const disk = watched(() => {
    if (++calls !== at) return;
    appendFileSync(path, FOREIGN);
    written++;
  });
  const log = await openWriter(path, options, disk.host);
  const lines = ["one", "two\ntwo", "three"];
  const ends: number[] = [];
  for (const text of lines) ends.push(await log.appendLines(bytesOf(`${text}\n`)));
  await log.close();
  const content = contentOf(path);
  for (const [n, text] of lines.entries()) {
    const end = ends[n] ?? 0;
    assert.equal(content.slice(end - text.length - 1, end), `${text}\n`, `call ${at}: ${content}`);
  }
  const ours = lines.reduce((sum, text) => sum + text.length + 1, 0);
  assert.equal(content.length, ours + written * FOREIGN.length, content);
  assert.equal(content.split(FOREIGN).length - 1, written, content);
  return calls;
}

describe.for(WRITER_KINDS)("%s", ([, kind]) => {
  test("a line of another program is kept, and ours have true offsets", async () => {
    const calls = await writeNextTo(0, kind);
    for (let at = 1; at <= calls; at++) await writeNextTo(at, kind);
  });

  test("a line that another program has not ended yet is not fused with ours", async () => {
    const path = newLogPath();
    const log = await openWriter(path, kind);
    await log.append(bytesOf("one"));
    appendFileSync(path, '{"foreign":');
    const appended = log.append(bytesOf("two"));
    appendFileSync(path, "true}\n");
    const end = await appended;
    await log.close();
    const content = contentOf(path);
    assert.equal(content.slice(end - 4, end), "two\n");
    assert.ok(content.split("\n").includes("two"), content);
  });

  test("lines that are fused to another program's unfinished line are written again", async () => {
    const path = newLogPath();
    let isDue = false;
    const disk = watched((call) => {
      if (call !== "write" || !isDue) return;
      isDue = false;
      appendFileSync(path, '{"foreign":');
    });
    const log = await openWriter(path, kind, disk.host);
    await log.append(bytesOf("one"));
    isDue = true;
    const end = await log.append(bytesOf("two"));
    await log.close();
    assert.equal(contentOf(path), 'one\n{"foreign":two\ntwo\n');
    assert.equal(end, contentOf(path).length);
  });

  test("a short write is undone, and what another program wrote before it stays", async () => {
    const path = newLogPath();
    const disk = new WatchedFiles();
    const log = await openWriter(path, kind, disk.host);
    await log.append(bytesOf("one"));
    disk.before = ({ call, name }) => {
      if (call === "write" && name === LOG) appendFileSync(path, FOREIGN);
      return undefined;
    };
    disk.takes = () => 2;
    await refusal(log.append(bytesOf("refused")), "NO_SPACE");
    disk.before = () => undefined;
    disk.takes = ({ bytes }) => bytes;
    assert.equal(contentOf(path), `one\n${FOREIGN}`);
    await log.append(bytesOf("two"));
    await log.close();
    assert.equal(contentOf(path), `one\n${FOREIGN}two\n`);
  });

  test("refused lines are cut only if nothing of another program follows them", async () => {
    const path = newLogPath();
    const log = await openWriter(path, kind);
    const refused = async (before: () => void) => {
      let wasCut: boolean | null = null;
      await log.inTurn(async (turn: Turn) => {
        const start = turn.append(bytesOf("refused\n"));
        before();
        wasCut = await turn.cutBack(start);
      });
      return wasCut;
    };
    assert.equal(await refused(() => {}), true);
    assert.equal(contentOf(path), "");
    assert.equal(await refused(() => appendFileSync(path, FOREIGN)), false);
    await log.append(bytesOf("two"));
    await log.close();
    assert.equal(contentOf(path), `refused\n${FOREIGN}two\n`);
  });
});

test("a torn tail that another program continues while it is copied aside is not cut", async () => {
  const path = logHolding('{"n":1}\n{"n":');
  let isDue = true;
  const disk = new WatchedFiles();
  disk.before = ({ call, name }) => {
    if (isDue && call === "write" && name === `${LOG}.torn-0`) {
      isDue = false;
      appendFileSync(path, "2}\n");
    }
    return undefined;
  };
  const log = await openWriter(path, {}, disk.host);
  await log.append(bytesOf("two"));
  await log.close();
  assert.equal(contentOf(path), '{"n":1}\n{"n":2}\ntwo\n');
  assert.deepEqual(
    readdirSync(dirname(path)).filter((name) => name.includes("torn")),
    [],
  );
});

test("without /proc a displaced write is found by its bytes", async () => {
  const path = logHolding("one\n");
  const directory = await createNodeFiles({ byDescriptor: false }).openDirectory(dirname(path), {
    create: false,
  });
  const file = directory.open(LOG, "append");
  appendFileSync(path, FOREIGN);
  file.write(bytesOf("two\n"));
  appendFileSync(path, FOREIGN);
  assert.deepEqual(file.landing(bytesOf("two\n"), 4), {
    start: 4 + FOREIGN.length,
    beginsLine: true,
  });
  file.close();
  directory.close();
});
