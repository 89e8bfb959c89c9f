/** Transcripts of other programs, read as Entire's: every line is accounted for. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import type { Entry } from "../../src/core/model/entry.ts";
import { promptIn } from "../../src/dialects/entire/context.ts";
import { EtfExport } from "../../src/dialects/entire/etf.ts";
import { findSession } from "../../src/sessions/list/find-session.ts";
import { openFoundSession } from "../../src/sessions/list/session-place.ts";
import { SummaryFold } from "../../src/sessions/summary/summary.ts";
import { ENTIRE_CHECKPOINTS } from "../support/entire-checkpoints.ts";
import { readAsEntire } from "../support/entire-reader.ts";
import { sampleLogs } from "../support/samples.ts";
import { sharedFiles } from "../support/shared-files.ts";

const FACTS = {
  "our checkpoint": {
    kinds: { other: 5, message: 21 },
    roles: { null: 5, user: 2, assistant: 12, tool: 7 },
    parts: { text: 5, reasoning: 2, tool_call: 7, tool_result: 7 },
  },
  "a public checkpoint": {
    kinds: { other: 12, message: 61 },
    roles: { null: 12, user: 5, assistant: 42, tool: 14 },
    parts: { text: 14, reasoning: 19, tool_call: 14, tool_result: 14 },
  },
};

const session = sharedFiles("samples/claude-code/agentcmd-full-session-four.jsonl");
const TRANSCRIPTS: readonly (readonly [name: string, path: string])[] = [
  ...ENTIRE_CHECKPOINTS.map(([name, path]) => [name, join(path, "full.jsonl")] as const),
  ...sampleLogs("claude-code").map(({ name, path }) => [`Claude Code ${name}`, path] as const),
  ...(session.isThere ? [["a public session of Claude Code", session.path] as const] : []),
];

async function readWhole(path: string) {
  const found = await findSession(nodeHost, path, { cwd: "/" });
  const entries: Entry[] = [];
  const badLines: unknown[] = [];
  const fold = new SummaryFold();
  const reading = openFoundSession(nodeHost, found).entries({
    onBadLine: (bad) => badLines.push(bad),
  });
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

describe.each(ENTIRE_CHECKPOINTS)("%s", (name, checkpoint) => {
  const facts = FACTS[name];

  test("reads whole, its last line without LF included", async () => {
    const bytes = readFileSync(`${checkpoint}/full.jsonl`);
    assert.notEqual(bytes.at(-1), 0x0a);
    // By its directory: there is no store above it.
    const { found, entries, badLines } = await readWhole(checkpoint);
    assert.deepEqual([found.dialect, found.id], ["entire", null]);
    assert.deepEqual(badLines, []);
    assert.equal(entries.length, bytes.toString("utf8").split("\n").length);
    assert.deepEqual(countsOf(entries.map(({ kind }) => kind)), facts.kinds);
    assert.deepEqual(countsOf(entries.map(({ role }) => role)), facts.roles);
    assert.deepEqual(
      countsOf(entries.flatMap(({ parts }) => parts.map(({ type }) => type))),
      facts.parts,
    );
    assert.ok(entries.filter(({ kind }) => kind === "message").every(({ at }) => at !== null));
  });

  test("has the prompts that are in Entire's own prompt file", async () => {
    const { entries } = await readWhole(`${checkpoint}/full.jsonl`);
    const prompts = entries.flatMap(({ native }) => promptIn(native) ?? []);
    assert.equal(prompts.join("\n\n---\n\n"), readFileSync(`${checkpoint}/prompt.txt`, "utf8"));
  });

  test("exports with every call answered and every prompt there", async () => {
    const { entries } = await readWhole(checkpoint);
    const etf = new EtfExport({ agent: "a", cliVersion: "1" });
    const lines = [...entries.flatMap((entry) => [...etf.add(entry)]), ...etf.end()];
    const unplaced = facts.kinds.other;
    assert.deepEqual(etf.report, { unanswered: 0, strayResults: 0, unplaced, unplacedBlocks: 0 });
    const types = lines.map((line) => (JSON.parse(line) as { type: string }).type);
    assert.equal(types.filter((type) => type === "user").length, facts.roles.user);
    assert.equal(lines.join("").split('"result":').length - 1, facts.parts.tool_result);
  });
});

test.each(TRANSCRIPTS)(
  "tokens of %s are counted as Entire counts them, once per message",
  async (_, path) => {
    const { summary, badLines } = await readWhole(path);
    assert.deepEqual(badLines, []);
    const { tokens } = readAsEntire(readFileSync(path));
    const isRefused = readFileSync(path, "utf8").includes('"isApiErrorMessage":true');
    assert.ok(tokens && (isRefused || tokens.output > 0));
    const { inputTokens, outputTokens, totalTokens } = summary;
    const all = tokens.input + tokens.output + tokens.cacheCreation + tokens.cacheRead;
    assert.deepEqual([inputTokens, outputTokens, totalTokens], [tokens.input, tokens.output, all]);
  },
);
