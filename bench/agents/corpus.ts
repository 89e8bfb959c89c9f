/**
 * Corpus: the same sessions of Claude Code and Codex each time, in a home directory.
 *
 * With what makes their rows long in real sessions: Claude Code stores the result of a tool a second
 * time in `toolUseResult`, Codex the model's encrypted reasoning.
 */

import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";

/** Occurs in about every message, and in one session only. */
export const COMMON_WORD = "parser";
export const RARE_PHRASE = '"quiet zebra crossing"';

const WORDS = (
  `${COMMON_WORD} the a of to function return value error line test file read write index token ` +
  "buffer stream session message answer change before after count where number string object list"
).split(" ");

export interface Corpus {
  readonly files: readonly string[];
  readonly bytes: number;
}

export function makeCorpus(home: string, sessions: number, bytesEach: number): Corpus {
  const random = new Random(7);
  const files: string[] = [];
  let bytes = 0;
  for (let n = 0; n < sessions; n++) {
    const path = join(home, n % 2 === 0 ? claudePath(n) : codexPath(n));
    mkdirSync(dirname(path), { recursive: true });
    // From a tenth to nearly twice of it: real sessions differ, too.
    const size = bytesEach * (0.1 + 1.8 * random.next());
    const file = openSync(path, "w");
    let written = 0;
    let text = n % 2 === 0 ? "" : codexStart(n);
    for (let turn = 0; written < size; turn++) {
      const odd = n === sessions >> 1 && turn === 0 ? "A quiet zebra crossing. " : "";
      text += (n % 2 === 0 ? claudeTurn : codexTurn)(random, n, turn, odd);
      if (text.length < 2 ** 18 && written + text.length < size) continue;
      written += writeSync(file, text);
      text = "";
    }
    closeSync(file);
    bytes += written;
    files.push(path);
  }
  return { files, bytes };
}

/** One more turn of the first session, which is Claude Code's. */
export function oneMoreTurn(turn: number): string {
  return claudeTurn(new Random(turn), 0, turn, "");
}

class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  next(): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return this.#state / 2 ** 32;
  }

  text(words: number): string {
    let text = "";
    for (let n = 0; n < words; n++) {
      const isOwn = this.next() < 0.1;
      text += `${isOwn ? `w${Math.floor(this.next() * 50_000)}` : this.#word()}${n % 12 === 11 ? "\n" : " "}`;
    }
    return text;
  }

  #word(): string {
    return WORDS[Math.floor(this.next() * WORDS.length)] ?? "";
  }
}

const at = (n: number, turn: number, step: number) =>
  new Date(1_767_225_600_000 + n * 3_600_000 + turn * 30_000 + step * 1_000).toISOString();
const idOf = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
const lines = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join("");

function claudePath(n: number): string {
  return `.claude/projects/-work-app${n % 20}/${idOf(n)}.jsonl`;
}

function claudeTurn(random: Random, n: number, turn: number, odd: string): string {
  const row = (step: number) => ({
    parentUuid: `${n}-${turn}-${step - 1}`,
    isSidechain: false,
    userType: "external",
    cwd: `/home/me/app${n % 20}`,
    sessionId: idOf(n),
    version: "2.1.0",
    gitBranch: "main",
    uuid: `${n}-${turn}-${step}`,
    timestamp: at(n, turn, step),
  });
  const usage = { input_tokens: 10, output_tokens: 200, cache_read_input_tokens: 9_000 };
  const message = (step: number, content: readonly object[]) => ({
    id: `msg_${n}_${turn}_${step}`,
    type: "message",
    role: "assistant",
    model: "claude-x",
    content,
    stop_reason: "tool_use",
    usage,
  });
  const tool = `toolu_${n}_${turn}`;
  const call = { type: "tool_use", id: tool, name: "Bash", input: { command: random.text(12) } };
  const output = random.text(350);
  const result = { type: "tool_result", tool_use_id: tool, content: output };
  const toolUseResult = { stdout: output, stderr: "", interrupted: false, isImage: false };
  const said = (text: string) => ({ role: "user", content: text });
  return lines([
    { ...row(0), type: "user", message: said(odd + random.text(40)) },
    {
      ...row(1),
      type: "assistant",
      message: message(1, [{ type: "text", text: random.text(80) }]),
    },
    { ...row(2), type: "assistant", message: message(2, [call]) },
    { ...row(3), type: "user", message: { role: "user", content: [result] }, toolUseResult },
    {
      ...row(4),
      type: "assistant",
      message: message(4, [{ type: "text", text: random.text(60) }]),
    },
  ]);
}

function codexPath(n: number): string {
  const day = at(n, 0, 0).slice(0, 10);
  const time = at(n, 0, 0).slice(0, 19).replaceAll(":", "-");
  return `.codex/sessions/${day.replaceAll("-", "/")}/rollout-${time}-${idOf(n)}.jsonl`;
}

function codexStart(n: number): string {
  const git = { branch: "main" };
  const payload = { id: idOf(n), timestamp: at(n, 0, 0), cwd: `/home/me/app${n % 20}`, git };
  const meta = { ...payload, originator: "codex_cli_rs", cli_version: "0.98.0", source: "cli" };
  return lines([{ timestamp: at(n, 0, 0), type: "session_meta", payload: meta }]);
}

function codexTurn(random: Random, n: number, turn: number, odd: string): string {
  const text = odd + random.text(40);
  const answer = random.text(100);
  const row = (step: number, type: string, payload: object) => {
    return { timestamp: at(n, turn, step), type, payload };
  };
  const said = (role: string, type: string, content: string) => {
    return { type: "message", role, content: [{ type, text: content }] };
  };
  const call = { call_id: `call_${n}_${turn}`, name: "shell" };
  const total = { input_tokens: 9_010 * turn, cached_input_tokens: 9_000 * turn };
  const counts = { ...total, output_tokens: 200 * turn, total_tokens: 9_210 * turn };
  const input = JSON.stringify({ command: random.text(12) });
  const reasoning = Buffer.from(random.text(200)).toString("base64");
  return lines([
    row(0, "turn_context", { cwd: `/home/me/app${n % 20}`, model: "gpt-x", effort: "high" }),
    row(1, "response_item", said("user", "input_text", text)),
    row(1, "event_msg", { type: "user_message", message: text }),
    row(2, "response_item", { type: "reasoning", summary: [], encrypted_content: reasoning }),
    row(2, "response_item", { type: "function_call", ...call, arguments: input }),
    row(3, "response_item", { type: "function_call_output", ...call, output: random.text(350) }),
    row(4, "response_item", said("assistant", "output_text", answer)),
    row(4, "event_msg", { type: "agent_message", message: answer }),
    row(5, "event_msg", { type: "token_count", info: { total_token_usage: counts } }),
  ]);
}
