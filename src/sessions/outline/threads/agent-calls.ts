/**
 * Agent calls: which calls of a session started a subagent, folded from its entries one at a time:
 * the session that each started, by its name, or where its rows are in the same log.
 *
 * Memory is bounded: CALLS_MAX, and ROWS_MAX for all of them. What is over is left out.
 */

import { oneLine } from "../../../core/base/one-line.ts";
import type { Entry, Part } from "../../../core/model/entry.ts";
import type { Dialect } from "../../../dialects/dialect.ts";
import type { SubagentRows } from "../../../dialects/subagents.ts";
import { toolView } from "../../../dialects/tool-table.ts";

export const CALLS_MAX = 10_000;
export const ROWS_MAX = 200_000;
const ID_CHARS_MAX = 256;
/** As much of a prompt as titles of sessions have at least. */
const PROMPT_CHARS_MAX = 60;

export interface AgentCall {
  /** The offset of its line. */
  readonly start: number;
  readonly callId: string;
  /** The beginning of what the agent was asked, to recognise its session; null: unknown. */
  readonly prompt: string | null;
  /** The session that it started, as its program or lists name it; null: no row says it. */
  name: string | null;
  /** Offsets of its subagent's rows in the same log. */
  readonly rows: number[];
}

type Told = Pick<Dialect, "tools" | "subagents">;

export class AgentCalls {
  readonly calls: AgentCall[] = [];
  readonly #byId = new Map<string, AgentCall>();
  readonly #dialect: Told;
  readonly #rows: SubagentRows | undefined;
  #rowCount = 0;

  constructor(dialect: Told) {
    this.#dialect = dialect;
    this.#rows = dialect.subagents?.rows?.();
  }

  add(entry: Entry, start: number): void {
    const of = this.#rows?.callOf(entry) ?? null;
    const call = of === null ? undefined : this.#byId.get(of);
    if (call && this.#rowCount < ROWS_MAX) {
      this.#rowCount++;
      call.rows.push(start);
    }
    // What a subagent in the same log starts is part of its thread.
    if (of === null) for (const part of entry.parts) this.#part(part, start);
    for (const { callId, name } of this.#dialect.subagents?.startedIn?.(entry) ?? []) {
      const started = this.#byId.get(callId);
      if (started) started.name ??= name.slice(0, ID_CHARS_MAX);
    }
  }

  /** The rows of the subagent that a call started. */
  rowsOf(callId: string): readonly number[] {
    return this.#byId.get(callId)?.rows ?? [];
  }

  #part(part: Part, start: number): void {
    if (part.type === "child") {
      const last = this.calls.at(-1);
      if (last?.start === start) last.name ??= part.session.slice(0, ID_CHARS_MAX);
      return;
    }
    if (part.type !== "tool_call" || part.callId === null) return;
    const { callId, tool, input } = part;
    if (callId.length > ID_CHARS_MAX || this.calls.length >= CALLS_MAX) return;
    if (toolView(this.#dialect.tools, tool, input).kind !== "agent") return;
    const known = this.#byId.get(callId);
    if (known) return; // A message that is repeated as it grows.
    const call: AgentCall = { start, callId, prompt: promptIn(input), name: null, rows: [] };
    this.calls.push(call);
    this.#byId.set(callId, call);
  }
}

const PROMPTS = ["prompt", "message", "task", "instructions"] as const;

function promptIn(input: unknown): string | null {
  if (typeof input !== "object" || input === null) return null;
  const fields = input as Readonly<Record<string, unknown>>;
  const prompt = PROMPTS.map((name) => fields[name]).find((each) => typeof each === "string");
  return typeof prompt === "string" ? recognisable(prompt) : null;
}

/** The beginning of a prompt, or of a title that was made from one. */
export function recognisable(text: string): string | null {
  return oneLine(text.slice(0, 4 * PROMPT_CHARS_MAX), PROMPT_CHARS_MAX).replace(/…$/, "") || null;
}
