/** Tool calls of the sample sessions: each agent's tools are known by kind, with a label. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ToolView } from "../../src/core/model/tool-view.ts";
import { dialectNamed } from "../../src/dialects/all.ts";
import { toolViews } from "../../src/dialects/tool-table.ts";
import { sampleLogs } from "../support/samples.ts";
import { sharedFiles } from "../support/shared-files.ts";
import { filesIn } from "./sample.ts";

const shared = sharedFiles("samples");

/** The calls in our samples: tool, kind, and what a reader sees of the call. */
const CALLS: Readonly<Record<string, readonly string[]>> = {
  "claude-code": [
    "Read: read, Read /home/dev/project/well.js",
    "Bash: command, $ wc -l trees.txt",
    "Edit: edit, Edit /home/dev/project/well.js",
    "Bash: command, $ echo no tests >&2; exit 3",
    "Read: read, Read /home/dev/project/missing.txt",
    "Write: write, Write /home/dev/project/notes.md",
    "Agent: agent, Agent First tree",
    "Read: read, Read /home/dev/project/trees.txt",
    "Read: read, Read /home/dev/project/well.png",
    "Skill: other, Skill garden",
    "Bash: command, $ sleep 4; cat well.js",
  ],
  codex: [
    "exec_command: read, Read trees.txt",
    "exec_command: read, Read missing.txt",
    "view_image: read, Look at picture.png",
    "apply_patch: edit, Edit trees.txt",
    "spawn_agent: agent, Agent Count the birds in birds.txt.",
    "wait_agent: other, Wait for agent ID",
    "exec_command: command, $ wc -l birds.txt",
  ],
  "gemini-cli": [
    "run_shell_command: command, $ wc -l birds.txt",
    "complete_task: other, Done",
    "read_file: read, Read trees.txt",
    "run_shell_command: command, $ cat missing.txt",
    "read_file: read, Read missing.txt",
    "replace: edit, Edit trees.txt",
    "invoke_agent: agent, Agent Count the birds in birds.txt and say how many there are.",
  ],
  "copilot-cli": [
    "view: read, Read /home/dev/project/well.js",
    "bash: command, $ wc -l trees.txt",
    "edit: edit, Edit /home/dev/project/well.js",
    "bash: command, $ echo no tests >&2; exit 3",
    "view: read, Read /home/dev/project/missing.txt",
    "create: write, Write /home/dev/project/notes.md",
    "task: agent, Agent First tree",
    "view: read, Read /home/dev/project/trees.txt",
    "view: read, Read /home/dev/project/well.png",
  ],
  pi: [
    "read: read, Read trees.txt",
    "bash: command, $ cat missing.txt",
    "edit: edit, Edit trees.txt",
  ],
  qwen: [
    "read_file: read, Read /home/dev/project/well.js",
    "run_shell_command: command, $ wc -l trees.txt",
    "edit: edit, Edit /home/dev/project/well.js",
    "run_shell_command: command, $ echo no tests >&2; exit 3",
    "read_file: read, Read /home/dev/project/missing.txt",
    "write_file: write, Write /home/dev/project/notes.md",
    "agent: agent, Agent First tree",
    "read_file: read, Read /home/dev/project/well.png",
    "read_file: read, Read /home/dev/project/trees.txt",
  ],
  grok: [
    "read_file: read, Read plan.ts",
    "search_replace: edit, Edit plan.ts",
    "run_terminal_cmd: command, $ npm tset",
    "spawn_subagent: agent, Agent Check the other plans",
    "grep: search, Grep 365 .",
    "list_dir: list, List plans",
    "read_file: read, Read beds.rs",
  ],
  droid: [
    "Read: read, Read /home/me/garden/plan.ts",
    "LS: list, List /home/me/garden",
    "Execute: command, $ npm test",
    "Edit: edit, Edit /home/me/garden/plan.ts",
    "Task: agent, Agent Check the other plans",
    "Execute: command, $ rg 365",
    "Execute: command, $ ls beds | wc -l",
    "Shell: command, $ ls",
  ],
  kimi: [
    "Shell: command, $ ls beds",
    "Bash: command, $ rg 365",
    "Read: read, Read plan.ts",
    "Bash: command, $ npm test",
    "Edit: edit, Edit plan.ts",
    "Agent: agent, Agent Check the other plans",
  ],
  antigravity: [
    "list_dir: list, List /home/me/garden",
    "view_file: read, Read /home/me/garden/plan.ts",
    "grep_search: search, Grep 365 /home/me/garden",
    "replace_file_content: edit, Edit /home/me/garden/plan.ts",
    "run_command: command, $ npm test",
    "write_to_file: write, Write /home/me/garden/leap.ts",
    "browser_subagent: agent, Agent Look at the plan",
    "search_web: web_search, Web search flowers July",
  ],
  cursor: [
    "Read: read, Read /home/me/garden/src/plan.ts",
    "Shell: command, $ npm test",
    "StrReplace: edit, Edit /home/me/garden/src/plan.ts",
    "Write: write, Write /home/me/garden/src/leap.ts",
    "Task: agent, Agent Find 365",
    "todo_write: plan, Plan",
    "grep_search: search, Grep 365",
    "run_terminal_cmd: command, $ rg 365",
    "Shell: command, $ date +%B",
  ],
  openclaw: [
    "read: read, Read trees.txt",
    "read: read, Read missing.txt",
    "exec: command, $ cat missing.txt",
    "edit: edit, Edit trees.txt",
  ],
};

