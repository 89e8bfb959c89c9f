/** The page of the PostgreSQL format matches the code and what a store writes. */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, test } from "vitest";
import { openPostgresStore } from "../../src/streams/postgres/postgres-store.ts";
import { CHECKPOINTS, SHARES, TABLES, UNSIGNED } from "../../src/streams/postgres/schema.ts";
import { docsPage } from "../support/docs-page.ts";
import { lacksPostgres, newSchema, rowsIn, sharedPostgres } from "../support/postgres.ts";

const page = docsPage("formats/postgres");

test("the tables on the format page are the current ones", () => {
  assert.equal(page.block("sql postgres-schema").trim(), TABLES.trim());
  assert.equal(page.block("sql postgres-schema-2").trim(), CHECKPOINTS.trim());
  assert.equal(page.block("sql postgres-schema-3").trim(), UNSIGNED.trim());
  assert.equal(page.block("sql postgres-schema-5").trim(), SHARES.trim());
});

describe.skipIf(lacksPostgres)("with a database", () => {
  test("rows are as the page describes them, and messages are the stream's bytes", async () => {
    const url = await sharedPostgres();
    const schema = newSchema();
    const store = await openPostgresStore(url, { schema, durability: "memory" });
    const path = "/chat/session-1";
    const body = Buffer.from('[{"role":"user"},{"role":"assistant"}]');
    await store.create(path, { contentType: "application/json", body, isClosed: false });
    const producer = { id: "writer-1", epoch: 0, seq: 0 };
    const last = { body: Buffer.from('{"n":1.0}'), producer, streamSeq: "0001", close: true };
    await store.append(path, last);
    const { bytes } = await store.read(path, "start", 1000);
    await store.close();

    const [stream] = await rowsIn(url, `SELECT * FROM ${schema}.streams`);
    const [settings] = page.lines("jsonl postgres-settings");
    assert.equal(stream?.settings, settings);
    assert.equal(stream?.version, "2");
    assert.deepEqual(stream?.key, createHash("sha256").update(path).digest());
    const rows = await rowsIn(url, `SELECT * FROM ${schema}.messages ORDER BY "end"`);
    assert.deepEqual(Buffer.concat(rows.map((row) => row.bytes as Buffer)), Buffer.from(bytes));
    const [producers] = await rowsIn(url, `SELECT id FROM ${schema}.producers`);
    assert.equal(producers?.id, '"writer-1"');
  });
});
