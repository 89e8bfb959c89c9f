/** Checking a data directory: each kind of damage is found and named, and nothing is written. */

import assert from "node:assert/strict";
import { hash } from "node:crypto";
import {
  appendFileSync,
  cpSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join, relative } from "node:path";
import { test } from "vitest";
import { refusal } from "../../../test/support/refusal.ts";
import {
  JSON_STREAM,
  message,
  RAW_STREAM,
  SignedStreams,
} from "../../../test/support/signed-streams.ts";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import type { Finding } from "../../core/findings/finding.ts";
import { openCache } from "../../core/sqlite/sqlite.ts";
import { SCHEMA } from "../../streams/files/lookup/stream-rows.ts";
import { encodeMetaLine } from "../../streams/journal/meta-file.ts";
import { examineData } from "./check-directory.ts";

async function found(path: string): Promise<Finding[]> {
  const findings: Finding[] = [];
  for await (const step of examineData(nodeHost, path)) {
    if ("finding" in step) findings.push(step.finding);
  }
  return findings;
}

async function codesIn(path: string): Promise<string[]> {
  return (await found(path)).map((each) => `${each.code} ${relative(path, each.path)}`);
}

/** Streams of each kind, closed; `crashed` is the directory as a crash would leave it. */
async function written(): Promise<{ directory: string; crashed: string }> {
  const streams = new SignedStreams();
  const store = await streams.open();
  await store.create("/json", JSON_STREAM);
  await store.create("/raw", RAW_STREAM);
  for (let n = 0; n < 50; n++) {
    await store.append("/json", message({ n, text: "x".repeat(3000) }));
    await store.append("/raw", { body: Buffer.alloc(100, n), close: false });
  }
  await store.create("/fork", { ...JSON_STREAM, fork: { source: "/json" } });
  await store.append("/fork", message("own"));
  await store.create("/gone", JSON_STREAM);
  await store.append("/gone", message(1));
  await store.remove("/gone");
  await store.create("/empty", JSON_STREAM);
  await store.putRecord("key", "value");
  const crashed = tempDirectory();
  cpSync(streams.directory, crashed, { recursive: true });
  await store.close();
  // A copy: SQLite releases a database some time after it was closed (core/sqlite/sqlite.ts, Q4).
  const directory = tempDirectory();
  cpSync(streams.directory, directory, { recursive: true });
  return { directory, crashed };
}

/** Every file with a hash of its bytes. */
function contentsOf(directory: string): Map<string, string> {
  const files = readdirSync(directory, { recursive: true, encoding: "utf8" });
  const isFile = (name: string) => statSync(join(directory, name)).isFile();
  return new Map(
    files.filter(isFile).map((name) => [name, hash("sha256", readFileSync(join(directory, name)))]),
  );
}

test("an undamaged directory has no findings, and nothing is written", async () => {
  const { directory, crashed } = await written();
  for (const path of [directory, crashed]) {
    const before = contentsOf(path);
    const codes = await codesIn(path);
    assert.deepEqual(codes, path === directory ? [] : ["JOURNAL_PENDING journal"]);
    assert.deepEqual(contentsOf(path), before);
  }
});

function flip(path: string, at: number): void {
  const bytes = readFileSync(path);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(path, bytes);
}

/** Rewrites the last line about a stream, with a correct crc. */
function restate(directory: string, change: (state: Record<string, unknown>) => void): void {
  const path = join(directory, "meta.jsonl");
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  const said = lines.map((line) => {
    const { crc: _, ...value } = JSON.parse(line);
    if (value.kind === "stream" && value.state.path === "/raw") change(value.state);
    return encodeMetaLine(value);
  });
  let start = 0;
  const again = said.map((line) => {
    const value = JSON.parse(line.toString());
    if (value.kind === "store") start = line.length;
    const { crc: _, ...rest } = value;
    return value.kind === "checkpoint" ? encodeMetaLine({ ...rest, start }) : line;
  });
  writeFileSync(path, Buffer.concat(again));
}

const DAMAGES: Readonly<
  Record<string, { plant: (directory: string) => unknown; expected: readonly string[] }>
