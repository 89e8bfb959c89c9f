/** The examples in docs/formats/trash.md are what the code reads and writes. */

import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { addHold, holdOn, holdsPath } from "../../src/evidence/removal/holds.ts";
import { newTrashKey, Trash, trashPath } from "../../src/evidence/removal/trash.ts";
import { docsPage } from "../support/docs-page.ts";
import { thrownRefusal } from "../support/refusal.ts";
import { SigningUser } from "../support/signing-user.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const page = docsPage("formats/trash");
const KEY = newTrashKey(Date.parse("2026-11-19T10:41:08.297Z"), "8cafe404");

async function recordRead(text: string) {
  const root = tempDirectory();
  mkdirSync(trashPath(root), { recursive: true });
  writeFileSync(join(trashPath(root), `${KEY}.json`), text);
  return { root, entries: await Trash.read(nodeHost, root) };
}

test("the record of the page is read, and written again byte for byte", async () => {
  const text = page.block("json removal");
  assert.ok(page.text.includes(`\`${KEY}\``), KEY);
  const { root, entries } = await recordRead(text);
  const [found] = entries;
  assert.ok(found?.entry);
  const { entry } = found;
  await Trash.locked(nodeHost, root, (trash) => trash.write(entry));
  assert.equal(readFileSync(found.path, "utf8"), text);
});

test("a record that names a path, or has an unknown state or a bad field, is none", async () => {
  const text = page.block("json removal");
  for (const [from, to] of [
    ['"name":"old.jsonl"', '"name":"../old.jsonl"'],
    ['"name":"old.jsonl"', '"name":".."'],
    ['"state":"trash"', '"state":"gone"'],
    ['"v":1', '"v":2'],
    ['"bytes":193', '"bytes":"193"'],
    ['"tombstones":[]', '"tombstones":[{}]'],
    ['"id":"old"', '"id":7'],
  ] as const) {
    assert.ok(text.includes(from), from);
    const { entries } = await recordRead(text.replace(from, to));
    assert.deepEqual(
      entries.map(({ entry }) => entry),
      [null],
      to,
    );
  }
});

test("files without a record are removed, and other files of the directory stay", async () => {
  const { root } = await recordRead(page.block("json removal"));
  const other = newTrashKey(0, "00000000");
  for (const name of [`${other}.0`, `${other}.1.tmp`, `${KEY}.0`, "notes.txt"]) {
    writeFileSync(join(trashPath(root), name), "text");
  }
  await Trash.locked(nodeHost, root, (trash) => trash.dropUnrecorded());
  const left = readdirSync(trashPath(root)).sort();
  assert.deepEqual(left, [`${KEY}.0`, `${KEY}.json`, "notes.txt", "trash.lock"]);
});

test("the holds of the page are written, and a file that is none is refused", async () => {
  new SigningUser();
  const text = page.block("json holds");
  const [hold] = JSON.parse(text).holds;
  await addHold(nodeHost, hold);
  assert.equal(readFileSync(holdsPath(), "utf8"), text);
  assert.deepEqual(holdOn({ dialect: "verbatim", id: "old" }), hold);
  assert.equal(holdOn({ dialect: "rye", id: "old" }), null);
  for (const bad of ["", "{}", text.replace('"v":1', '"v":2'), text.replace('"by":', '"my":')]) {
    writeFileSync(holdsPath(), bad);
    thrownRefusal(() => holdOn(hold), "BAD_SETTING");
  }
});
