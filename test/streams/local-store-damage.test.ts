/**
 * Damage: bytes on the disk that differ from those written are detected and reported, never served.
 */

import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished, test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { examineData } from "../../src/evidence/doctor/check-directory.ts";
import { type LocalStore, openLocalStore } from "../../src/streams/files/local-store.ts";
import { formatOffset } from "../../src/streams/files/offset-token.ts";
import { refusal } from "../support/refusal.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const JSON_TYPE = "application/json";
const ALL = 64 * 1024 * 1024;
const INDEX = ["streams.db", "streams.db-wal"];

async function open(dataDirectory: string): Promise<LocalStore> {
  const store = await openLocalStore({ dataDirectory, writeBackMs: 1e9 });
  onTestFinished(() => store.close());
  return store;
}

/** Three messages in `/s`, appended one by one. */
async function filled(dataDirectory: string): Promise<LocalStore> {
  const store = await open(dataDirectory);
  await store.create("/s", { contentType: JSON_TYPE, body: Buffer.alloc(0), isClosed: false });
  for (const text of ['{"n":1}', '{"n":"é"}', '{"n":3}']) await append(store, text);
  return store;
}

async function append(store: LocalStore, text: string): Promise<void> {
  await store.append("/s", { body: Buffer.from(text), contentType: JSON_TYPE, close: false });
}

async function textOf(store: LocalStore): Promise<string> {
  return Buffer.from((await store.read("/s", "start", ALL)).bytes).toString("utf8");
}

function flipped(bytes: Buffer, at: number): Buffer {
  const changed = Buffer.from(bytes);
  changed[at] = (changed[at] as number) ^ 0x10;
  return changed;
}

/** The files of a killed store: copied while it is open, before any checkpoint. */
function journalOf(dataDirectory: string): { readonly path: string; readonly bytes: Buffer } {
  const names = readdirSync(join(dataDirectory, "journal"));
  const path = join(dataDirectory, "journal", names.sort().at(-1) as string);
  return { path, bytes: readFileSync(path) };
}

/** A data directory whose process was killed: only its journal is left, and the files requested. */
function killed(dataDirectory: string, journal: Buffer, kept: readonly string[] = []): string {
  const copy = tempDirectory();
  const { path } = journalOf(dataDirectory);
  writeFileSync(join(copy, "meta.jsonl"), readFileSync(join(dataDirectory, "meta.jsonl")));
  for (const name of kept) {
    writeFileSync(join(copy, name), readFileSync(join(dataDirectory, name)));
  }
  const directory = join(copy, "journal");
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory);
  writeFileSync(join(directory, path.slice(path.lastIndexOf("/") + 1)), journal);
  return copy;
}

test("any flipped bit of a stream's file is an error, and every other stream is served", async () => {
  const dataDirectory = tempDirectory();
  const store = await filled(dataDirectory);
  await store.create("/t", { body: Buffer.from("sound"), isClosed: false });
  const path = join(dataDirectory, "logs", "s.jsonl");
  const sound = readFileSync(path);
  const second = formatOffset(0, 8);
  for (let at = 0; at < sound.length; at++) {
    writeFileSync(path, flipped(sound, at));
    const { details } = await refusal(store.read("/s", "start", ALL), "STREAM_DAMAGED");
    assert.equal(details.path, path);
    // A read from the second message on does not read the first one's bytes.
    if (at >= 8) await refusal(store.read("/s", second, ALL), "STREAM_DAMAGED");
    else assert.equal((await store.read("/s", second, ALL)).bytes.length, sound.length - 8);
    const each = async () => {
      for await (const _ of store.messages("/s", "start"));
    };
    await refusal(each(), "STREAM_DAMAGED");
  }
  writeFileSync(path, sound);
  assert.equal(await textOf(store), sound.toString("utf8"));
  assert.equal(Buffer.from((await store.read("/t", "start", ALL)).bytes).toString(), "sound");
});

test("a flipped bit is found in long streams too, wherever a read begins and ends", async () => {
  const dataDirectory = tempDirectory();
  const store = await open(dataDirectory);
  await store.create("/s", { contentType: JSON_TYPE, body: Buffer.alloc(0), isClosed: false });
  const line = `"${"x".repeat(997)}"`;
  for (let n = 0; n < 20; n++) await append(store, `[${Array(10).fill(line).join(",")}]`);
  const path = join(dataDirectory, "logs", "s.jsonl");
  const sound = readFileSync(path);
  for (const at of [0, 999, 63_500, 64_000, 64_001, 130_000, 199_999]) {
    writeFileSync(path, flipped(sound, at));
    for (const from of [0, 1000, 50_000, 64_000, 128_000, 199_000]) {
      for (const bytesMax of [1, 10_000, 70_000, 150_000, ALL]) {
        await readsRightOrRefuses(store, sound, at, from, bytesMax);
      }
    }
  }
});

