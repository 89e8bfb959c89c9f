/**
 * Room: limits how much of a session becomes a conversation, so that a hostile one, or one that has
 * grown for years, is refused before it fills the memory.
 */

import { VerbatimError } from "../core/base/errors.ts";
import { RESUME_LIMITS } from "../core/base/limits.ts";
import type { AnswerPiece, InputPiece } from "./conversation.ts";

export interface RoomLimits {
  readonly charsMax: number;
  readonly partsMax: number;
}

export class Room {
  readonly #limits: RoomLimits;
  #chars = 0;
  #parts = 0;

  constructor(limits: RoomLimits = RESUME_LIMITS) {
    this.#limits = limits;
  }

  /** Refuses with RESUME_TOO_LARGE. */
  takeParts(count: number, line: number): void {
    this.#parts += count;
    const { partsMax } = this.#limits;
    if (this.#parts > partsMax) throw tooLarge(line, "parts", partsMax);
  }

  /** Refuses with RESUME_TOO_LARGE. */
  takeChars(count: number, line: number): void {
    this.#chars += count;
    const { charsMax } = this.#limits;
    if (this.#chars > charsMax) throw tooLarge(line, "characters", charsMax);
  }
}

/** The characters that a piece adds to a request, approximately. */
export function charsOf(piece: InputPiece | Exclude<AnswerPiece, { type: "call" }>): number {
  switch (piece.type) {
    case "text":
      return piece.text.length;
    case "image":
      return piece.image.kind === "url" ? piece.image.url.length : piece.image.base64.length;
    case "reasoning": {
      const { text, signature, withheld } = piece;
      return text.length + (signature?.length ?? 0) + (withheld?.length ?? 0);
    }
    case "compaction":
      return JSON.stringify(piece.block).length;
    case "details":
      return JSON.stringify(piece.details).length;
  }
}

function tooLarge(
  line: number,
  what: "characters" | "parts",
  max: number,
): VerbatimError<"RESUME_TOO_LARGE"> {
  return new VerbatimError(
    "RESUME_TOO_LARGE",
    `with line ${line} the conversation has more than ${max} ${what}, which no provider accepts; ` +
      "resume it up to an earlier turn (upTo, --up-to)",
    { line, what, max },
  );
}
