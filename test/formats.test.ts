/**
 * The format pages match the code.
 *
 * Method: every `jsonl` block of every page is parsed. The blocks of `log.md` name their kind after the
 * word `jsonl` or `hex`, and are tried on a real log on a real disk.
 */

import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { test } from "vitest";
import { parseExactly } from "../src/core/base/exact-numbers.ts";
import { DOUBTFUL_BYTES } from "../src/core/base/limits.ts";
import { nodeHost } from "../src/core/base/node-host.ts";
import { encodeLine } from "../src/core/log/json.ts";
import { LogReader } from "../src/core/log/reader.ts";
import { docsPage } from "./support/docs-page.ts";
import { bytesOf, logHolding, newLogPath, openWriter } from "./support/open-log.ts";
import { refusal } from "./support/refusal.ts";

const FORMATS = new URL("../docs/formats/", import.meta.url);
const KINDS = ["log-line", "encoded-line", "lock-held", "lock-closed"];

/** Longer than the closed hint's example covers; its first line is shorter. */
const LINES = '{"n":1}\n{"n":"two"}\n{"n":3}\n';
const FIRST_LINE = '{"n":1}\n';

interface Block {
  readonly page: string;
  readonly language: string;
  readonly kind: string;
  readonly lines: readonly string[];
}

const blocks = readdirSync(FORMATS)
  .filter((page) => page.endsWith(".md"))
  .flatMap(blocksOf);

test("every example line of every format page is JSON", () => {
  const examples = blocks.filter(({ language }) => language === "jsonl");
  assert.ok(examples.length > 0);
  for (const { page, kind, lines } of examples) {
    assert.ok(lines.length > 0, `${page}: an empty block (${kind})`);
    for (const line of lines) assert.doesNotThrow(() => JSON.parse(line), `${page}: ${line}`);
  }
});

test("the log's page has an example of each kind, and every example is checked", () => {
  const shown = blocks.filter(({ page, language }) => page === "log.md" && language === "jsonl");
  assert.deepEqual([...new Set(shown.map(({ kind }) => kind))].sort(), [...KINDS].sort());
});

test("the example lines can be appended, and are read back byte for byte", async () => {
  const examples = [...logExamples("log-line"), ...logExamples("encoded-line")];
  const path = newLogPath();
  const log = await openWriter(path);
  for (const line of examples) await log.append(bytesOf(line));
  await log.close();

  assert.equal(readFileSync(path, "utf8"), examples.map((line) => `${line}\n`).join(""));
  const read: string[] = [];
  for await (const { bytes, value } of new LogReader(nodeHost, path)) {
    read.push(Buffer.from(bytes).toString("utf8"));
    assert.deepEqual(value, parseExactly(read.at(-1) ?? ""));
  }
  assert.deepEqual(read, examples);
});

test("lines that we serialise are escaped as the page shows", () => {
  for (const line of logExamples("encoded-line")) {
    assert.equal(Buffer.from(encodeLine(JSON.parse(line))).toString("utf8"), line);
  }
});

test("a second opener gets the holder's hint from the lock file", async () => {
  const path = newLogPath();
  await openWriter(path);
  for (const hint of logExamples("lock-held")) {
    assert.deepEqual(
      Object.keys(JSON.parse(hint)),
      Object.keys(JSON.parse(readFileSync(`${path}.lock`, "utf8"))),
      "the writer's own hint has another shape",
    );
    writeFileSync(`${path}.lock`, `${hint}\n`);
    const { details } = await refusal(openWriter(path), "LOG_LOCKED");
    assert.deepEqual(details, { path, holder: JSON.parse(hint) });
  }
});

test("the hint of a killed holder is not trusted: the tail is rewritten", async () => {
  for (const hint of logExamples("lock-held")) {
    const path = logHolding(LINES);
    writeFileSync(`${path}.lock`, `${hint}\n`);
    const { recovery } = await openWriter(path);
    assert.equal(recovery.rewrittenBytes, Math.min(LINES.length, DOUBTFUL_BYTES));
  }
});

test("the hint of a closed log is trusted up to its synced offset, and not past it", async () => {
  for (const hint of logExamples("lock-closed")) {
    const { synced } = JSON.parse(hint);
    const path = logHolding(LINES);
    assert.ok(LINES.length > synced, "the log must be longer than the example vouches for");
    writeFileSync(`${path}.lock`, `${hint}\n`);
    const log = await openWriter(path);
    assert.equal(log.recovery.rewrittenBytes, LINES.length - synced);
    await log.close();
    assert.deepEqual(
      Object.keys(JSON.parse(readFileSync(`${path}.lock`, "utf8"))),
      Object.keys(JSON.parse(hint)),
      "the writer's own hint has another shape",
    );

    const shortPath = logHolding(FIRST_LINE);
    assert.ok(FIRST_LINE.length < synced, "the log must be shorter than the example vouches for");
    writeFileSync(`${shortPath}.lock`, `${hint}\n`);
    assert.equal((await openWriter(shortPath)).recovery.rewrittenBytes, FIRST_LINE.length);
  }
});

test("the torn tail of the page is repaired as the page shows, byte for byte", async () => {
  const before = hexExample("log-before");
  const after = hexExample("log-after");
  const torn = hexExample("torn-0");
  const path = logHolding(before);

  const reader = new LogReader(nodeHost, path);
  for await (const _ of reader);
  assert.equal(reader.report.tornBytes, torn.length);
  assert.deepEqual(readFileSync(path), before, "reading changes nothing");

  const { recovery } = await openWriter(path);
  assert.deepEqual(readFileSync(path), after);
  assert.deepEqual(readFileSync(`${path}.torn-0`), torn);
  assert.deepEqual(recovery, {
    end: after.length,
    cutBytes: torn.length,
    cutKeptAt: `${path}.torn-0`,
    addedLf: false,
    rewrittenBytes: after.length,
  });
});

function logExamples(kind: string): readonly string[] {
  const lines = blocks
    .filter((block) => block.page === "log.md" && block.kind === kind)
    .flatMap((block) => block.lines);
  assert.ok(lines.length > 0, `log.md has no example of ${kind}`);
  return lines;
}

/** The bytes of a `hex` block; text after a bar is a comment. */
function hexExample(kind: string): Buffer {
  const digits = logExamples(kind).map((line) => (line.split("|")[0] ?? "").replaceAll(" ", ""));
  return Buffer.from(digits.join(""), "hex");
}

/** The fenced blocks of a page. The first word after the fence is the language, the second the kind. */
function blocksOf(page: string): Block[] {
  return docsPage(`formats/${page.replace(/\.md$/, "")}`).fences.map(({ info, body }) => {
    const [language = "", kind = ""] = info.split(/ +/);
    return { page, language, kind, lines: body.split("\n").filter((line) => line !== "") };
  });
}
