/** Tool calls of the sample sessions: each agent's tools are known by kind, with a label. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { dialectNamed } from "../../src/dialects/all.ts";
import { toolViews } from "../../src/dialects/tool-table.ts";
import { sampleLogs } from "../support/samples.ts";
import { sharedFiles } from "../support/shared-files.ts";
import { filesIn } from "./sample.ts";

const shared = sharedFiles("samples");

interface Agent {
  /** Where public samples are. */
  readonly folders: readonly string[];
  /** Tools of no known kind, in our samples and in the public ones. */
  readonly own?: readonly string[];
  readonly others?: readonly string[];
}

/** By dialect. */
const AGENTS: Readonly<Record<string, Agent>> = {
  "claude-code": { folders: ["claude-code", "more/claude"] },
  codex: {
    folders: ["codex", "more/codex"],
    own: ["wait_agent"],
    others: ["image_generation", "translate"],
  },
  "gemini-cli": {
    folders: ["gemini-cli", "more/gemini"],
    own: ["complete_task", "invoke_agent"],
    others: ["update_topic"],
  },
  "copilot-cli": {
    folders: ["copilot-cli", "more/copilot"],
    others: ["report_intent", "task_complete"],
  },
  pi: { folders: ["pi", "more/pi"] },
  qwen: { folders: ["more/qwen"], own: ["agent"] },
  grok: { folders: ["more/grok"] },
  droid: { folders: ["more/droid"] },
  kimi: { folders: ["more/kimi"] },
  antigravity: { folders: ["more/antigravity"] },
  cursor: { folders: ["more/cursor"] },
  openclaw: { folders: ["more/openclaw"], others: ["diagnostic_tool"] },
};

const OWN = Object.entries(AGENTS).flatMap(([name, { own = [] }]) => {
  const files = sampleLogs(name).map(({ path }) => path);
  return files.length === 0 ? [] : [[name, files, own] as const];
});
const PUBLIC = Object.entries(shared.isThere ? AGENTS : {}).map(([name, agent]) => {
  const files = agent.folders.flatMap((folder) => filesIn(join(shared.path, folder)));
  return [name, files, agent.others ?? []] as const;
});

const TRIMMED = "[trimmed for fixture]";

test("there are samples of agents that cannot be run, and of those that can", () => {
  const names = OWN.map(([name]) => name);
  for (const name of ["antigravity", "cursor", "droid", "grok", "kimi", "codex", "pi"]) {
    assert.ok(names.includes(name), name);
  }
});

test.each(OWN)(
  "the tools in our samples of %s are known by kind, and say what they are about",
  check,
);

test.each(PUBLIC)(
  "the tools in public samples of %s are known, and say what they are about",
  check,
);

function check(name: string, files: readonly string[], unknown: readonly string[]): void {
  const { decode, tools } = dialectNamed(name);
  const others = new Set<string>();
  let calls = 0;
  for (const value of files.flatMap(valuesIn)) {
    const parts = decode(value).entry?.parts ?? [];
    const named = parts.filter((part) => part.type === "tool_call");
    for (const [at, view] of toolViews(tools, parts).entries()) {
      const { tool = "", input } = named[at] ?? {};
      if (tool === TRIMMED) continue;
      calls++;
      if (view.kind === "other" || view.kind === "mcp") others.add(tool);
      const isSaid = view.subject !== null || view.path !== null || view.kind === "plan";
      // A tool that is not known is named, and its first text or number.
      const isNested = view.kind === "other" && !Object.values(input ?? {}).some(isPlain);
      assert.ok(
        isSaid || isNested || JSON.stringify(input ?? {}) === "{}",
        `${tool} ${JSON.stringify(input)}`,
      );
    }
  }
  assert.ok(calls > 0);
  expect([...others].sort()).toEqual(unknown);
}

function valuesIn(file: string): unknown[] {
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.filter((line) => line.startsWith("{")).flatMap(parsed);
}

function parsed(line: string): unknown[] {
  try {
    return [JSON.parse(line)];
  } catch {
    return [];
  }
}

function isPlain(value: unknown): boolean {
  return typeof value === "string" || typeof value === "number";
}
