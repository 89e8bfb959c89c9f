/**
 * Threads: the calls of a session that started subagents, and the session that each started: by its
 * name, or where its rows are in the same log.
 *
 * Calls are folded from entries one at a time. Memory is bounded: CALLS_MAX, and ROWS_MAX for all of
 * them. What is over is left out.
 */

import { oneLine } from "../../core/base/one-line.ts";
import type { Entry, Part } from "../../core/model/entry.ts";
import type { Reading, SubagentRows } from "../../dialects/facets/reading.ts";
import type { SessionRow } from "../../dialects/session-row.ts";
import { toolView } from "../../dialects/tool-table.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { readPage } from "../catalog/page-rows.ts";
import type { FoundStore } from "../list/find-stores.ts";
import { programIdOf } from "../list/whose.ts";

const CALLS_MAX = 10_000;
const ROWS_MAX = 200_000;
const ID_CHARS_MAX = 256;
/** As much of a prompt as titles of sessions have at least. */
const PROMPT_CHARS_MAX = 60;

interface AgentCall {
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

type SubagentReading = Pick<Reading, "tools" | "subagents">;

export class AgentCalls {
  readonly calls: AgentCall[] = [];
  readonly #byId = new Map<string, AgentCall>();
  readonly #reading: SubagentReading;
  readonly #rows: SubagentRows | undefined;
  #rowCount = 0;

  constructor(reading: SubagentReading) {
    this.#reading = reading;
    this.#rows = reading.subagents?.rows?.();
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
    for (const { callId, name } of this.#reading.subagents?.startedIn?.(entry) ?? []) {
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
    if (toolView(this.#reading.tools, tool, input).kind !== "agent") return;
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
function recognisable(text: string): string | null {
  return oneLine(text.slice(0, 4 * PROMPT_CHARS_MAX), PROMPT_CHARS_MAX).replace(/…$/, "") || null;
}

/** Children of a session that are looked at, the last changed ones. */
const CHILDREN_MAX = 2_000;

export interface ThreadCalls {
  readonly calls: readonly AgentCall[];
  /** The sessions that they started. */
  readonly sessions: ReadonlyMap<AgentCall, SessionRow>;
  readonly isComplete: boolean;
}

/** The calls of a session, as far as its log was read. */
export interface FoldedCalls {
  readonly agents: AgentCalls;
  readonly isComplete: boolean;
}

export async function threadsOf(
  catalog: Catalog,
  { agents, isComplete }: FoldedCalls,
  { dialect, root }: FoundStore,
  sessionId: string,
): Promise<ThreadCalls> {
  const { calls } = agents;
  if (calls.length === 0) return { calls, sessions: new Map(), isComplete };
  const options = { parent: sessionId, from: null, limit: CHILDREN_MAX };
  const children = await readPage(catalog, dialect, root, options);
  // The earliest first, as their calls are.
  const rows = children.map(({ row }) => row).sort((a, b) => compare(a.createdAt, b.createdAt));
  const sessions = sessionsOf(calls, rows, (child) => programIdOf(dialect, child));
  return { calls, sessions, isComplete };
}

function compare(a: string | null, b: string | null): number {
  return (a ?? "") < (b ?? "") ? -1 : 1;
}

/** A session that this one started. */
interface Child {
  readonly id: string;
  readonly title: string | null;
}

/**
 * The sessions that calls started: as their rows name it, else the ones whose title is the
 * beginning of what a call asked, in order.
 */
export function sessionsOf<C extends Child>(
  calls: readonly AgentCall[],
  children: readonly C[],
  nameOf: (id: string) => string,
): Map<AgentCall, C> {
  const childById = new Map(
    children.flatMap((child) => [
      [child.id, child],
      [nameOf(child.id), child],
    ]),
  );
  const childByCall = new Map<AgentCall, C>();
  for (const call of calls) {
    const child = call.name === null ? undefined : childById.get(call.name);
    if (child) childByCall.set(call, child);
  }
  const taken = new Set(childByCall.values());
  const others = children
    .filter((child) => !taken.has(child))
    .map((child) => ({ child, title: recognisable(child.title ?? "") }));
  for (const call of calls) {
    if (call.name !== null || call.prompt === null) continue;
    const at = others.findIndex(({ title }) => title === call.prompt);
    const [other] = at < 0 ? [] : others.splice(at, 1);
    if (other) childByCall.set(call, other.child);
  }
  return childByCall;
}
