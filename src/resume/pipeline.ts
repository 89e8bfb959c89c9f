/**
 * Pipeline: entries in, messages and a report out. Pure: no files, no clock, no randomness; the
 * same entries give the same messages.
 */

import type { AssembledRequest, Assembly, Prompt } from "./assembly.ts";
import { type GatheredEntry, Gathering } from "./gather.ts";
import { Repairs } from "./repair-report.ts";
import { Room, type RoomLimits } from "./room.ts";

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

  /** Of the entries so far. More may be added after it, and assembled by the same assembly. */
  finish<Message>(assembly: Assembly<Message>, prompt: Prompt): AssembledRequest<Message> {
    const assembled = assembly.finish(this.#gathering, prompt);
    return { ...assembled, actions: this.#repairs.actions.concat(assembled.actions) };
  }
}
