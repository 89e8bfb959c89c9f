/** Copies that are refused, and half copies, which no server uses. */

import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, onTestFinished, test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { copyStreams } from "../../src/streams/copy/copy-streams.ts";
import { openDirectorySource } from "../../src/streams/copy/directory-source.ts";
import { openDirectoryTarget } from "../../src/streams/copy/directory-target.ts";
import type { CopySource, CopyTarget } from "../../src/streams/copy/sides.ts";
import { openLocalStore } from "../../src/streams/files/local-store.ts";
import { openPostgresSource } from "../../src/streams/postgres/postgres-source.ts";
import { openPostgresStore } from "../../src/streams/postgres/postgres-store.ts";
import { openPostgresTarget } from "../../src/streams/postgres/postgres-target.ts";
import { lacksPostgres, newSchema, rowsIn, sharedPostgres } from "../support/postgres.ts";
import { refusal } from "../support/refusal.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const TEXT = { contentType: "text/plain", isClosed: false };
const NEW_ID = () => "00000000000000aa";

describe.skipIf(lacksPostgres)("with a database", () => {
  test("a target that is not empty is refused and not changed", async () => {
    const source = await openSource(await filled("source"));
    const directory = tempDirectory();
    writeFileSync(join(directory, "notes.txt"), "mine");
    await refusal(intoDirectory(source, directory), "COPY_REFUSED");
    assert.deepEqual(readdirSync(directory), ["notes.txt"]);
    const used = await filled("other");
    await refusal(intoDirectory(source, used), "COPY_REFUSED");

    const schema = await filledSchema();
    await refusal(intoDatabase(source, schema), "COPY_REFUSED");
    const store = await openPostgresStore(await sharedPostgres(), memory(schema));
    assert.equal((await store.list({ limit: 9 })).length, 1);
    await store.close();
  });

  test("a database that a server opened and nothing was written to is empty", async () => {
    const schema = newSchema();
    const store = await openPostgresStore(await sharedPostgres(), memory(schema));
    await assert.rejects(store.append("/never", { body: Buffer.from("x"), close: false }));
    await store.close();
    const source = await openSource(await filled("source"));
    const target = await intoDatabase(source, schema);
    await copyStreams(source, target, () => {});
    await target.close();
  });

  test("the copy of another store, or of other contents, is refused where one was begun", async () => {
    const directory = await filled("one");
    const schema = newSchema();
    const to = tempDirectory();
    const source = await openDirectorySource(nodeHost, directory);
    await begun(source, schema, to);
    await source.close();
    const other = await openSource(await filled("two"));
    await refusal(intoDatabase(other, schema), "COPY_REFUSED");
    await refusal(intoDirectory(other, to), "COPY_REFUSED");

    const store = await openLocalStore({ dataDirectory: directory });
    await store.append("/s", { body: Buffer.from("more"), close: false });
    await store.close();
    const changed = await openSource(directory);
    const { details } = await refusal(intoDatabase(changed, schema), "COPY_REFUSED");
    assert.match(details.reason, /DROP SCHEMA/);
    await refusal(intoDirectory(changed, to), "COPY_REFUSED");
  });

  test("no server uses an unfinished copy, and it is no source", async () => {
    const schema = newSchema();
    const to = tempDirectory();
    await begun(await openSource(await filled("one")), schema, to);
    await refusal(openLocalStore({ dataDirectory: to }), "COPY_REFUSED");
    await refusal(openDirectorySource(nodeHost, to), "COPY_REFUSED");
    const url = await sharedPostgres();
    await refusal(openPostgresStore(url, memory(schema)), "POSTGRES_REFUSED");
    await refusal(openPostgresSource(url, { schema, isAlone: true }), "POSTGRES_REFUSED");
  });

  test("a store in use is neither source nor target", async () => {
    const directory = await filled("one");
    const local = await openLocalStore({ dataDirectory: directory });
    onTestFinished(() => local.close());
    await refusal(openDirectorySource(nodeHost, directory), "LOG_LOCKED");

    const url = await sharedPostgres();
    const [schema, empty] = [await filledSchema(), newSchema()];
    for (const each of [schema, empty]) {
      const store = await openPostgresStore(url, memory(each));
      onTestFinished(() => store.close());
    }
    await refusal(openPostgresSource(url, { schema, isAlone: true }), "LOG_LOCKED");
    const source = await openSource(await filled("two"));
    await refusal(intoDatabase(source, empty), "LOG_LOCKED");
    const meanwhile = await openPostgresSource(url, { schema, isAlone: false });
    await meanwhile.close();
  });

  test("while a database is copied, no server starts on it", async () => {
    const url = await sharedPostgres();
    const schema = await filledSchema();
    const source = await openPostgresSource(url, { schema, isAlone: true });
    const { details } = await refusal(openPostgresStore(url, memory(schema)), "POSTGRES_REFUSED");
    await source.close();
    assert.match(details.reason, /being copied/);
    await (await openPostgresStore(url, memory(schema))).close();
  });

  test("a store is not copied to itself", async () => {
    const directory = await filled("one");
    const source = await openSource(directory);
    for (const to of [directory, `${directory}/.`, join(directory, "below")]) {
      const { details } = await refusal(intoDirectory(source, to), "COPY_REFUSED");
      assert.match(details.reason, /it is the source/);
    }
    assert.ok(!readdirSync(directory).includes("below"));
    const schema = await filledSchema();
    const url = await sharedPostgres();
    const database = await openPostgresSource(url, { schema, isAlone: true });
    onTestFinished(() => database.close());
    const { details } = await refusal(intoDatabase(database, schema), "COPY_REFUSED");
    assert.match(details.reason, /it is the source/);
  });

  test("a place without streams is no source", async () => {
    const empty = tempDirectory();
    await refusal(openDirectorySource(nodeHost, empty), "COPY_REFUSED");
    await refusal(openDirectorySource(nodeHost, join(empty, "none")), "COPY_REFUSED");
    const url = await sharedPostgres();
    const options = { schema: newSchema(), isAlone: true };
    await refusal(openPostgresSource(url, options), "COPY_REFUSED");
  });

  test("damage in the source is reported, and the copy stays unfinished", async () => {
    const directory = await filled("abcdef");
    const log = join(directory, "logs", "s.bin");
    writeFileSync(log, readFileSync(log, "utf8").replace("c", "x"));
    const source = await openSource(directory);
    const schema = newSchema();
    const target = await intoDatabase(source, schema);
    await refusal(
      copyStreams(source, target, () => {}),
      "STREAM_DAMAGED",
    );
    await target.close();
    const url = await sharedPostgres();
    await refusal(openPostgresStore(url, memory(schema)), "POSTGRES_REFUSED");

    const other = await filledSchema();
    await rowsIn(url, `UPDATE ${other}.messages SET bytes = set_byte(bytes, 1, 65)`);
    const database = await openPostgresSource(url, { schema: other, isAlone: true });
    const to = await intoDirectory(database, tempDirectory());
    await refusal(
      copyStreams(database, to, () => {}),
      "STREAM_DAMAGED",
    );
    await to.close();
    await database.close();
  });

  test("a copy that differs from its source in anything is not finished", async () => {
    const directory = await filled("abcdef", async (store) => {
      const producer = { id: "p", epoch: 0, seq: 0 };
      await store.append("/s", { body: Buffer.from("g"), producer, close: false });
      await store.putRecord("key", "value");
    });
    const url = await sharedPostgres();
    const changes = [
      "UPDATE messages SET time = time + 1",
      "UPDATE messages SET bytes = '\\x626364656667', crc = -2101139153",
      'DELETE FROM messages WHERE "end" = 7',
      "DELETE FROM streams",
      'UPDATE streams SET "isClosed" = true',
      `UPDATE streams SET settings = replace(settings, 'text/plain', 'text/html')`,
      "UPDATE producers SET seq = 1",
      "INSERT INTO checkpoints SELECT sid, 1, '\\x41' FROM streams",
      "UPDATE records SET value = '\"other\"'",
    ];
    for (const sql of changes) {
      const schema = newSchema();
      const source = await openDirectorySource(nodeHost, directory);
      const target = await intoDatabase(source, schema);
      const altered = before(target, "asSource", async () => {
        await rowsIn(url, `SET search_path TO ${schema}; ${sql}`);
      });
      const copying = copyStreams(source, altered, () => {});
      const error = await copying.then(
        () => null,
        (cause) => cause,
      );
      assert.match(String(error?.code), /COPY_REFUSED|STREAM_DAMAGED/, sql);
      await target.close();
      await source.close();
      await refusal(openPostgresStore(url, memory(schema)), "POSTGRES_REFUSED");
    }
  });
});

