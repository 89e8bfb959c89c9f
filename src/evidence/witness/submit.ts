/**
 * Submit: sends the head of a log to a witness, and asks a witness for its newest (C2SP
 * tlog-witness).
 *
 * - An answer counts only with a cosignature by the known key of the witness, over the note that
 *   was sent. Answers are short; longer ones are refused.
 * - Asking is fresh: the witness's newest note is sent to it again, and it must cosign it with the
 *   current time. A recorded answer would have an old one.
 */

import { VerbatimError } from "../../core/base/errors.ts";
import { nodeCrypto } from "../../trust/keys/node-crypto.ts";
import { toHex, utf8 } from "../../trust/proof/bytes.ts";
import {
  NOTE_CHARS_MAX,
  readNote,
  readSignatureLines,
  signedBy,
} from "../../trust/proof/tlog/note.ts";
import { readSizeAnswer, readTreeHead, spellSubmission } from "../../trust/proof/tlog/tree-head.ts";
import type { Witness } from "./witness-list.ts";

const TIMEOUT_MS = 20_000;
/** Another process may submit the same log meanwhile. */
const TRIES_MAX = 4;
/** How far the clocks of two machines may differ. */
export const CLOCK_SECONDS_MAX = 300;

/** `time` in seconds. */
export type SubmitAnswer =
  | { readonly is: "cosigned"; readonly note: string; readonly time: number }
  /** It has seen a larger tree, or one that this log does not continue. */
  | { readonly is: "ahead" | "contradicted"; readonly size: number };

export interface SubmitOptions {
  readonly witness: Witness;
  /** The size that the witness saw last, as far as known. */
  readonly old: number;
  readonly proofFrom: (old: number) => Promise<readonly Uint8Array[]>;
}

export async function submitNote(note: string, options: SubmitOptions): Promise<SubmitAnswer> {
  const { witness, proofFrom } = options;
  const size = sizeOf(note);
  let old = Math.min(options.old, size);
  for (let n = 0; n < TRIES_MAX; n++) {
    const proof = await proofFrom(old);
    const { status, text } = await ask(witness, "add-checkpoint", {
      method: "POST",
      body: spellSubmission({ old, proof, note }),
    });
    if (status === 200) return cosigned(note, text, witness);
    if (status === 422) return { is: "contradicted", size: old };
    const seen = status === 409 ? readSizeAnswer(text) : null;
    if (seen === null) throw failed(witness, status, textOf(status, text));
    if (seen > size) return { is: "ahead", size: seen };
    old = seen;
  }
  throw failed(witness, 409, "others submit the same log at the same time; try again");
}

/** The newest note of a log that the witness has, cosigned by it now; null if it has none. */
export async function askNewest(
  witness: Witness,
  origin: string,
  nowMs: () => number,
): Promise<{ readonly note: string; readonly time: number } | null> {
  for (let n = 0; n < TRIES_MAX; n++) {
    const hash = toHex(nodeCrypto.sha256(utf8(origin)));
    const { status, text } = await ask(witness, `${hash}/checkpoint`, {});
    if (status === 404) return null;
    const note = status === 200 ? readNote(text) : null;
    if (note === null || readTreeHead(note.body)?.origin !== origin) {
      throw failed(witness, status, textOf(status, "it sent no note of this log"));
    }
    if (signedBy(nodeCrypto, note, witness.key).is !== "valid") {
      throw failed(witness, status, "its note is not signed by its key");
    }
    const proofFrom = async () => [];
    const again = await submitNote(text, { witness, old: sizeOf(text), proofFrom });
    if (again.is !== "cosigned") continue; // It has seen more meanwhile.
    if (Math.abs(again.time - nowMs() / 1000) > CLOCK_SECONDS_MAX) {
      throw failed(witness, 200, `its clock differs by more than ${CLOCK_SECONDS_MAX} seconds`);
    }
    return { note: again.note, time: again.time };
  }
  throw failed(witness, 409, "its log changes too fast; try again");
}

/** The note with the witness's signature line in the answer, which must hold. */
function cosigned(text: string, answer: string, witness: Witness): SubmitAnswer {
  const [note, lines] = [readNote(text), readSignatureLines(answer)];
  const both = note && lines && { ...note, signatures: lines };
  const signed = both && signedBy(nodeCrypto, both, witness.key);
  if (signed?.is !== "valid" || signed.time === null) {
    throw failed(witness, 200, "its answer is not signed by its key");
  }
  const others = note?.signatures.filter(({ name }) => name !== witness.key.name) ?? [];
  const lineTexts = [...others.map(({ line }) => line), signed.line];
  return { is: "cosigned", note: `${note?.body}\n${lineTexts.join("")}`, time: signed.time };
}

function sizeOf(note: string): number {
  return readTreeHead(readNote(note)?.body ?? "")?.size ?? 0;
}

async function ask(
  witness: Witness,
  path: string,
  init: RequestInit,
): Promise<{ readonly status: number; readonly text: string }> {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const response = await fetch(`${witness.url}/${path}`, { ...init, redirect: "error", signal });
    const text = new TextDecoder().decode(await shortBody(response, NOTE_CHARS_MAX));
    return { status: response.status, text };
  } catch (cause) {
    const why = (cause as { cause?: { code?: string } }).cause?.code ?? String(cause);
    throw failed(witness, null, why);
  }
}

/** A whole body, which must not be longer. */
export async function shortBody(response: Response, bytesMax: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of response.body ?? []) {
    length += (piece as Uint8Array).length;
    if (length > bytesMax) throw new Error(`the answer has more than ${bytesMax} bytes`);
    pieces.push(piece as Uint8Array);
  }
  return Buffer.concat(pieces);
}

/** What the witness says, in one short line. */
function textOf(status: number, text: string): string {
  const [line = ""] = text.split("\n");
  return `it answered ${status}: ${line.slice(0, 200)}`;
}

function failed({ url }: Witness, status: number | null, why: string): VerbatimError {
  return new VerbatimError("WITNESS_FAILED", `the witness at ${url} did not cosign: ${why}`, {
    url,
    status,
  });
}
