import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished, test } from "vitest";
import { refusal } from "../../../test/support/refusal.ts";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import { encodeMetaLine, MetaFile, type MetaLine } from "./meta-file.ts";

const STORE = "0123456789abcdef";

async function open(path: string): Promise<MetaFile> {
  const directory = await nodeHost.files.openDirectory(path, { create: true });
  const meta = await MetaFile.open(directory, STORE);
  onTestFinished(() => {
    meta.close();
    directory.close();
  });
  return meta;
}

async function* pieces(...lines: MetaLine[]): AsyncGenerator<Uint8Array> {
  for (const line of lines) yield encodeMetaLine(line);
}

async function linesOf(meta: MetaFile, from = 0): Promise<MetaLine[]> {
  const lines: MetaLine[] = [];
  for await (const { line } of meta.lines(from)) lines.push(line);
  return lines;
}

const record = (key: string): MetaLine => ({ kind: "record", key, value: "é\u2028" });

/** Two groups of lines; returns the file and the end of the first group. */
async function twoGroups(path: string): Promise<{ bytes: Buffer; firstEnd: number }> {
  const meta = await open(path);
  await meta.settle();
  await meta.append(pieces(record("a"), record("b")), 5);
  const firstEnd = meta.end;
  await meta.append(pieces(record("c")), 9);
  return { bytes: readFileSync(join(path, "meta.jsonl")), firstEnd };
}

test("lines are read as they were written, and the last checkpoint is found", async () => {
  const path = tempDirectory();
  const { firstEnd } = await twoGroups(path);
  const meta = await open(path);
  assert.deepEqual([meta.storeId, meta.writtenBackLsn], [STORE, 9]);
  const kinds = (await linesOf(meta)).map(({ kind }) => kind);
  assert.deepEqual(kinds, ["store", "record", "record", "checkpoint", "record", "checkpoint"]);
  assert.equal((await linesOf(meta, firstEnd)).length, 2);
});

test("a file cut at any byte ends with its last complete group, and continues from there", async () => {
  const path = tempDirectory();
  const { bytes, firstEnd } = await twoGroups(path);
  const firstLine = bytes.indexOf(0x0a) + 1;
  for (let cut = 0; cut <= bytes.length; cut++) {
    writeFileSync(join(path, "meta.jsonl"), bytes.subarray(0, cut));
    const meta = await open(path);
    const [end, lsn] =
      cut === bytes.length ? [cut, 9] : cut >= firstEnd ? [firstEnd, 5] : [firstLine, 0];
    assert.deepEqual([meta.end, meta.writtenBackLsn], [end, lsn], `cut at ${cut}`);
  }
  writeFileSync(join(path, "meta.jsonl"), bytes.subarray(0, -1));
  const meta = await open(path);
  await meta.settle();
  await meta.append(pieces(record("d")), 6);
  assert.deepEqual((await linesOf(await open(path))).at(-2), record("d"));
});

test("an altered byte is reported as damage, or the checkpoint before it becomes the last", async () => {
  const path = tempDirectory();
  const { bytes, firstEnd } = await twoGroups(path);
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] as number) ^ 0x10;
    writeFileSync(join(path, "meta.jsonl"), changed);
    const reading = open(path).then(async (meta) => {
      await linesOf(meta);
      return meta.end;
    });
    const end = await reading.catch(() => null);
    if (end === null)
      await refusal(
        open(path).then((meta) => linesOf(meta)),
        "STORE_DAMAGED",
      );
    else assert.ok(end === firstEnd && at >= firstEnd, `byte ${at}`);
  }
});