> = {
  "a flipped bit of a JSON message": {
    plant: (d) => flip(join(d, "logs/json.jsonl"), 70_000),
    expected: ["BYTES_DAMAGED logs/json.jsonl"],
  },
  "a flipped bit in the last bytes of a raw stream": {
    plant: (d) => flip(join(d, "logs/raw.bin"), 4999),
    expected: ["BYTES_DAMAGED logs/raw.bin"],
  },
  "a truncated file": {
    plant: (d) => truncateSync(join(d, "logs/raw.bin"), 4950),
    expected: ["FILE_TOO_SHORT logs/raw.bin"],
  },
  "a file with bytes added": {
    plant: (d) => appendFileSync(join(d, "logs/raw.bin"), "x"),
    expected: ["FILE_TOO_LONG logs/raw.bin"],
  },
  "a missing file": {
    plant: (d) => rmSync(join(d, "logs/fork.jsonl")),
    expected: ["FILE_MISSING logs/fork.jsonl"],
  },
  "a file that belongs to no stream": {
    plant: (d) => writeFileSync(join(d, "logs/other.jsonl"), "1\n"),
    expected: ["ORPHAN logs/other.jsonl"],
  },
  "a renamed file": {
    plant: (d) => {
      renameSync(join(d, "logs/raw.bin"), join(d, "logs/renamed.bin"));
      restate(d, (state) => {
        state.file = "renamed.bin";
      });
      rmSync(join(d, "streams.db"));
    },
    expected: [
      "NAME_WRONG logs/renamed.bin",
      "ORPHAN logs/raw.bin.checkpoints",
      "INDEX_REBUILT streams.db",
    ],
  },
  "a flipped bit of meta.jsonl": {
    plant: (d) => flip(join(d, "meta.jsonl"), 400),
    expected: ["META_DAMAGED meta.jsonl"],
  },
  "a meta.jsonl without its first line": {
    plant: (d) => truncateSync(join(d, "meta.jsonl"), 20),
    expected: ["META_DAMAGED meta.jsonl"],
  },
  "an unfinished line at the end of meta.jsonl": {
    plant: (d) => appendFileSync(join(d, "meta.jsonl"), '{"kind":"stream"'),
    expected: ["META_UNFINISHED meta.jsonl"],
  },
  "a missing streams.db": {
    plant: (d) => rmSync(join(d, "streams.db")),
    expected: ["INDEX_REBUILT streams.db"],
  },
  "a streams.db that is not a database": {
    plant: (d) => {
      writeFileSync(join(d, "streams.db"), "x".repeat(5000));
      rmSync(join(d, "streams.db-wal"), { force: true });
    },
    expected: ["INDEX_REBUILT streams.db"],
  },
  "a streams.db that differs in a message": {
    plant: (d) => sql(d, "UPDATE messages SET crc = crc + 1 WHERE streamPath = '/raw'"),
    expected: ["INDEX_DIFFERS streams.db"],
  },
  "a streams.db that differs in a stream": {
    plant: (d) => sql(d, "UPDATE streams SET isClosed = 1 WHERE path = '/json'"),
    expected: ["INDEX_DIFFERS streams.db"],
  },
  "a streams.db that lost a stream and a record": {
    plant: async (d) => {
      await sql(d, "DELETE FROM streams WHERE path = '/empty'");
      await sql(d, "DELETE FROM records");
    },
    expected: ["INDEX_DIFFERS streams.db", "INDEX_DIFFERS streams.db"],
  },
  "a streams.db that is ahead of the journal": {
    plant: (d) => sql(d, "UPDATE applied SET lsn = lsn + 1"),
    expected: ["INDEX_AHEAD streams.db"],
  },
};

async function sql(directory: string, statement: string): Promise<void> {
  const { cache } = await openCache(join(directory, "streams.db"), SCHEMA);
  assert.ok(cache);
  cache.run(statement);
  cache.close();
}

for (const [name, { plant, expected }] of Object.entries(DAMAGES)) {
  test(`checking finds ${name}`, async () => {
    const { directory } = await written();
    await plant(directory);
    assert.deepEqual(await codesIn(directory), expected);
  });
}

test("a journal that lost acknowledged records is damaged", async () => {
  const { crashed } = await written();
  const [segment] = readdirSync(join(crashed, "journal"));
  flip(join(crashed, "journal", segment ?? ""), 5000);
  assert.deepEqual(await codesIn(crashed), [`JOURNAL_DAMAGED journal/${segment}`]);
});

test("a directory in use is not checked, and one that is not a data directory is refused", async () => {
  const streams = new SignedStreams();
  const store = await streams.open();
  await refusal(found(streams.directory), "LOG_LOCKED");
  await store.close();
  assert.deepEqual(await found(streams.directory), []);
  await refusal(found(tempDirectory()), "LOG_NOT_FOUND");
});
