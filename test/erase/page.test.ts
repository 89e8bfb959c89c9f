/** The examples in docs/formats/erase.md are what the code reads and writes. */

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { erase } from "../../src/evidence/erase/erase.ts";
import { type ErasableLog, readIntent } from "../../src/evidence/erase/intent.ts";
import { sessionErasing } from "../../src/evidence/erase/session-erasure.ts";
import { matching } from "../../src/evidence/redact/text-matches.ts";
import { docsPage } from "../support/docs-page.ts";
import { refusal } from "../support/refusal.ts";
import { SigningUser, said } from "../support/signing-user.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const page = docsPage("formats/erase");
const TARGET: ErasableLog = { dialect: "verbatim", root: "/", logId: "x", id: "hello" };

async function reading(text: string) {
  const directory = await nodeHost.files.openDirectory(tempDirectory(), { create: false });
  writeFileSync(join(directory.path, "hello.jsonl.erase"), text);
  return readIntent(directory, "hello.jsonl", TARGET);
}

test("the intent of the page is read, and none that names another file or session", async () => {
  const text = page.block("json erase-intent");
  const intent = await reading(text);
  assert.equal(`${JSON.stringify({ verbatim: "erase", v: 1, ...intent })}\n`, text);
  for (const [from, to] of [
    ["hello.jsonl.torn-0", "../hello.jsonl.torn-0"],
    ["hello.jsonl.torn-0", "other.jsonl"],
    ["hello.jsonl.torn-0", "hello.jsonl"],
    ['"hello.jsonl.erase-log","hello.jsonl"', '"hello.jsonl","hello.jsonl.erase-log"'],
    ['"hello.jsonl.erase-log","hello.jsonl"', '"hello.jsonl.erase-log","/etc/passwd"'],
    ['"id":"hello"', '"id":"other"'],
    ['"v":1', '"v":2'],
    ['"moves":[[', '"moves":[7,['],
    ["{", "["],
  ] as const) {
    assert.ok(text.includes(from));
    await refusal(reading(text.replace(from, to)), "CANNOT_ERASE");
  }
});

test("the report of the page has the fields that an erasure writes", async () => {
  const user = new SigningUser();
  const entries = [said("one"), said("the code is 48213"), said("two")];
  const { target, path } = await user.write({ dialect: "verbatim" }, entries, { id: "hello" });
  const asked = { finder: matching(["48213"]), reason: "private address", places: user.places };
  await erase(await sessionErasing(nodeHost, target, { ...asked, onWarning: () => {} }));
  const last = readFileSync(path, "utf8").trimEnd().split("\n").at(-1) ?? "";
  const written = JSON.parse(last).entry.parts[0].native;
  const said2 = JSON.parse(page.block("json erase-report"));
  const shape = (value: object) =>
    JSON.stringify(value, (_, each) => (each === Object(each) ? each : typeof each));
  assert.equal(shape(written), shape(said2));
  assert.deepEqual({ ...written, from: 0 }, { ...said2, from: 0 });
});
