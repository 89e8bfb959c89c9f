/** Usage of real sessions, compared with counts that do not use this code. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { openUsage } from "../../src/usage/open-usage.ts";
import { Days } from "../../src/usage/report/days.ts";
import { sumOf } from "../../src/usage/report/groups.ts";
import { put } from "../agents/sample.ts";
import { sampleLogs } from "../support/samples.ts";
import { sharedFiles } from "../support/shared-files.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const samples = sharedFiles("samples");

async function count(dialect: string, files: Readonly<Record<string, string>>) {
  const home = tempDirectory();
  const root = join(home, "root");
  for (const [path, file] of Object.entries(files)) put(join(root, path), readFileSync(file));
  const { usage } = await openUsage(nodeHost, {
    cwd: home,
    nowMs: Date.now(),
    directory: join(home, "usage"),
    ownPath: join(home, "none"),
    stores: [{ dialect, root }],
    onFailure: (id, cause) => assert.fail(`${id}: ${String(cause)}`),
  });
  return sumOf(usage, usage.chosen(new Days("UTC")));
}

if (samples.isThere) {
  test("Gemini CLI's tokens are those that another reader expects", async () => {
    const { models } = await count("gemini-cli", {
      "tmp/app/chats/session-2026-04-23T12-52-0ab84937.jsonl": join(
        samples.path,
        "gemini-cli/vct-gemini.jsonl",
      ),
    });
    const text = readFileSync(join(samples.path, "gemini-cli/vct-gemini.expected.json"), "utf8");
    const { records } = JSON.parse(text) as {
      records: { conversationUsage: Record<string, Record<string, number>> }[];
    };
    const expected = Object.entries(records[0]?.conversationUsage ?? {}).map(([model, usage]) => [
      model,
      (usage.total_tokens ?? 0) - (usage.tool_tokens ?? 0),
    ]);
    const found = models.map(({ model, total }) => [model, total]);
    assert.deepEqual(new Map(found as [string, number][]), new Map(expected as [string, number][]));
  });
}

const ROLLOUT = "rollout-2025-09-25T09-49-46-01998190-fba6-7f40-9309-dc4e48c5844a.jsonl";
/** Of one session each, by its path in Codex's directory: a subagent's rollout has its own. */
const ROLLOUTS = [
  ...sampleLogs("codex").map(({ folder, path }) => [relative(folder.path, path), path] as const),
  ...(samples.isThere ? [join(samples.path, `codex/agentcmd-${ROLLOUT}`)] : []).map(
    (path) => [`sessions/2025/09/25/${ROLLOUT}`, path] as const,
  ),
];

const parsedRows = (file: string) =>
  readFileSync(file, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((row) => JSON.parse(row));

/** Input, cached input and output in the last total of a rollout. */
function lastTotal(file: string): readonly number[] {
  const totals = parsedRows(file).flatMap((row) => row.payload?.info?.total_token_usage ?? []);
  const last = totals.at(-1);
  return last ? [last.input_tokens, last.cached_input_tokens, last.output_tokens] : [0, 0, 0];
}

/** The rollout that this one continues; its totals include those of that one. */
function forkedFrom(file: string): string | undefined {
  const id = parsedRows(file).find(({ type }) => type === "session_meta")?.payload.forked_from_id;
  return id && (ROLLOUTS.find(([path]) => path.includes(id))?.[1] ?? assert.fail(id));
}

test.each(ROLLOUTS)(
  "%s has the tokens of its last total, without those before a fork",
  async (path, file) => {
    const sum = await count("codex", { [path]: file });
    const parent = forkedFrom(file);
    const before = parent === undefined ? [0, 0, 0] : lastTotal(parent);
    assert.deepEqual(
      [sum.input + sum.cacheRead, sum.cacheRead, sum.output],
      lastTotal(file).map((total, at) => total - (before[at] ?? 0)),
    );
  },
);

/**
 * What the answers in scripts/agent-samples/scenarios.mjs say, by session. A fork repeats what was
 * counted in the session before it.
 */
const TOOLS = { input: 1_022, output: 183, cacheRead: 6_500 };
const FORK = { input: 14, output: 6, cacheRead: 1_400 };
const DELEGATING = { input: 860, output: 59, cacheRead: 0 };
const SUBAGENT = { input: 430, output: 27, cacheRead: 0 };
const IMAGE = { input: 680, output: 29, cacheRead: 0 };
const COMPACTION = { input: 330, output: 15, cacheRead: 0 };
/** To the notice that the subagent has ended. */
const NOTICE = { input: 100, output: 10, cacheRead: 0 };

/** In scripts/agent-samples/agents/claude-code.mjs. */
const MENTIONS = { input: 2_790, output: 46, cacheRead: 0 };
const COMMON = [TOOLS, DELEGATING, IMAGE, COMPACTION];
test.each([
  { agent: "claude-code", answers: [...COMMON, SUBAGENT, FORK, MENTIONS], cacheWrite: 300 },
  // Rows of its subagents have no counts, and its provider reports no writes of the cache.
  { agent: "qwen", answers: [...COMMON, NOTICE], cacheWrite: 0 },
])(
  "tokens of $agent's samples are those of the answers",
  async ({ agent, answers, cacheWrite }) => {
    const files = sampleLogs(agent).map(
      ({ folder, path }) => [relative(folder.path, path), path] as const,
    );
    const sum = await count(agent, Object.fromEntries(files));
    const total = (name: keyof typeof TOOLS) => answers.reduce((all, each) => all + each[name], 0);
    assert.deepEqual(
      [sum.input, sum.output, sum.cacheRead, sum.cacheWrite5m + sum.cacheWrite1h],
      [total("input"), total("output"), total("cacheRead"), cacheWrite],
    );
  },
);

test("tokens of Copilot CLI's sessions are those of the answers, also of subagents", async () => {
  const files = sampleLogs("copilot-cli").map(
    ({ folder, path }) => [relative(folder.path, path), path] as const,
  );
  const sum = await count("copilot-cli", Object.fromEntries(files));
  // Its model gave the first answer again when it was asked to recall.
  const recalled = { input: COMPACTION.input + 20, output: COMPACTION.output + 1, cacheRead: 0 };
  const answers = [TOOLS, DELEGATING, SUBAGENT, IMAGE, recalled];
  const total = (name: keyof typeof TOOLS) => answers.reduce((all, each) => all + each[name], 0);
  assert.deepEqual(
    [sum.input, sum.output, sum.cacheRead, sum.cacheWrite5m],
    [total("input"), total("output"), total("cacheRead"), 300],
  );
});
