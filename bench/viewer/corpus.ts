/**
 * Corpus: two long sessions of Claude Code in a home directory, the same each time: rows of tool
 * calls with their results, answers with code, and a prompt now and then.
 */

import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";

const CWD = "/home/me/shop";
const FOLDER = "-home-me-shop";
const START = Date.UTC(2026, 7, 1);
const CALLS_PER_PROMPT = 20;
const FAILING_EACH = 37;
const CHUNK_ROWS = 1_000;

export interface Session {
  /** As the API names it: with its project's folder. */
  readonly name: string;
  readonly entries: number;
}

/** Writes a session of `calls` tool calls: for each, a call and a result, some answers, prompts. */
export function writeSession(home: string, n: number, calls: number): Session {
  const id = `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
  const folder = join(home, ".claude/projects", FOLDER);
  mkdirSync(folder, { recursive: true });
  const file = openSync(join(folder, `${id}.jsonl`), "w");
  let rows: string[] = [];
  let entries = 0;
  const add = (type: "user" | "assistant", message: object) => {
    rows.push(`${JSON.stringify(rowOf(id, entries, type, message))}\n`);
    entries++;
    if (rows.length < CHUNK_ROWS) return;
    writeSync(file, rows.join(""));
    rows = [];
  };
  for (let call = 0; call < calls; call++) {
    if (call % CALLS_PER_PROMPT === 0) add("user", { role: "user", content: promptText(call) });
    if (call % 10 === 0) add("assistant", answer(call, { type: "text", text: answerText(call) }));
    add("assistant", answer(call, { type: "tool_use", id: callId(call), ...callOf(call) }));
    add("user", { role: "user", content: [resultOf(call)] });
  }
  writeSync(file, rows.join(""));
  closeSync(file);
  return { name: `${FOLDER}/${id}`, entries };
}

function rowOf(id: string, entry: number, type: string, message: object): object {
  return {
    parentUuid: entry === 0 ? null : `${id}-${entry - 1}`,
    isSidechain: false,
    userType: "external",
    cwd: CWD,
    sessionId: id,
    version: "2.1.33",
    gitBranch: "main",
    type,
    message,
    uuid: `${id}-${entry}`,
    timestamp: new Date(START + entry * 2_000).toISOString(),
  };
}

function answer(call: number, block: object): object {
  const usage = {
    input_tokens: 3 + (call % 40),
    output_tokens: 200 + (call % 900),
    cache_creation_input_tokens: call % 5_000,
    cache_read_input_tokens: 20_000 + call,
  };
  return {
    model: "claude-sonnet-4-5-20250929",
    id: `msg_${call}`,
    type: "message",
    role: "assistant",
    content: [block],
    usage,
  };
}

const callId = (call: number) => `toolu_${String(call).padStart(8, "0")}`;

function callOf(call: number): object {
  const path = `${CWD}/src/part${call % 90}/file${call % 700}.ts`;
  switch (call % 4) {
    case 0:
      return { name: "Bash", input: { command: `npm test -- part${call % 90}/file${call}` } };
    case 1:
      return { name: "Read", input: { file_path: path, offset: call % 200, limit: 40 } };
    case 2:
      return { name: "Grep", input: { pattern: `total${call}`, path: `${CWD}/src` } };
    default:
      return {
        name: "Edit",
        input: {
          file_path: path,
          old_string: codeText(call, 4),
          new_string: codeText(call + 1, 5),
        },
      };
  }
}

function resultOf(call: number): object {
  const isError = call % FAILING_EACH === FAILING_EACH - 1;
  const content = isError ? `Error: test ${call} failed\n${codeText(call, 6)}` : codeText(call, 9);
  return { type: "tool_result", tool_use_id: callId(call), content, is_error: isError };
}

function promptText(call: number): string {
  return `Round ${call}: the total of an order is wrong when a discount applies twice. Mend it.`;
}

function answerText(call: number): string {
  const said = `The discount of order ${call} is **applied twice**: once in \`total\`, once before.`;
  return `${said}\n\n- first, read the file\n- then mend it\n\n\`\`\`ts\n${codeText(call, 6)}\n\`\`\``;
}

function codeText(from: number, lines: number): string {
  return Array.from({ length: lines }, (_, line) => {
    const n = from * 7 + line;
    return `  const total${n} = items.reduce((sum, { price }) => sum + price * ${n % 31}, 0);`;
  }).join("\n");
}
