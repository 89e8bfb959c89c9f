/** Signed streams in PostgreSQL: the same checkpoints as in files, whichever server signs. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "vitest";
import type { StreamStore } from "../../src/streams/files/stream-store.ts";
import { crcOf } from "../../src/streams/journal/journal-record.ts";
import { lacksPostgres } from "../support/postgres.ts";
import { SignedDatabase } from "../support/signed-database.ts";
import {
  JSON_STREAM,
  message,
  NEVER,
  RAW_STREAM,
  SignedStreams,
} from "../support/signed-streams.ts";
import { until } from "../support/until.ts";

/** Creates, appends, closes, forks, deletes and creates again. */
async function script(store: StreamStore): Promise<void> {
  await store.create("/chat", JSON_STREAM);
  await store.create("/raw", RAW_STREAM);
  await store.create("/empty", JSON_STREAM);
  for (let n = 0; n < 10; n++) {
    await store.append("/chat", message([{ n }, { n, type: "checkpoint" }]));
    await store.append("/raw", { body: Buffer.from([0, 10, 255, n]), close: false });
  }
  await store.create("/fork", { ...JSON_STREAM, fork: { source: "/chat" } });
  await store.append("/fork", message("more"));
  await store.append("/chat", { body: Buffer.from('"the end"'), close: true });
  await store.create("/whole", { ...JSON_STREAM, body: Buffer.from("[1,2]"), isClosed: true });
  await store.create("/again", { ...RAW_STREAM, body: Buffer.from("first") });
  await store.remove("/again");
  await store.create("/again", { ...RAW_STREAM, body: Buffer.from("second") });
}

/** What checkpoints say, without what differs from run to run. */
function shape(checkpoints: readonly { payload: Record<string, unknown> }[]): unknown[] {
  return checkpoints.map(({ payload }) => {
    const { turn, byte_offset, v, kind, seq, tree, rev, parts, found, vouched, from } = payload;
    const { size } = tree as { size: number };
    const source = from as { seq: number; at: number } | null | undefined;
    return {
      turn,
      byte_offset,
      v,
      kind,
      seq,
      size,
      rev,
      parts,
      found,
      vouched,
      from: source && { seq: source.seq, at: source.at },
      // Which genesis it is of is checked by the verdicts.
      bindsGenesis: typeof payload.genesis === "string",
    };
  });
}

