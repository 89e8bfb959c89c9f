/**
 * Budget: the size limit of one captured message.
 *
 * BU1  Whatever is held can be appended: it is counted as the bytes of its JSON in a line, escapes
 *      included, and is a plain JSON copy, so that no other code can change it.
 * - A value over the limit is refused before it is held; what is already held stays.
 */

import { type Provider, VerbatimError } from "../../core/base/errors.ts";
import { CAPTURED_BLOCK_BYTES, CAPTURED_DEPTH_MAX } from "../../core/base/limits.ts";
import { badStream } from "./wire.ts";

/** Characters that a line of the log escapes to six, although JSON leaves them bare. */
const ESCAPED = /[\u007f-\u009f\u2028\u2029]/g;

export interface SizedCopy<T> {
  readonly copy: T;
  readonly bytes: number;
}

export class CaptureBudget {
  readonly provider: Provider;
  readonly #bytesMax: number;
  readonly #whole: CaptureBudget | null;
  #bytes = 0;

  constructor(provider: Provider, bytesMax: number, whole: CaptureBudget | null = null) {
    this.provider = provider;
    this.#bytesMax = bytesMax;
    this.#whole = whole;
  }

  /** An account within this budget, for data that may be released again. */
  account(): CaptureBudget {
    return new CaptureBudget(this.provider, this.#bytesMax, this);
  }

  /** Counts bytes that will be held; negative for released ones. */
  spend(bytes: number): void {
    if (this.#bytes + bytes > this.#bytesMax) throw this.#tooLarge();
    this.#whole?.spend(bytes);
    this.#bytes += bytes;
  }

  /** Releases everything counted here. */
  release(): void {
    this.spend(-this.#bytes);
  }

  /** A piece of text, counted. */
  text(piece: unknown): string {
    if (typeof piece !== "string") throw badStream(this.provider, "a piece of text is not text");
    this.spend(lineBytes(JSON.stringify(piece)));
    return piece;
  }

  /** A counted copy of a value that other code may hold, too. */
  copy<T>(value: T): T {
    return this.replace(null, value).copy;
  }

  /** A counted copy of a block, plus what is written around it. */
  block<T>(value: T): T {
    this.spend(CAPTURED_BLOCK_BYTES);
    return this.copy(value);
  }

  /** A counted copy that replaces an earlier one. */
  replace<T>(before: SizedCopy<unknown> | null, value: T): SizedCopy<T> {
    const after = this.#weigh(value);
    this.spend(after.bytes - (before?.bytes ?? 0));
    return after;
  }

  #weigh<T>(value: T): SizedCopy<T> {
    if (isTooDeep(value, CAPTURED_DEPTH_MAX)) throw this.#noJson("it nests too deep");
    let json: string | undefined;
    try {
      json = JSON.stringify(value);
    } catch (cause) {
      throw this.#noJson("it cannot be written as JSON", cause);
    }
    if (json === undefined) throw this.#noJson("it cannot be written as JSON");
    return { copy: JSON.parse(json) as T, bytes: lineBytes(json) };
  }

  #noJson(why: string, cause?: unknown): VerbatimError {
    return badStream(this.provider, `an event has a value that cannot be kept (${why})`, cause);
  }

  #tooLarge(): VerbatimError {
    const max = this.#bytesMax;
    return new VerbatimError(
      "STREAM_TOO_LARGE",
      `the message of ${this.provider} is over ${max} bytes; what came before is kept as partial`,
      { provider: this.provider, what: "message", max },
    );
  }
}

/** The length of a JSON text in a line of the log. */
export function lineBytes(json: string): number {
  return Buffer.byteLength(json) + 5 * (json.match(ESCAPED)?.length ?? 0);
}

/** True as soon as one path is too long, so an object that contains itself ends the walk, too. */
export function isTooDeep(value: unknown, depthLeft: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (depthLeft === 0) return true;
  return Object.values(value).some((held) => isTooDeep(held, depthLeft - 1));
}
