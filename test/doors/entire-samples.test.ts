/**
 * Real transcripts of other programs, read as Entire's: every line is accounted for.
 *
 * They are not part of the package. Where they are missing, these tests are skipped.
 */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "vitest";
import { nodeHost } from "../../src/base/node-host.ts";
import { SummaryFold } from "../../src/catalog/summary.ts";
import { promptIn } from "../../src/dialects/entire/context.ts";
import { EtfExport } from "../../src/dialects/entire/etf.ts";
import { findSession, openFound } from "../../src/listing/find-session.ts";
import type { Entry } from "../../src/model/entry.ts";
import { readAsEntire } from "../support/entire-reader.ts";
import { sharedFiles } from "../support/shared-files.ts";

const { path: SAMPLES, isThere: hasSamples } = sharedFiles(
  "samples",
  "real Entire transcripts",
  "the tests that read them are",
);
const CHECKPOINT = `${SAMPLES}/entire/30/e81e82f6ba/0`;
const CLAUDE_CODE = `${SAMPLES}/claude-code/agentcmd-full-session-four.jsonl`;

async function readWhole(path: string) {
  const found = await findSession(nodeHost, path, { cwd: "/" });
  const entries: Entry[] = [];
  const badLines: unknown[] = [];
  const fold = new SummaryFold();
  const reading = openFound(nodeHost, found).entries({ onBadLine: (bad) => badLines.push(bad) });
  for await (const entry of reading) {
    entries.push(entry);
    fold.add(entry);
  }
  return { found, entries, badLines, summary: fold.summary({ agent: null }) };
}

function countsOf(values: readonly (string | null)[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const value of values) counts[String(value)] = (counts[String(value)] ?? 0) + 1;
  return counts;
}

test.skipIf(!hasSamples)(
  "a real checkpoint of Entire reads whole, its last line without LF included",
  async () => {
    const bytes = readFileSync(`${CHECKPOINT}/full.jsonl`);
    assert.notEqual(bytes.at(-1), 0x0a);
    // By its directory: there is no store above it.
    const { found, entries, badLines } = await readWhole(CHECKPOINT);
    assert.deepEqual([found.dialect, found.id], ["entire", null]);
    assert.deepEqual(badLines, []);
    assert.equal(entries.length, bytes.toString("utf8").split("\n").length);
    assert.deepEqual(countsOf(entries.map(({ kind }) => kind)), { other: 12, message: 61 });
    assert.deepEqual(countsOf(entries.map(({ role }) => role)), {
      null: 12,
      user: 5,
      assistant: 42,
      tool: 14,
    });
    assert.deepEqual(countsOf(entries.flatMap(({ parts }) => parts.map(({ type }) => type))), {
      text: 14,
      reasoning: 19,
      tool_call: 14,
      tool_result: 14,
    });
    assert.ok(entries.filter(({ kind }) => kind === "message").every(({ at }) => at !== null));
  },
);

test.skipIf(!hasSamples)("its prompts are those in Entire's own prompt file", async () => {
  const { entries } = await readWhole(`${CHECKPOINT}/full.jsonl`);
  const prompts = entries.flatMap(({ native }) => promptIn(native) ?? []);
  assert.equal(prompts.join("\n\n---\n\n"), readFileSync(`${CHECKPOINT}/prompt.txt`, "utf8"));
});

test.skipIf(!hasSamples).each([CHECKPOINT, CLAUDE_CODE])(
  "tokens are counted as Entire counts them, once per message (%s)",
  async (place) => {
    const { summary, badLines } = await readWhole(place);
    assert.deepEqual(badLines, []);
    const path = place === CHECKPOINT ? `${place}/full.jsonl` : place;
    const { tokens } = readAsEntire(readFileSync(path));
    assert.ok(tokens && tokens.output > 0);
    const { inputTokens, outputTokens, totalTokens } = summary;
    const all = tokens.input + tokens.output + tokens.cacheCreation + tokens.cacheRead;
    assert.deepEqual([inputTokens, outputTokens, totalTokens], [tokens.input, tokens.output, all]);
  },
);

test.skipIf(!hasSamples)("it exports with every call answered and every prompt there", async () => {
  const { entries } = await readWhole(CHECKPOINT);
  const etf = new EtfExport({ agent: "a", cliVersion: "1" });
  const lines = [...entries.flatMap((entry) => [...etf.add(entry)]), ...etf.end()];
  const report = { unanswered: 0, strayResults: 0, unplaced: 12, unplacedBlocks: 0 };
  assert.deepEqual(etf.report, report);
  const types = lines.map((line) => (JSON.parse(line) as { type: string }).type);
  assert.equal(types.filter((type) => type === "user").length, 5);
  assert.equal(lines.join("").split('"result":').length - 1, 14);
});