describe.skipIf(lacksPostgres)("with a database", () => {
  test("the same script gives the same checkpoints as in files, and every stream verifies", async () => {
    const files = new SignedStreams();
    const local = await files.open({ signingCadence: NEVER });
    await script(local);
    await local.close();
    const inFiles = await files.verdicts();

    const database = await SignedDatabase.create();
    const store = await database.open({ signingCadence: NEVER });
    await script(store);
    await store.close();
    assert.deepEqual(await database.verdicts(), inFiles);
    assert.deepEqual(new Set(Object.values(inFiles)), new Set(["verified"]));
    for (const state of await database.states()) {
      if (state.end === 0) continue;
      const text = readFileSync(join(files.directory, "logs", `${state.file}.checkpoints`), "utf8");
      const lines = text.split("\n").slice(0, -1);
      const expected = shape(lines.map((line) => JSON.parse(line)));
      assert.deepEqual(shape(await database.checkpoints(state.path)), expected, state.path);
      const binding = lines.map((line) => line.includes(',"genesis":"'));
      assert.deepEqual(
        binding,
        [...lines.keys()].map((seq) => seq === 1),
      );
    }
    assert.deepEqual([...files.warnings, ...database.warnings], []);
    assert.deepEqual(await database.rows("SELECT * FROM $.unsigned"), []);
  });

  test("checkpoints are made after a number of appends, of bytes, an idle time, and at close", async () => {
    const database = await SignedDatabase.create();
    const store = await database.open({
      signingCadence: { bytesMax: 1000, appendsMax: 3, idleMs: 1e9 },
    });
    const kinds = async (count: number) => {
      await until(async () => (await database.kinds("/a")).length >= count, `${count} checkpoints`);
      return database.kinds("/a");
    };
    await store.create("/a", JSON_STREAM);
    for (let n = 0; n < 2; n++) await store.append("/a", message(n));
    assert.deepEqual(await database.kinds("/a"), ["genesis"], "it is stored with the first bytes");
    await store.append("/a", message(2));
    assert.deepEqual(await kinds(2), ["genesis", "batch"]);
    await store.append("/a", message("x".repeat(1000)));
    assert.deepEqual(await kinds(3), ["genesis", "batch", "batch"]);
    await store.append("/a", { body: new Uint8Array(0), close: true });
    assert.deepEqual(await kinds(4), ["genesis", "batch", "batch", "final"]);
    const idle = await database.open({ signingCadence: { ...NEVER, idleMs: 40 } });
    await idle.create("/idle", { ...RAW_STREAM, body: Buffer.from("one") });
    await until(async () => (await database.kinds("/idle")).length === 2, "the idle one");
    assert.deepEqual(await database.verdicts(), { "/a": "verified", "/idle": "verified" });
  });

  test("two servers that append to one stream in turns continue one chain of checkpoints", async () => {
    const database = await SignedDatabase.create();
    const options = { signingCadence: { ...NEVER, appendsMax: 1 } };
    const servers = [await database.open(options), await database.open(options)] as const;
    await servers[0].create("/s", JSON_STREAM);
    await servers[0].create("/raw", RAW_STREAM);
    const isSigned = async () => (await database.rows("SELECT FROM $.unsigned")).length === 0;
    for (let n = 0; n < 30; n++) {
      for (const path of ["/s", "/raw"]) await servers[n % 2]?.append(path, message(n));
      if (n % 7 === 0) await until(isSigned, "the servers have signed");
    }
    for (const server of servers) await server.close();
    const reports = await database.reports();
    for (const [path, { verdict, findings, checkpoints, tail }] of reports) {
      assert.equal(verdict, "verified", `${path} ${JSON.stringify(findings)}`);
      assert.ok(checkpoints.total >= 4 && checkpoints.total === checkpoints.valid, path);
      assert.equal(tail.bytes, 0);
    }
    assert.equal(new Set(await database.kinds("/s")).size, 2, "genesis and batch");
    assert.deepEqual(database.warnings, []);
    assert.deepEqual(await database.rows("SELECT * FROM $.unsigned"), []);
  });

  test("four servers that append and sign at the same time continue one chain", async () => {
    const database = await SignedDatabase.create();
    const options = { signingCadence: { ...NEVER, appendsMax: 2 } };
    const servers = await Promise.all([1, 2, 3, 4].map(() => database.open(options)));
    await servers[0]?.create("/s", JSON_STREAM);
    await Promise.all(
      servers.map(async (server, k) => {
        for (let n = 0; n < 25; n++) await server.append("/s", message([k, n]));
      }),
    );
    await Promise.all(servers.map((server) => server.close()));
    assert.deepEqual(await database.verdicts(), { "/s": "verified" });
    assert.deepEqual(database.warnings, []);
  });

  test("a message that was altered with its checksum is tampering once it is signed", async () => {
    const database = await SignedDatabase.create();
    const store = await database.open();
    await store.create("/s", JSON_STREAM);
    await store.append("/s", message("original"));
    await store.close();
    await alter(database, "original", "0riginal");
    assert.deepEqual(await database.verdicts(), { "/s": "tampered HASH_MISMATCH" });
    const again = await database.open();
    const { bytes } = await again.read("/s", "start", 1000);
    assert.equal(Buffer.from(bytes).toString(), '"0riginal"\n', "the checksum fits");
    await again.append("/s", message("more"));
    await again.close();
    assert.match(database.warnings.join(), /is tampered and is not signed any further/);
  });

  test("a message that was altered before it was signed is not signed", async () => {
    const database = await SignedDatabase.create();
    const store = await database.open({ signingCadence: NEVER });
    await store.create("/s", JSON_STREAM);
    await store.append("/s", message("original"));
    await alter(database, "original", "0riginal");
    await store.close();
    assert.match(database.warnings.join(), /not those that were appended/);
    assert.deepEqual(await database.verdicts(), { "/s": "incomplete UNSIGNED_TAIL" });
  });

  test("messages of a server that does not sign are stated as found", async () => {
    const database = await SignedDatabase.create();
    const unsigned = await database.open({ signing: undefined });
    await unsigned.create("/late", { ...JSON_STREAM, body: Buffer.from("[1]") });
    const store = await database.open({ signingCadence: NEVER });
    await store.create("/s", JSON_STREAM);
    await store.append("/s", message(1));
    await unsigned.append("/s", message("by a server that does not sign"));
    for (const path of ["/s", "/late"]) await store.append(path, message("on"));
    await store.close();
    assert.deepEqual(await database.kinds("/s"), ["genesis", "recovery"]);
    const [, recovery] = await database.checkpoints("/s");
    assert.deepEqual(recovery?.payload.found, [0, 35]);
    assert.deepEqual(await database.verdicts(), {
      "/late": "incomplete FOUND_UNSIGNED",
      "/s": "incomplete FOUND_UNSIGNED",
    });
    assert.deepEqual(database.warnings, []);
  });
});

/** Alters stored bytes as one who can write to the database, and knows the format, would. */
async function alter(database: SignedDatabase, from: string, to: string): Promise<void> {
  const rows = await database.rows('SELECT sid, "end", bytes FROM $.messages');
  for (const { sid, end, bytes } of rows as { sid: string; end: string; bytes: Buffer }[]) {
    const altered = Buffer.from(bytes.toString("latin1").replace(from, to), "latin1");
    await database.rows(
      `UPDATE $.messages SET bytes = '\\x${altered.toString("hex")}', crc = ${crcOf(altered) | 0}
       WHERE sid = ${sid} AND "end" = ${end}`,
    );
  }
}
