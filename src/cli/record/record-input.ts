/**
 * Record input: turns lines of input into entries of a session, until the input ends, is interrupted,
 * or fails.
 *
 * A line is recorded whole or not at all, and never skipped silently: a malformed one is reported
 * with its number and its fault, never with its content. A line with a list of entries is one append.
 *
 * - Acknowledgments are in the order of the entries, and none follows a failure: their count says
 *   what is in the log. Entries after a failed one may be there too, unacknowledged.
 * - An entry is validated before the next is taken, so that stopping at a bad one is exact.
 * - A bounded number of entries is in flight at once, to share a sync.
 * - Of a session that got no entry, only empty files are removed, and the log while its lock is held:
 *   another process that waits for it makes a new one (src/core/log/lock.ts, L2).
 */

import { readdirSync, rmdirSync, statSync, unlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { VerbatimError } from "../../core/base/errors.ts";
import { inexactNumber } from "../../core/base/exact-numbers.ts";
import { LOG_LIMITS } from "../../core/base/limits.ts";
import type { ByteOffset } from "../../core/base/offset.ts";
import { decodeLine } from "../../core/log/json.ts";
import type { Native } from "../../core/model/entry.ts";
import { safeLine } from "../../sessions/render/text.ts";
import type { Session } from "../../sessions/store/session.ts";
import type { Io } from "../command/command.ts";
import type { InputLines } from "./input-lines.ts";

/** How the recording ended. */
export type RecordOutcome =
  | "recorded"
  /** A malformed line, with the option to stop there. */
  | "malformed"
  /** The log failed; acknowledged entries are in it. */
  | "failed";

export type OnError = "stop" | "skip" | "report";

export interface RecordingOptions {
  readonly input: InputLines;
  /** At a malformed line: stop, or skip it, or skip it and print why among the acknowledgments. */
  readonly onError: OnError;
  /** Prints `{"offset":N}` for every line of the input, once it is durable. */
  readonly isAcknowledging: boolean;
  /** Written before the first entry unless that is one itself; null if the log has it. */
  readonly start: Native | null;
  readonly io: Io;
}

export async function recordInput(
  session: Session,
  options: RecordingOptions,
): Promise<RecordOutcome> {
  const { input, onError, isAcknowledging, io } = options;
  const knownRows = new KnownRows(session);
  const recorder = new Recorder(session, (offset, natives) => {
    if (isAcknowledging) io.out(JSON.stringify({ offset, ...knownRows.ackOf(natives) }));
  });
  let { start } = options;
  let skipped = 0;
  let outcome: RecordOutcome = "recorded";
  const addStart = async () => {
    if (start) await recorder.add({ number: null, natives: [start], bytes: 0 });
    start = null;
  };

  for await (const { number, bytes } of input) {
    if (bytes?.length === 0) continue;
    const { natives, fault } = readEntries(bytes);
    if (start && natives[0] && isStart(natives[0])) start = null;
    if (fault === null) await addStart();
    const refusal = fault ?? (await recorder.add({ number, natives, bytes: bytes?.length ?? 0 }));
    if (recorder.failure) break;
    if (refusal === null) continue;
    const { code, message } = refusal;
    io.err(`line ${number}: ${message}`);
    if (onError === "report") io.out(JSON.stringify({ line: number, code, message }));
    if (onError === "stop") {
      outcome = "malformed";
      io.err("stopped there; everything before it is recorded (--on-error skip continues)");
      break;
    }
    skipped++;
  }
  await recorder.finish();
  knownRows.tell(io);
  if (skipped > 0)
    io.err(`${skipped} malformed ${skipped === 1 ? "line was" : "lines were"} skipped`);
  if (input.droppedBytes > 0) {
    io.err(`interrupted within a line; its ${input.droppedBytes} bytes are not recorded`);
  }
  if (!recorder.failure) return outcome;
  const { number, error } = recorder.failure;
  const reason = error instanceof Error ? error.message : String(error);
  io.err(`${number === null ? "the start of the session" : `line ${number}`}: ${reason}`);
  io.err("nothing after it was acknowledged; everything acknowledged is recorded");
  return "failed";
}

interface ReadLine {
  readonly natives: readonly Native[];
  readonly fault: LineFault | null;
}

interface LineFault {
  readonly code: "INVALID_ENTRY" | "LINE_TOO_LONG";
  readonly message: string;
}

/** The entry of a line, or its list of entries. */
function readEntries(bytes: Buffer | null): ReadLine {
  if (bytes === null) {
    const message = `too long: a line has at most ${LOG_LIMITS.lineBytesMax} bytes`;
    return { natives: [], fault: { code: "LINE_TOO_LONG", message } };
  }
  const { value, fault } = decodeLine(bytes, 0, bytes.length);
  if (fault !== null) return malformed(fault);
  const natives: readonly unknown[] = Array.isArray(value) ? value : [value];
  const isObjects = natives.every((each) => isObject(each));
  if (!isObjects || natives.length === 0) return malformed("not a JSON object");
  const inexact = inexactNumber(bytes.toString("utf8"));
  if (inexact !== null) {
    const reason = "is a number that would not be kept exactly; give it as a string";
    return malformed(`${inexact.slice(0, 40)} ${reason}`);
  }
  return { natives: natives as readonly Native[], fault: null };
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function malformed(message: string): ReadLine {
  return { natives: [], fault: { code: "INVALID_ENTRY", message } };
}

/** Whether a line starts a thread, in either of rye's envelopes. */
function isStart(native: Native): boolean {
  return native.type === "thread_start" || native.event_type === "thread_start";
}

const NAMED_MAX = 10;
const UUID_CHARS_MAX = 100;

/**
 * Input rows whose `uuid` is already in the log. The first row with a uuid is kept
 * (docs/formats/claude.md), so later ones are counted, and those with other content are listed.
 */
class KnownRows {
  readonly #isSame = new WeakMap<Native, boolean>();
  readonly #named: string[] = [];
  #same = 0;
  #others = 0;

  constructor(session: Session) {
    session.onKnown = (given, isSame) => {
      this.#isSame.set(given, isSame);
      if (isSame) this.#same++;
      else if (++this.#others <= NAMED_MAX) this.#named.push(String(given.uuid));
    };
  }

  /** Field of the acknowledgement of such a row, if it is the only one of its line. */
  ackOf([native, ...more]: readonly Native[]): { readonly known?: "same" | "other" } {
    const isSame = native && more.length === 0 ? this.#isSame.get(native) : undefined;
    return isSame === undefined ? {} : { known: isSame ? "same" : "other" };
  }

  tell(io: Io): void {
    if (this.#same > 0) {
      const rows = this.#same === 1 ? "1 row was" : `${this.#same} rows were`;
      io.err(`${rows} already recorded (same uuid, same content)`);
    }
    if (this.#others === 0) return;
    const rows = this.#others === 1 ? "1 row has" : `${this.#others} rows have`;
    const named = this.#named.map((uuid) => safeLine(uuid.slice(0, UUID_CHARS_MAX))).join(", ");
    const more = this.#others - this.#named.length;
    io.err(
      `${rows} a known uuid but other content; the first one is kept: uuid ${named}` +
        (more > 0 ? ` and ${more} more` : ""),
    );
  }
}

const IN_FLIGHT_MAX = 256;
/** Escaping makes a line up to six times as long; all of it must fit into the log's queue. */
const IN_FLIGHT_BYTES_MAX = 4 * 1024 * 1024;
/** Errors of an entry, not of the disk: nothing was written, and the log continues. */
const REFUSALS: readonly string[] = ["INVALID_ENTRY", "INVALID_LINE", "LINE_TOO_LONG"];

interface RecordedLine {
  /** Line number in the input, from 1; null for the recorder's own entry. */
  readonly number: number | null;
  readonly natives: readonly Native[];
  /** Approximate length. */
  readonly bytes: number;
}

interface RecordFailure {
  readonly number: number | null;
  readonly error: unknown;
}

type OnDurable = (offset: ByteOffset, natives: readonly Native[]) => void;

interface InFlight {
  readonly told: Promise<void>;
  readonly bytes: number;
}

/** Appends entries as they come, many at once, and acknowledges each once it is durable. */
class Recorder {
  readonly #session: Session;
  readonly #onDurable: OnDurable;
  readonly #inFlight: InFlight[] = [];
  #bytesInFlight = 0;
  #told: Promise<void> = Promise.resolve();
  #failure: RecordFailure | null = null;

  /** `onDurable` is called for the lines of the input, in order, with the offset after each. */
  constructor(session: Session, onDurable: OnDurable) {
    this.#session = session;
    this.#onDurable = onDurable;
  }

  /** The first entry that could not be written. No more are taken after it. */
  get failure(): RecordFailure | null {
    return this.#failure;
  }

  /** Takes an entry, when there is room. Resolves to the error if the entry is refused, or null. */
  async add({ number, natives, bytes }: RecordedLine): Promise<VerbatimError | null> {
    while (
      this.#inFlight.length >= IN_FLIGHT_MAX ||
      (this.#inFlight.length > 0 && this.#bytesInFlight + bytes > IN_FLIGHT_BYTES_MAX)
    ) {
      await this.#oldestTold();
    }
    if (this.#failure) return null;
    const appended = this.#append(natives);
    let refusal: VerbatimError | null = null;
    appended.catch((error: unknown) => {
      if (error instanceof VerbatimError && REFUSALS.includes(error.code)) refusal = error;
    });
    await judgementPassed();
    if (refusal) return refusal;
    const told = this.#told.then(() => this.#tell(number, natives, appended));
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

  #append(natives: readonly Native[]): Promise<ByteOffset> {
    const [native, ...more] = natives;
    if (native && more.length === 0) return this.#session.appendNative(native);
    return this.#session.appendLines(natives).then((offsets) => offsets.at(-1) as ByteOffset);
  }

  async #tell(
    number: number | null,
    natives: readonly Native[],
    appended: Promise<ByteOffset>,
  ): Promise<void> {
    try {
      const offset = await appended;
      if (number !== null && !this.#failure) this.#onDurable(offset, natives);
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

/** Removes an empty log and its lock. Whether it did; a log with bytes or a sidecar file stays. */
export function removeEmptyLog(path: string): boolean {
  try {
    if (statSync(path).size > 0 || hasSidecarFile(path)) return false;
    unlinkSync(path);
    unlinkSync(`${path}.lock`);
    return true;
  } catch {
    return false; // It stays, as an empty session.
  }
}

function hasSidecarFile(path: string): boolean {
  const name = path.slice(dirname(path).length + 1);
  const others = readdirSync(dirname(path)).filter((each) => each.startsWith(`${name}.`));
  return others.some((each) => each !== `${name}.lock`);
}

/** After closing: removes the session's own directory, with derived files that got no text. */
export function removeEmptyDirectory(directory: string, derived: readonly string[]): void {
  try {
    for (const name of readdirSync(directory)) {
      const path = join(directory, name);
      if (derived.includes(name) && statSync(path).size === 0) unlinkSync(path);
    }
    rmdirSync(directory);
  } catch {
    // It holds something else, which stays.
  }
}
