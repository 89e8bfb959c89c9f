/**
 * Session checkpoints: adds checkpoints to the lines of a session: what they state besides its bytes
 * (turns, the revision of a signed file), and how their lines begin. Also when an idle session is
 * signed, and the errors of one next to which another program writes.
 */

import { assert, errnoOf, VerbatimError } from "../../core/base/errors.ts";
import type { Native } from "../../core/model/entry.ts";
import type { TurnMark } from "../../core/model/turns.ts";
import type { CheckpointOpening } from "../../trust/signer/counted-turns.ts";
import { CountedTurns } from "../../trust/signer/counted-turns.ts";
import { type Due, turnAt } from "../../trust/signer/dues.ts";
import type { At } from "../../trust/signer/signed-log.ts";
import type { PreparedLine } from "./line-ids.ts";
import type { SessionAppendsParts } from "./session-signing.ts";
import { addChunk, type Write } from "./session-write.ts";

/** The entry that derived files see for a checkpoint. */
const SAYS_NOTHING: Native = {};

export class SessionCheckpoints {
  readonly turns: CountedTurns;
  readonly #parts: SessionAppendsParts;
  #lastNative: Native | null = null;

  constructor(parts: SessionAppendsParts) {
    this.#parts = parts;
    this.turns = new CountedTurns(parts, (native) => this.markOf(native));
  }

  markOf(native: Native): TurnMark {
    const { dialect, id, signing } = this.#parts;
    return signing ? dialect().turns.turnMark(native, id) : null;
  }

  /** Adds a checkpoint over everything before it; returns its line. */
  async add(write: Write, due: Due): Promise<Uint8Array> {
    const { signing, derived } = this.#parts;
    assert(signing && write.draft, "only a signed session has checkpoints");
    const { log } = signing;
    if (typeof due === "object" && "vouches" in due) this.#vouchedTo(due.turn);
    const { known, added } = write;
    const at = this.#at(due, known.last, added);
    const opening = () => this.#opening(known.last, added.at(-1)?.whole);
    const { line, id } = await log.add(write.draft, due, at, opening);
    if (log.isSidecar) {
      write.sidecar.push(line);
    } else {
      derived?.expect(line.subarray(0, -1), SAYS_NOTHING);
      addChunk(write, line);
      if (added.length === 0) write.dueLength += line.length;
    }
    if (id !== null) known.last = id;
    return line;
  }

  /** These lines are in the log now, which ends at `end`. */
  note(lines: readonly PreparedLine[], end: number): void {
    for (const { whole, mark } of lines) {
      this.turns.note(mark);
      this.#lastNative = whole;
    }
    this.turns.countedTo(end);
  }

  /** A person vouches for the lines so far: up to this turn, or to the last that ended. */
  #vouchedTo(turn: number | undefined): void {
    const { ended, phase } = this.turns.state;
    this.turns.continueFrom({ ended: turn ?? ended, phase });
  }

  /** `lines`: those before the checkpoint that are not in the log yet. */
  #at(due: Due, previous: string | null, lines: readonly PreparedLine[] = []): At {
    const marks = lines.map(({ mark }) => mark);
    const rev = this.#parts.signing?.revision(false) ?? 0;
    return { turn: turnAt(due, this.turns, marks), rev, previous };
  }

  #opening(previous: string | null, native = this.#lastNative): CheckpointOpening {
    const { dialect, facts } = this.#parts;
    return dialect().turns.opening(facts, { previous, native });
  }

  /** Signs early: what is in the log now probably ends a turn or the session (SL3). */
  presign(due: "turn" | "final", previous: string | null): void {
    const { signing } = this.#parts;
    if (!signing || signing.isEveryAppend) return; // Another checkpoint is due first.
    const at = { ...this.#at(due, previous), rev: signing.revision(due === "final") };
    signing.log.presign(due, at, () => this.#opening(previous));
  }
}

/** A refused append whose lines could not be cut off (turn.ts, `cutBack`). */
export function staysInLog(path: string, cause: unknown): VerbatimError {
  return new VerbatimError(
    "IO_ERROR",
    `an append to ${path} could not be signed, and its lines are still there: another program wrote ` +
      "after them. They count as found; do not append them again",
    { path, operation: "signing", errno: errnoOf(cause) },
    { cause },
  );
}

/** Nothing is signed while another program writes faster than we do, or over what it wrote. */
export function voidError(path: string): VerbatimError {
  return new VerbatimError(
    "CHANGED_WHILE_READ",
    `another program appended to ${path} while it was signed; nothing was signed, try again`,
    { path, offset: 0 },
  );
}

/** A session with a sidecar is signed after this long without an append. */
const IDLE_MS = 1000;

export class IdleTimer {
  readonly #onIdle: () => void;
  #timer: NodeJS.Timeout | null = null;

  constructor(onIdle: () => void) {
    this.#onIdle = onIdle;
  }

  restart(): void {
    this.#timer ??= setTimeout(this.#onIdle, IDLE_MS).unref();
    this.#timer.refresh();
  }

  stop(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
  }
}
