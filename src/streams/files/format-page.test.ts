/**
 * The format page's examples are what a store writes.
 *
 * Method: a store with fixed time and ids performs the operations of the page's examples. Every
 * example must be found in its files, and every kind of line in them must have an example.
 */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { docsPage } from "../../../test/support/docs-page.ts";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { openLocalStore } from "./local-store.ts";
import { SCHEMA } from "./lookup/stream-rows.ts";
import { streamPathToFilename } from "./stream-path.ts";

const { text: PAGE, block, lines: linesOf } = docsPage("formats/streams");

test("every example line of the journal, meta.jsonl and streams.mark is one that a store writes", async () => {
  const { journal, meta, mark } = await written();
  for (const [kind, lines] of [
    ["journal", journal],
    ["meta", meta],
    ["mark", mark],
  ] as const) {
    const shown = linesOf(`jsonl ${kind}`);
    for (const line of shown) assert.ok(lines.includes(line), `no ${kind} has the line ${line}`);
    assert.deepEqual(kindsOf(shown), kindsOf(lines), `the kinds of ${kind} lines on the page`);
  }
});

test("a journal record's bytes follow its header, as the page shows", async () => {
  const { segment } = await written();
  const record = block("text record");
  assert.ok(record.includes('"op":"append"'));
  assert.ok(segment.includes(record));
});

test("the schema on the format page is the current one", () => {
  assert.equal(block("sql streams-schema").trim(), SCHEMA.trim());
});

test("paths and names on the page agree with streamPathToFilename", () => {
  const rows = [...PAGE.matchAll(/^\| `(\/[^`]+)` \| `([^`]+\.jsonl)` \|$/gm)];
  assert.ok(rows.length >= 5);
  for (const [, path = "", name] of rows) assert.equal(streamPathToFilename(path), name);
});

/** The files of a store after some of each operation, before and after a checkpoint. */
async function written(): Promise<{
  segment: string;
  journal: string[];
  meta: string[];
  mark: string[];
}> {
  const dataDirectory = tempDirectory();
  let id = 0x5eed0000;
  const newId = () => (id++).toString(16).padStart(16, "0");
  const now = () => 1_763_200_000_000;
  const store = await openLocalStore({ dataDirectory, newId, now });
  const path = "/chat/session-1";
  const contentType = "application/json";
  const body = Buffer.from(
    '[{"role":"user","content":"hello"},{"role":"assistant","content":"Hi"}]',
  );
  await store.create(path, { contentType, body, isClosed: false });
  const producer = { id: "writer-1", epoch: 0, seq: 0 };
  const last = { body: Buffer.from('{"n":1.0}'), producer, streamSeq: "0001", close: true };
  await store.append(path, last);
  await store.create("/draft", { body: Buffer.from("\0raw"), isClosed: false });
  await store.remove("/draft");
  await store.putRecord("subscriptions/1", '{"id":"1"}');
  const [name = ""] = readdirSync(join(dataDirectory, "journal"));
  const segment = readFileSync(join(dataDirectory, "journal", name), "latin1");
  await store.close();
  const meta = readFileSync(join(dataDirectory, "meta.jsonl"), "utf8").trimEnd().split("\n");
  return {
    segment,
    journal: segment.split("\n").filter((line) => /^\{"(journal|lsn)"/.test(line)),
    meta,
    mark: [readFileSync(join(dataDirectory, "streams.mark"), "utf8").trimEnd()],
  };
}

function kindsOf(lines: readonly string[]): string[] {
  const kinds = lines.map((line) => {
    const { kind, op = "segment" } = JSON.parse(line) as { kind?: string; op?: string };
    return kind ?? op;
  });
  return [...new Set(kinds)].sort();
}
