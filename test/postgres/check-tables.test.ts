/** Checks of tables: each kind of damage is found, with the code that files have for it. */

import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { checkTables } from "../../src/streams/postgres/check-tables.ts";
import { openPostgresSource } from "../../src/streams/postgres/postgres-source.ts";
import { openPostgresStore } from "../../src/streams/postgres/postgres-store.ts";
import { lacksPostgres, newSchema, rowsIn, sharedPostgres } from "../support/postgres.ts";

const TEXT = { contentType: "text/plain", body: Buffer.from("first"), isClosed: false };
const OF_S = "sid = (SELECT sid FROM streams WHERE path = '/s')";

/** What is done to a stream of the messages `first`, `second`, and what is found. */
const DAMAGE: readonly (readonly [name: string, sql: string, ...found: string[]])[] = [
  ["nothing is found in a sound database", "SELECT 1"],
  [
    "changed bytes are found",
    `UPDATE messages SET bytes = set_byte(bytes, 1, 65) WHERE ${OF_S}`,
    "/s BYTES_DAMAGED 0",
    "/s BYTES_DAMAGED 5",
  ],
  [
    "a changed checksum is found",
    `UPDATE messages SET crc = crc + 1 WHERE "end" = 11 AND ${OF_S}`,
    "/s BYTES_DAMAGED 5",
  ],
  [
    "a missing message before others is found",
    `DELETE FROM messages WHERE "end" = 5 AND ${OF_S}`,
    "/s BYTES_DAMAGED 5",
  ],
  [
    "a missing last message is found",
    `DELETE FROM messages WHERE "end" = 11 AND ${OF_S}`,
    "/s FILE_TOO_SHORT 5",
  ],
  [
    "a stream without its messages is found",
    `DELETE FROM messages WHERE ${OF_S}`,
    "/s FILE_MISSING 0",
  ],
  [
    "a stream that ends before its messages and its fork is found",
    "UPDATE streams SET \"end\" = 5 WHERE path = '/s'",
    "/fork SOURCE_MISSING undefined",
    "/s FILE_TOO_LONG 5",
  ],
  [
    "messages and forks of a stream without a row are found",
    "DELETE FROM streams WHERE path = '/s'",
    "/fork SOURCE_MISSING undefined",
    "null ORPHAN undefined",
  ],
];

describe.skipIf(lacksPostgres)("with a database", () => {
  test.each(DAMAGE)("%s", async (_, sql, ...expected) => {
    const url = await sharedPostgres();
    const schema = newSchema();
    const store = await openPostgresStore(url, { schema, durability: "memory" });
    await store.create("/s", TEXT);
    await store.append("/s", { body: Buffer.from("second"), close: false });
    const fork = { source: "/s" };
    await store.create("/fork", { body: Buffer.alloc(0), isClosed: false, fork });
    await store.create("/gone", TEXT);
    await store.remove("/gone");
    await rowsIn(url, `SET search_path TO ${schema}; ${sql}`);
    const source = await openPostgresSource(url, { schema, isAlone: false }); // The server runs.
    const found: string[] = [];
    for await (const each of checkTables(source)) {
      if ("stream" in each) continue;
      const { code, session, offset } = each.finding;
      found.push(`${session} ${code} ${offset}`);
    }
    await source.close();
    await store.close();
    assert.deepEqual(found, expected);
  });
});
