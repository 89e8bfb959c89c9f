/**
 * Head export: pins in the form that is sent to another machine: the lines of `heads.jsonl` that
 * count.
 *
 * A file from elsewhere is read strictly: one line that is not a pin, and the whole file is
 * refused. Our own `heads.jsonl` is read more leniently (HF3).
 *
 * Head merge: which pins of another machine are newer than ours.
 *
 * HM1  Only adds, and never takes a pin back. A pin behind ours changes nothing; one that
 *      contradicts ours is a conflict, which is reported and left to the user.
 */

import { basename, dirname, resolve } from "node:path";
import { ioError, VerbatimError } from "../../core/base/errors.ts";
import type { Host } from "../../core/base/host.ts";
import { LF, readStretch } from "../../core/log/bytes.ts";
import { decodeLine } from "../../core/log/json.ts";
import { type Pin, readPin } from "../proof/pin.ts";
import type { PinBook, Rollback } from "../proof/pins.ts";
import { PIN_LINE_BYTES_MAX, pinLine } from "./head-file.ts";

const WHYS: Readonly<Record<Conflict["why"], string>> = {
  REPLACED: "they are of two logs",
  FORK: "they differ where they should be the same",
};

/** Enough for the pins of some hundred thousand sessions. */
export const PIN_FILE_BYTES_MAX = 64 * 1024 * 1024;

/** The lines of current pins, all or some; not of forgotten or given-up ones. */
export function* exportLines(
  book: PinBook,
  isAsked: (pin: Pin) => boolean = () => true,
): Generator<string> {
  for (const pin of book.pins()) if (isAsked(pin)) yield pinLine(pin);
}

/** The pins in an exported file; refuses it with BAD_LINE or PIN_FILE_TOO_LARGE. */
export async function readPinFile(host: Host, path: string): Promise<Pin[]> {
  const full = resolve(path);
  try {
    const directory = await host.files.openDirectory(dirname(full), { create: false });
    try {
      const file = directory.open(basename(full), "read");
      try {
        const bytes = file.size();
        if (bytes > PIN_FILE_BYTES_MAX) throw pinFileTooLarge(full, bytes);
        return parsePins(await readStretch(file, 0, bytes), full);
      } finally {
        file.close();
      }
    } finally {
      directory.close();
    }
  } catch (cause) {
    throw ioError(full, "reading", cause);
  }
}

/** The same for bytes from another source; error messages call them `name`. */
export function parsePins(bytes: Buffer, name: string): Pin[] {
  if (bytes.length > PIN_FILE_BYTES_MAX) throw pinFileTooLarge(name, bytes.length);
  const pins: Pin[] = [];
  let line = 0;
  for (let from = 0; from < bytes.length; line++) {
    const lf = bytes.indexOf(LF, from);
    const to = lf === -1 ? bytes.length : lf;
    const { pin, fault } = parsePin(bytes, from, to);
    if (pin === null) throw notAPin(name, line + 1, from, fault);
    pins.push(pin);
    from = to + 1;
  }
  return pins;
}

function parsePin(bytes: Buffer, from: number, to: number): ReturnType<typeof readPin> {
  if (to - from > PIN_LINE_BYTES_MAX) return { pin: null, fault: "too long" };
  const { value, fault } = decodeLine(bytes, from, to);
  return fault === null ? readPin(value) : { pin: null, fault };
}

function notAPin(path: string, line: number, offset: number, reason: string): VerbatimError {
  return new VerbatimError(
    "BAD_LINE",
    `line ${line} of ${path} is no head pin: ${reason}; nothing of it was taken. ` +
      "Export the pins again with `verbatim head export`",
    { path, line, offset, reason },
  );
}

export function pinFileTooLarge(path: string, bytes: number): VerbatimError {
  return new VerbatimError(
    "PIN_FILE_TOO_LARGE",
    `${path} is larger than ${PIN_FILE_BYTES_MAX} bytes, and so no file of head pins; ` +
      "check which file it is",
    { path, bytes, bytesMax: PIN_FILE_BYTES_MAX },
  );
}

/** The other machine's pin is of another log, or of another history of the same log. */
export interface Conflict {
  readonly theirs: Pin;
  readonly ours: Pin;
  readonly why: Exclude<Rollback, "BEHIND">;
}

export interface HeadMerge {
  readonly added: readonly Pin[];
  /** Pins that said nothing new, including those forgotten on the other machine. */
  readonly known: number;
  readonly conflicts: readonly Conflict[];
}

/** Adds to `book` what it lacks; returns what was added. */
export function merge(book: PinBook, pins: readonly Pin[]): HeadMerge {
  const added: Pin[] = [];
  const conflicts: Conflict[] = [];
  // All are compared with ours as they were before: a log may have been replaced on the other
  // machine, too.
  const ofLog = new Map(book.pins().map((pin) => [keyOf(pin), pin]));
  const before = pins.map((theirs) => {
    const same = ofLog.get(keyOf(theirs));
    return same && same.seq >= theirs.seq ? same : (book.lookup(theirs)?.pin ?? null);
  });
  for (const [n, theirs] of pins.entries()) {
    if (theirs.why === "forgotten") continue; // A session forgotten there may be in use here.
    const ours = before[n] ?? null;
    const why = ours && conflictOf(ours, theirs);
    if (ours && why) conflicts.push({ theirs, ours, why });
    if (why || (ours && ours.seq >= theirs.seq)) continue;
    // The user gave up a head on the other machine; nothing is lost here.
    const pin: Pin = theirs.why === "accepted" ? { ...theirs, why: "verified" } : theirs;
    book.add(pin);
    added.push(pin);
  }
  return { added, known: pins.length - added.length - conflicts.length, conflicts };
}

function keyOf({ place, id, log }: Pin): string {
  return `${place}\0${id}\0${log}`;
}

/** Null if one may be a later state of the other. */
function conflictOf(ours: Pin, theirs: Pin): Conflict["why"] | null {
  if (ours.log !== theirs.log) return "REPLACED";
  return ours.seq === theirs.seq && ours.line !== theirs.line ? "FORK" : null;
}

export function describeConflict({ theirs, ours, why }: Conflict): string {
  return (
    `conflict: ${theirs.id} (${theirs.place}): there ${placeInLog(theirs)}, ` +
    `here ${placeInLog(ours)}: ${WHYS[why]}; ours stays`
  );
}

function placeInLog({ log, seq }: Pin): string {
  return `checkpoint ${seq} of log ${log.slice(0, 8)}`;
}
