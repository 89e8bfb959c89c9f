/**
 * Other agents: transcripts of other agents. Entire stores the agent's own file as `full.jsonl`: a rollout
 * of Codex, events of Copilot CLI, rows of Gemini CLI. Each line says whose it is.
 */

import type { Entry, Native } from "../../core/model/entry.ts";
import * as codex from "../agents/codex/decode.ts";
import { RolloutMemory } from "../agents/codex/memory.ts";
import { decode as decodeEvent, isEvent, Runs } from "../agents/copilot-cli/decode.ts";
import * as gemini from "../agents/gemini-cli/decode.ts";
import type { DecodedValue, LineMemory } from "../facets/reading.ts";
import type { Compaction } from "../facets/turns.ts";
import { getString, has, isObject } from "../shared/fields.ts";
import { compaction } from "./claude-rows.ts";
import { decode } from "./decode.ts";
import { QueueMemory } from "./queue.ts";

interface OtherFormat {
  readonly name: string;
  isOwn(value: unknown): boolean;
  decode(value: unknown): DecodedValue;
  isSummary(row: Native): boolean;
  remembers(state?: unknown): LineMemory;
}

const OTHERS: readonly OtherFormat[] = [
  {
    name: "rollout",
    isOwn: codex.isOwn,
    decode: codex.decode,
    isSummary: codex.turns.compaction.isSummary,
    remembers: (state) => new RolloutMemory(state),
  },
  {
    name: "copilot",
    isOwn: isEvent,
    decode: decodeEvent,
    isSummary: (row) => decodeEvent(row).entry?.saidBy === "summary",
    remembers: (state) => new Runs(state),
  },
  {
    name: "gemini",
    isOwn: isGeminis,
    decode: gemini.decode,
    isSummary: gemini.turns.compaction.isSummary,
    remembers: (state) => new gemini.GrowingMessages(state),
  },
];

/** Gemini CLI's messages have their content in the row; Claude's have a `message`. */
function isGeminis(value: unknown): boolean {
  if (gemini.isOwn(value)) return true;
  if (!isObject(value) || getString(value, "id") === null || has(value, "message")) return false;
  return (
    ["user", "gemini", "info", "warning", "error"].includes(getString(value, "type") ?? "") &&
    has(value, "content")
  );
}

function otherOf(value: unknown): OtherFormat | undefined {
  return OTHERS.find(({ isOwn }) => isOwn(value));
}

/** Whether another agent wrote a line. */
export function isOthers(value: unknown): boolean {
  return otherOf(value) !== undefined;
}

export function decodeAny(value: unknown): DecodedValue {
  return (otherOf(value)?.decode ?? decode)(value);
}

export const compactionOfAny: Compaction = {
  ...compaction,
  isSummary: (row: Native) => (otherOf(row)?.isSummary ?? compaction.isSummary)(row),
};

/** The memories of all: a line is read by that of its program. */
export class TranscriptMemory implements LineMemory {
  readonly #queue: QueueMemory;
  readonly #others = new Map<string, LineMemory>();

  constructor(state?: unknown) {
    const { queue, ...others } = (state ?? {}) as Readonly<Record<string, unknown>>;
    this.#queue = new QueueMemory(queue);
    for (const { name, remembers } of OTHERS) {
      if (others[name]) this.#others.set(name, remembers(others[name]));
    }
  }

  read<Read extends Entry>(entry: Read): Read {
    const other = otherOf(entry.native);
    if (other === undefined) return this.#queue.read(entry);
    const memory = this.#others.get(other.name) ?? other.remembers();
    this.#others.set(other.name, memory);
    return memory.read(entry);
  }

  state(): unknown {
    const others = [...this.#others].map(([name, memory]) => [name, memory.state()] as const);
    return { queue: this.#queue.state(), ...Object.fromEntries(others) };
  }
}
