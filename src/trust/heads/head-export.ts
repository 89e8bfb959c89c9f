/**
 * Head export: pins in the form that is sent to another machine: the lines of `heads.jsonl` that
 * count.
 *
 * A file from elsewhere is read strictly: one line that is not a pin, and the whole file is
 * refused. Our own `heads.jsonl` is read more leniently (HF3).
 */

import { basename, dirname, resolve } from "node:path";
import { ioError, VerbatimError } from "../../core/base/errors.ts";
import type { Host } from "../../core/base/host.ts";
import { LF, readStretch } from "../../core/log/bytes.ts";
import { decodeLine } from "../../core/log/json.ts";
import { type Pin, readPin } from "../proof/pin.ts";
import type { PinBook } from "../proof/pins.ts";
import { PIN_LINE_BYTES_MAX, pinLine } from "./head-file.ts";

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
      "Export the pins again with `verbatim keys head export`",
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
