/**
 * Recorder: appends entries to a session as they come, many at once, and acknowledges each in order
 * once it is durable.
 *
 * - Acknowledgments are in the order of the entries, and none follows a failure: their count says
 *   what is in the log. Entries after a failed one may be there too, unacknowledged.
 * - An entry is validated before the next is taken, so that stopping at a bad one is exact.
 * - A bounded number of entries is in flight at once, to share a sync.
 */

import { VerbatimError } from "../../base/errors.ts";
import type { ByteOffset } from "../../base/offset.ts";
import type { Native } from "../../dialects/dialect.ts";
import type { Session } from "../../store/session.ts";

const IN_FLIGHT_MAX = 256;
/** Escaping makes a line up to six times as long; all of it must fit into the log's queue. */
const IN_FLIGHT_BYTES_MAX = 4 * 1024 * 1024;
/** Errors of an entry, not of the disk: nothing was written, and the log continues. */
const REFUSALS: readonly string[] = ["INVALID_ENTRY", "INVALID_LINE", "LINE_TOO_LONG"];

export interface RecordedLine {
  /** Line number in the input, from 1; null for the recorder's own entry. */
  readonly number: number | null;
  readonly native: Native;
  /** Approximate length. */
  readonly bytes: number;
}

export interface RecordFailure {
  readonly number: number | null;
  readonly error: unknown;
}

interface InFlight {
  readonly told: Promise<void>;
  readonly bytes: number;
}

export class Recorder {
  readonly #session: Session;
  readonly #onDurable: (offset: ByteOffset, native: Native) => void;
  readonly #inFlight: InFlight[] = [];
  #bytesInFlight = 0;
  #told: Promise<void> = Promise.resolve();
  #failure: RecordFailure | null = null;

  /** `onDurable` is called for the entries of the input, in order, with the offset after each. */
  constructor(session: Session, onDurable: (offset: ByteOffset, native: Native) => void) {
    this.#session = session;
    this.#onDurable = onDurable;
  }

  /** The first entry that could not be written. No more are taken after it. */
  get failure(): RecordFailure | null {
    return this.#failure;
  }

  /** Takes an entry, when there is room. Resolves to the error if the entry is refused, or null. */
  async add({ number, native, bytes }: RecordedLine): Promise<VerbatimError | null> {
    while (
      this.#inFlight.length >= IN_FLIGHT_MAX ||
      (this.#inFlight.length > 0 && this.#bytesInFlight + bytes > IN_FLIGHT_BYTES_MAX)
    ) {
      await this.#oldestTold();
    }
    if (this.#failure) return null;
    const appended = this.#session.appendNative(native);
    let refusal: VerbatimError | null = null;
    appended.catch((error: unknown) => {
      if (error instanceof VerbatimError && REFUSALS.includes(error.code)) refusal = error;
    });
    await judgementPassed();
    if (refusal) return refusal;
    const told = this.#told.then(() => this.#tell(number, native, appended));
    this.#told = told;
    this.#inFlight.push({ told, bytes });
    this.#bytesInFlight += bytes;
    return null;
  }

  /** Resolves when everything taken is durable, or has failed. */
  async finish(): Promise<void> {
    while (this.#inFlight.length > 0) await this.#oldestTold();
  }

  async #oldestTold(): Promise<void> {
    const oldest = this.#inFlight.shift();
    await oldest?.told;
    this.#bytesInFlight -= oldest?.bytes ?? 0;
  }

  async #tell(number: number | null, native: Native, appended: Promise<ByteOffset>): Promise<void> {
    try {
      const offset = await appended;
      if (number !== null && !this.#failure) this.#onDurable(offset, native);
    } catch (error) {
      this.#failure ??= { number, error };
    }
  }
}

/**
 * Resolves after all due promise callbacks have run. An open session refuses an entry without
 * waiting, so by then it has.
 */
function judgementPassed(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}