async function readsRightOrRefuses(
  store: LocalStore,
  sound: Buffer,
  flippedAt: number,
  from: number,
  bytesMax: number,
): Promise<void> {
  const reading = store.read("/s", formatOffset(0, from), bytesMax);
  const bytes = await reading.then(
    (chunk) => chunk.bytes,
    (error: { code: string }) => error.code,
  );
  if (typeof bytes === "string") assert.equal(bytes, "STREAM_DAMAGED");
  else {
    const to = from + bytes.length;
    assert.ok(flippedAt < from || flippedAt >= to, `byte ${flippedAt} read from ${from} to ${to}`);
    assert.deepEqual(Buffer.from(bytes), sound.subarray(from, to));
    assert.ok(bytes.length >= 1000);
  }
}

test("a stream's file that was cut or written to is damaged, and accepts no append", async () => {
  for (const change of [-1, 1]) {
    const dataDirectory = tempDirectory();
    await (await filled(dataDirectory)).close();
    const path = join(dataDirectory, "logs", "s.jsonl");
    const sound = readFileSync(path);
    writeFileSync(path, change < 0 ? sound.subarray(0, -1) : Buffer.concat([sound, Buffer.of(32)]));
    const store = await open(dataDirectory);
    await refusal(append(store, "4"), "STREAM_DAMAGED");
    assert.deepEqual(store.health(), { isWritable: true });
    await store.create("/t", { body: Buffer.from("sound"), isClosed: false });
    if (change > 0) assert.equal(await textOf(store), sound.toString("utf8"));
    else await refusal(textOf(store), "STREAM_DAMAGED");
  }
});

test("a last record that streams.db has and the journal lacks is reported as lost", async () => {
  const dataDirectory = tempDirectory();
  const store = await filled(dataDirectory);
  const { bytes } = journalOf(dataDirectory);
  await store.records(""); // So that streams.db is up to date.
  const copy = killed(dataDirectory, bytes.subarray(0, -1), INDEX);
  await refusal(openLocalStore({ dataDirectory: copy }), "STORE_DAMAGED");
  for (const name of [...INDEX, "streams.db-shm"]) rmSync(join(copy, name), { force: true });
  const again = await open(copy);
  assert.equal(await textOf(again), (await textOf(store)).slice(0, -'{"n":3}\n'.length));
});

test("a last record that was acknowledged and is damaged is reported as lost, not torn", async () => {
  const dataDirectory = tempDirectory();
  const store = await filled(dataDirectory);
  const { bytes } = journalOf(dataDirectory);
  const sound = await textOf(store);
  for (let cut = 1; cut <= 80; cut++) {
    const copy = killed(dataDirectory, bytes.subarray(0, -cut), ["streams.mark"]);
    await refusal(openLocalStore({ dataDirectory: copy }), "STORE_DAMAGED");
    if (cut > 1) continue;
    const codes: string[] = [];
    for await (const step of examineData(nodeHost, copy)) {
      if ("finding" in step) codes.push(step.finding.code);
    }
    assert.ok(codes.includes("JOURNAL_DAMAGED"), codes.join());
    rmSync(join(copy, "streams.mark"));
    assert.equal(await textOf(await open(copy)), sound.slice(0, -'{"n":3}\n'.length));
  }
});

test("a missing journal segment is reported as missing", async () => {
  const dataDirectory = tempDirectory();
  const store = await filled(dataDirectory);
  const { path, bytes } = journalOf(dataDirectory);
  const copy = killed(dataDirectory, bytes);
  const again = await openLocalStore({ dataDirectory: copy });
  await append(again, "5");
  rmSync(join(copy, "journal", path.slice(path.lastIndexOf("/") + 1)));
  const third = killed(copy, journalOf(copy).bytes);
  await refusal(openLocalStore({ dataDirectory: third }), "STORE_DAMAGED");
  await again.close().catch(() => {});
  assert.ok(store.health().isWritable);
});
