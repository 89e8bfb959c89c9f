/**
 * Others: transcripts of Codex. Entire stores the agent's own file as `full.jsonl`; with Codex that
 * is a rollout. Each line says whose it is.
 */

import type { Entry } from "../../model/entry.ts";
import {
  decode as decodeRollout,
  isOwn as isRollout,
  compaction as rolloutCompaction,
} from "../codex/decode.ts";
import { RolloutMemory } from "../codex/memory.ts";
import type { Compaction, LineMemory, Native, Understood } from "../dialect.ts";
import { compaction } from "./compaction.ts";
import { decode } from "./decode.ts";
import { QueueMemory } from "./queue.ts";

export { isRollout };

export function decodeAny(value: unknown): Understood {
  return isRollout(value) ? decodeRollout(value) : decode(value);
}

export const compactionOfAny: Compaction = {
  ...compaction,
  isSummary: (row: Native) => compaction.isSummary(row) || rolloutCompaction.isSummary(row),
};

/** The memory of both: a line is read by that of its program. */
export class TranscriptMemory implements LineMemory {
  readonly #queue: QueueMemory;
  #rollout: RolloutMemory | null;

  constructor(state?: unknown) {
    const { queue, rollout = null } = (state ?? {}) as { queue?: unknown; rollout?: unknown };
    this.#queue = new QueueMemory(queue);
    this.#rollout = rollout === null ? null : new RolloutMemory(rollout);
  }

  read<Read extends Entry>(entry: Read): Read {
    if (!isRollout(entry.native)) return this.#queue.read(entry);
    this.#rollout ??= new RolloutMemory();
    return this.#rollout.read(entry);
  }

  state(): unknown {
    return { queue: this.#queue.state(), rollout: this.#rollout?.state() ?? null };
  }
}
