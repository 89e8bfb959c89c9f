/** Tool calls of the sample sessions: each agent's tools are known by kind, with a label. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { dialectNamed } from "../../src/dialects/all.ts";
import { toolViews } from "../../src/dialects/tool-table.ts";
import { sharedFiles } from "../support/shared-files.ts";

const samples = sharedFiles("samples", "sample files", "the labels of their tool calls");

/** The dialect, where its samples are, and tools that are of no known kind. */
const AGENTS: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  ["claude-code", ["claude-code", "more/claude"], []],
  ["codex", ["codex", "more/codex"], ["image_generation", "translate"]],
  ["gemini-cli", ["gemini-cli", "more/gemini"], ["update_topic"]],
  ["copilot-cli", ["copilot-cli", "more/copilot"], ["report_intent", "task_complete"]],
  ["pi", ["pi", "more/pi"], []],
  ["qwen", ["more/qwen"], []],
  ["grok", ["more/grok"], []],
  ["droid", ["more/droid"], []],
  ["kimi", ["more/kimi"], []],
  ["antigravity", ["more/antigravity"], []],
  ["cursor", ["more/cursor"], []],
  ["openclaw", ["more/openclaw"], ["diagnostic_tool"]],
];

const TRIMMED = "[trimmed for fixture]";

test.skipIf(!samples.isThere).each(AGENTS)(
  "the tools of %s are known by kind, and say what they are about",
  (name, folders, unknown) => {
    const { decode, tools } = dialectNamed(name);
    const others = new Set<string>();
    let calls = 0;
    for (const value of folders.flatMap(valuesIn)) {
      const parts = decode(value).entry?.parts ?? [];
      const named = parts.filter((part) => part.type === "tool_call");
      for (const [at, view] of toolViews(tools, parts).entries()) {
        const { tool = "", input } = named[at] ?? {};
        if (tool === TRIMMED) continue;
        calls++;
        if (view.kind === "other" || view.kind === "mcp") others.add(tool);
        const isSaid = view.subject !== null || view.path !== null || view.kind === "plan";
        assert.ok(
          isSaid || JSON.stringify(input ?? {}) === "{}",
          `${tool} ${JSON.stringify(input)}`,
        );
      }
    }
    assert.ok(calls > 0);
    expect([...others].sort()).toEqual(unknown);
  },
);

function valuesIn(folder: string): unknown[] {
  const directory = join(samples.path, folder);
  const names = readdirSync(directory, { recursive: true, encoding: "utf8" });
  const logs = names.filter((name) => name.endsWith(".jsonl"));
  return logs.flatMap((name) => {
    const lines = readFileSync(join(directory, name), "utf8").split("\n");
    return lines.filter((line) => line.startsWith("{")).flatMap(parsed);
  });
}

function parsed(line: string): unknown[] {
  try {
    return [JSON.parse(line)];
  } catch {
    return [];
  }
}