/** Where public samples are, and their tools of no known kind. */
const PUBLIC: Readonly<
  Record<string, { folders: readonly string[]; unknown?: readonly string[] }>
> = {
  "claude-code": { folders: ["claude-code", "more/claude"] },
  codex: { folders: ["codex", "more/codex"], unknown: ["image_generation", "translate"] },
  "gemini-cli": { folders: ["gemini-cli", "more/gemini"], unknown: ["update_topic"] },
  "copilot-cli": {
    folders: ["copilot-cli", "more/copilot"],
    unknown: ["report_intent", "task_complete"],
  },
  pi: { folders: ["pi", "more/pi"] },
  qwen: { folders: ["more/qwen"] },
  grok: { folders: ["more/grok"] },
  droid: { folders: ["more/droid"] },
  kimi: { folders: ["more/kimi"] },
  antigravity: { folders: ["more/antigravity"] },
  cursor: { folders: ["more/cursor"] },
  openclaw: { folders: ["more/openclaw"], unknown: ["diagnostic_tool"] },
};

const UUID = /[0-9a-f]{8}-[0-9a-f-]{27}/;
const TRIMMED = "[trimmed for fixture]";

interface Call {
  readonly tool: string;
  readonly input: unknown;
  readonly view: ToolView;
}

function callsIn(name: string, files: readonly string[]): Call[] {
  const { decode, tools } = dialectNamed(name).reading;
  return files.flatMap(valuesIn).flatMap((value) => {
    const parts = decode(value).entry?.parts ?? [];
    const calls = parts.filter((part) => part.type === "tool_call");
    const views = toolViews(tools, parts);
    return calls.flatMap(({ tool, input }, at) => {
      const view = views[at] ?? assert.fail(tool);
      return tool === TRIMMED ? [] : { tool, input, view };
    });
  });
}

test.each(Object.keys(CALLS))("calls in our samples of %s have a kind and a label", (name) => {
  const calls = callsIn(
    name,
    sampleLogs(name).map(({ path }) => path),
  );
  const labels = calls.map(({ tool, view: { kind, verb, subject, path } }) => {
    const label = [verb, subject, path].filter((each) => each !== null).join(" ");
    return `${tool}: ${kind}, ${label.replace(UUID, "ID")}`;
  });
  expect([...new Set(labels)].sort()).toEqual(CALLS[name]?.toSorted());
});

test.each(Object.entries(shared.isThere ? PUBLIC : {}))(
  "the tools in public samples of %s are known, and say what they are about",
  (name, { folders, unknown = [] }) => {
    const files = folders.flatMap((folder) => filesIn(join(shared.path, folder)));
    const calls = callsIn(name, files);
    for (const { tool, input, view } of calls) {
      const isSaid = view.subject !== null || view.path !== null || view.kind === "plan";
      const json = JSON.stringify(input ?? {});
      assert.ok(isSaid || json === "{}", `${tool} ${json}`);
    }
    assert.ok(calls.length > 0);
    const others = calls.filter(({ view: { kind } }) => kind === "other" || kind === "mcp");
    expect([...new Set(others.map(({ tool }) => tool))].sort()).toEqual(unknown);
  },
);

test("a search of Droid names its patterns and its folder", () => {
  const input = { patterns: ["*.js", "*.ts"], folder: "src" };
  const call = { type: "tool_call", callId: null, tool: "Glob", input } as const;
  expect(toolViews(dialectNamed("droid").reading.tools, [call])).toMatchObject([
    { kind: "search", verb: "Glob", subject: "*.js *.ts", path: "src" },
  ]);
});

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