async function openSource(directory: string): Promise<CopySource> {
  const source = await openDirectorySource(nodeHost, directory);
  onTestFinished(() => source.close());
  return source;
}

/** A data directory with one stream. */
async function filled(
  text: string,
  more: (store: Awaited<ReturnType<typeof openLocalStore>>) => Promise<void> = async () => {},
): Promise<string> {
  const directory = join(tempDirectory(), "data");
  mkdirSync(directory);
  const store = await openLocalStore({ dataDirectory: directory });
  await store.create("/s", { ...TEXT, body: Buffer.from(text) });
  await more(store);
  await store.close();
  return directory;
}

async function filledSchema(): Promise<string> {
  const schema = newSchema();
  const store = await openPostgresStore(await sharedPostgres(), memory(schema));
  await store.create("/s", { ...TEXT, body: Buffer.from("text") });
  await store.close();
  return schema;
}

async function intoDatabase(source: CopySource, schema: string): Promise<CopyTarget> {
  return openPostgresTarget(await sharedPostgres(), source, { schema });
}

function intoDirectory(source: CopySource, directory: string): Promise<CopyTarget> {
  return openDirectoryTarget(nodeHost, directory, source, NEW_ID);
}

/** Copies that end before they are compared. */
async function begun(source: CopySource, schema: string, directory: string): Promise<void> {
  for (const target of [
    await intoDatabase(source, schema),
    await intoDirectory(source, directory),
  ]) {
    const ended = before(target, "asSource", () => Promise.reject(new Error("killed")));
    await assert.rejects(
      copyStreams(source, ended, () => {}),
      /killed/,
    );
    await target.close();
  }
}

/** The same target, which does something before one of its methods. */
function before(target: CopyTarget, name: keyof CopyTarget, work: () => Promise<void>): CopyTarget {
  return new Proxy(target, {
    get(_, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== "function") return value;
      return async (...args: unknown[]) => {
        if (key === name) await work();
        return Reflect.apply(value, target, args);
      };
    },
  });
}

function memory(schema: string) {
  return { schema, durability: "memory" } as const;
}
