/**
 * Pipeline: entries in, messages and a report out. Pure: no files, no clock, no randomness; the
 * same entries give the same messages.
 */

import type { CallPiece } from "./conversation.ts";
import { callsIn } from "./conversation.ts";
import { fitTo } from "./fit.ts";
import { type GatheredEntry, Gathering } from "./gather.ts";
import { type Made, type RepairAction, Repairs } from "./repair-report.ts";
import { Room, type RoomLimits } from "./room.ts";
import { type Prompt, settle } from "./settle.ts";
import { contentText, MessageList, type MessageTarget, madeOfPieces } from "./targets/target.ts";

export interface PipelineResult<Message> {
  readonly messages: Message[];
  /** The system prompt; null when the session has none. */
  readonly system: string | null;
  /** The tools called in the messages, by their names there, sorted. */
  readonly tools: readonly string[];
  readonly made: readonly Made[];
  readonly madeSystem: Made | null;
  readonly actions: readonly RepairAction[];
}

/** A line that is not an entry. */
export interface SkippedLine {
  readonly line: number;
  readonly start: number;
}

export class Pipeline {
  readonly #repairs = new Repairs();
  readonly #room: Room;
  readonly #gathering: Gathering;
  #entries = 0;
  #unverified = 0;
  #answered: string | null = null;
  #named: string | null = null;

  constructor(limits?: RoomLimits) {
    this.#room = new Room(limits);
    this.#gathering = new Gathering(this.#repairs, this.#room);
  }

  /** Entries and bad lines so far. */
  get entries(): number {
    return this.#entries;
  }

  get unverified(): number {
    return this.#unverified;
  }

  /**
   * The model that answered last, else the last one that another entry names, as rye's starts do.
   */
  get model(): string | null {
    return this.#answered ?? this.#named;
  }

  /** Refuses with RESUME_TOO_LARGE. */
  add(entry: GatheredEntry): void {
    this.#entries++;
    if (!entry.verified) this.#unverified++;
    if (entry.model !== null && !entry.aside) {
      if (entry.role === "assistant") this.#answered = entry.model;
      else this.#named = entry.model;
    }
    this.#gathering.add(entry);
  }

  addBadLine({ line, start }: SkippedLine): void {
    this.#entries++;
    this.#room.takeParts(1, line);
    this.#repairs.leaveOut({ line, offset: start, verified: false }, "bad_line");
  }

  /** Of the entries so far: more may be added after it. */
  finish<Message>(
    { takes, build }: MessageTarget<Message>,
    prompt: Prompt,
  ): PipelineResult<Message> {
    const repairs = new Repairs();
    const { system, messages } = fitTo(this.#gathering.messages, takes, repairs);
    const settled = settle(messages, prompt, repairs);
    const list = new MessageList<Message>();
    build(settled, list);
    const calls = settled.flatMap((each): readonly CallPiece[] => {
      return each.role === "assistant" ? callsIn(each) : [];
    });
    return {
      messages: list.messages,
      system: system.length === 0 ? null : contentText(system),
      tools: [...new Set(calls.map(({ tool }) => tool))].sort(),
      made: list.made,
      madeSystem: system.length === 0 ? null : madeOfPieces(system),
      actions: [...this.#repairs.actions, ...repairs.actions],
    };
  }
}
