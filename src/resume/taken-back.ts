/**
 * Taken back: in some dialects a line takes back what was said before it. What no longer counts is
 * known only at the end, so entries are held until then; where no line ever does that, they pass.
 *
 * TB1  What is held takes room: a session that is too long for a conversation is refused here, too.
 */

import type { Dialect } from "../store/fork.ts";
import type { VerifiedEntry } from "../store/verified-entries.ts";
import type { GatheredEntry } from "./gather.ts";
import { Room } from "./room.ts";

type Held = VerifiedEntry & Pick<GatheredEntry, "aside">;

export class TakenBack {
  readonly #takesBack: Dialect["takesBack"];
  readonly #pass: (entry: Held) => void;
  readonly #room = new Room();
  #held: Held[] = [];
  /** Which of them were said and still count, the last one last. */
  readonly #standing: number[] = [];

  constructor({ takesBack }: Pick<Dialect, "takesBack">, pass: (entry: Held) => void) {
    this.#takesBack = takesBack;
    this.#pass = pass;
  }

  /** Refuses with RESUME_TOO_LARGE. */
  add(entry: Held): void {
    if (!this.#takesBack) {
      this.#pass(entry);
      return;
    }
    this.#room.takeParts(Math.max(1, entry.parts.length), entry.line);
    this.#room.takeChars(entry.end - entry.start, entry.line);
    let count = this.#takesBack(entry.native);
    for (let at = 0; count > 0 && this.#standing.length > 0; count--) {
      at = this.#standing.pop() ?? 0;
      this.#held[at] = { ...(this.#held[at] as Held), aside: "taken_back" };
    }
    this.#held.push(entry);
    if (entry.kind === "message") this.#standing.push(this.#held.length - 1);
  }

  /** Hands over what was held. To be called once, at the end. */
  finish(): void {
    for (const entry of this.#held) this.#pass(entry);
    this.#held = [];
  }
}
