/**
 * Recording: turns lines of input into entries of a session, until the input ends, is interrupted,
 * or fails.
 *
 * A line is recorded whole or not at all, and never skipped silently: a malformed one is reported
 * with its number and its fault, never with its content.
 */

import type { Io } from "../../command/command.ts";
import { inexactNumber } from "../../command/exact-numbers.ts";
import type { Native } from "../../dialects/dialect.ts";
import { decodeLine } from "../../log/json.ts";
import type { Session } from "../../store/session.ts";
import type { InputLines } from "./input-lines.ts";
import { KnownRows } from "./known-rows.ts";
import { Recorder } from "./recorder.ts";

/** How the recording ended. */
export type Outcome =
  | "recorded"
  /** A malformed line, with the option to stop there. */
  | "malformed"
  /** The log failed; acknowledged entries are in it. */
  | "failed";

export interface RecordingOptions {
  readonly input: InputLines;
  /** Skip malformed lines instead of stopping at the first. */
  readonly isSkipping: boolean;
  /** Prints `{"offset":N}` for every entry of the input, once it is durable. */
  readonly isAcknowledging: boolean;
  /** Written before the first entry unless that is one itself; null if the log has it. */
  readonly start: Native | null;
  readonly io: Io;
}

export async function recordInput(session: Session, options: RecordingOptions): Promise<Outcome> {
  const { input, isSkipping, isAcknowledging, io } = options;
  const known = new KnownRows(session);
  const recorder = new Recorder(session, (offset, native) => {
    if (isAcknowledging) io.out(JSON.stringify({ offset, ...known.ackOf(native) }));
  });
  let { start } = options;
  let skipped = 0;
  let outcome: Outcome = "recorded";
  const addStart = async () => {
    if (start) await recorder.add({ number: null, native: start, bytes: 0 });
    start = null;
  };

  for await (const { number, bytes } of input) {
    if (bytes?.length === 0) continue;
    const { native, fault } = readEntry(bytes);
    if (native && start && isStart(native)) start = null;
    if (native) await addStart();
    const refusal = native
      ? await recorder.add({ number, native, bytes: bytes?.length ?? 0 })
      : null;
    if (recorder.failure) break;
    const reason = fault ?? refusal?.message ?? null;
    if (reason === null) continue;
    io.err(`line ${number}: ${reason}`);
    if (!isSkipping) {
      outcome = "malformed";
      io.err("stopped there; everything before it is recorded (--on-error skip continues)");
      break;
    }
    skipped++;
  }
  await addStart();
  await recorder.finish();
  known.tell(io);
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

type ReadEntry =
  | { readonly native: Native; readonly fault: null }
  | { readonly native: null; readonly fault: string };

function readEntry(bytes: Buffer | null): ReadEntry {
  if (bytes === null) return { native: null, fault: "too long" };
  const { value, fault } = decodeLine(bytes, 0, bytes.length);
  if (fault !== null) return { native: null, fault };
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return { native: null, fault: "not a JSON object" };
  }
  const inexact = inexactNumber(bytes.toString("utf8"));
  if (inexact !== null) {
    const reason = "is a number that would not be kept exactly; give it as a string";
    return { native: null, fault: `${inexact.slice(0, 40)} ${reason}` };
  }
  return { native: value as Native, fault: null };
}

/** Whether a line starts a thread, in either of rye's envelopes. */
function isStart(native: Native): boolean {
  return native.type === "thread_start" || native.event_type === "thread_start";
}
