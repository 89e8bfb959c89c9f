/** Damaged tables: a read returns the appended bytes or STREAM_DAMAGED, never other or fewer bytes. */

import assert from "node:assert/strict";
import { describe, test } from "vitest";
import type { OffsetToken } from "../../src/streams/files/offset-token.ts";
import type { StreamStore } from "../../src/streams/files/stream-store.ts";
import { openPostgresStore } from "../../src/streams/postgres/postgres-store.ts";
import { lacksPostgres, newSchema, rowsIn, sharedPostgres } from "../support/postgres.ts";
import { refusal } from "../support/refusal.ts";

const MESSAGES = ["first", "second", "third", "fourth"];
/** What can happen to the message that ends at `end`. */
const DAMAGE: Readonly<Record<string, string>> = {
  "a changed byte": "UPDATE messages SET bytes = set_byte(bytes, 1, 65)",
  "a byte more": "UPDATE messages SET bytes = bytes || '\\x41'",
  "a byte less": "UPDATE messages SET bytes = substring(bytes FROM 2)",
  "no bytes": "UPDATE messages SET bytes = ''",
  "another checksum": "UPDATE messages SET crc = crc + 1",
  "another place": 'UPDATE messages SET "end" = "end" + 1',
  "a missing row": "DELETE FROM messages",
};

describe.skipIf(lacksPostgres)("with a database", () => {
  for (const [name, sql] of Object.entries(DAMAGE)) {
    test(`${name} in any message is found, and messages before it are read`, async () => {
      const url = await sharedPostgres();
      const schema = newSchema();
      const store = await openPostgresStore(url, { schema, durability: "memory" });
      for (const [n, text] of MESSAGES.entries()) {
        const path = `/${n}`;
        const body = new Uint8Array();
        await store.create(path, { body, contentType: "text/plain", isClosed: false });
        for (const message of MESSAGES) {
          await store.append(path, { body: Buffer.from(message), close: false });
        }
        const before = MESSAGES.slice(0, n).join("");
        const sid = `(SELECT sid FROM ${schema}.streams WHERE path = '${path}')`;
        const row = `WHERE "end" = ${before.length + text.length} AND sid = ${sid}`;
        await rowsIn(url, `${sql.replace("messages", `${schema}.messages`)} ${row}`);
        for (const bytesMax of [1, 7, 1000]) {
          const read = await readUntilRefused(store, path, bytesMax);
          assert.ok(before.startsWith(read), `${read} with ${bytesMax}`);
        }
        const reading = async () => {
          for await (const { data } of store.messages(path, "start")) assert.ok(data.length > 0);
        };
        await refusal(reading(), "STREAM_DAMAGED");
      }
      await store.close();
    });
  }
});

/** The bytes that are read before STREAM_DAMAGED. */
async function readUntilRefused(
  store: StreamStore,
  path: string,
  bytesMax: number,
): Promise<string> {
  let text = "";
  const reading = async () => {
    for (let at: OffsetToken | "start" = "start"; ; ) {
      const chunk = await store.read(path, at, bytesMax);
      text += Buffer.from(chunk.bytes).toString();
      at = chunk.next;
      if (chunk.isAtEnd) return;
    }
  };
  const { details } = await refusal(reading(), "STREAM_DAMAGED");
  assert.equal(details.stream, path);
  return text;
}
