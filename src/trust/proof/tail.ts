/**
 * Tail: judges the lines after the last checkpoint of a signed log.
 *
 * A crash leaves whole lines, a torn one, or NULs there: `incomplete`. Anything that our writers
 * cannot have left is `tampered`, because readers disagree on it or mistake it.
 *
 * Every line is examined whole, JSON escapes included: no signature covers it.
 */

import { LF } from "./bytes.ts";
import type { EnvelopeName } from "./checkpoint.ts";
import { claimOf, isObject, parseLine } from "./claims.ts";
import type { FindingCode } from "./verdict.ts";
import { WholeLines } from "./whole-lines.ts";

const NUL = 0;
const TAB = 0x09;
const SPACE = 0x20;

export interface TailOptions {
  readonly envelope: EnvelopeName;
  /** The field that names the session, and the id it must have; null: lines name none. */
  readonly session: { readonly key: string; readonly id: string } | null;
  /** Offset of the tail in the log. */
  readonly start: number;
  /** Lines are data posted to a stream: they may have tabs, and claim anything. */
  readonly isData: boolean;
  /**
   * Lines are from before anything was signed in this format: older checkpoints may be among them.
   */
  readonly admitsLegacy?: boolean;
  /** Whether the line at an offset is a void checkpoint, which may be among them. */
  readonly isVoid?: (at: number) => boolean;
}

export interface TailFault {
  readonly code: FindingCode;
  readonly byteOffset: number;
  readonly message: string;
}

export class TailJudge {
  readonly #options: TailOptions;
  readonly #whole = new WholeLines((lines) => this.#lines(lines));
  #end: number;
  lines = 0;
  /** Bytes that are in no whole line, and whether there is a NUL, there or in a line. */
  tornBytes = 0;
  hasNul = false;
  /** Number of lines of each type. */
  readonly types = new Map<string, number>();
  /** The first fault that no crash explains. */
  fault: TailFault | null = null;

  constructor(options: TailOptions) {
    this.#options = options;
    this.#end = options.start;
  }

  /** End of the last whole line. */
  get end(): number {
    return this.#end;
  }

  /** Bytes after it. */
  get restBytes(): number {
    return this.#whole.restBytes;
  }

  feed(chunk: Uint8Array): void {
    this.#whole.feed(chunk);
  }

  /** Call after the last byte. */
  finish(): void {
    this.tornBytes = this.#whole.restBytes;
    if (this.tornBytes > 0) this.#controls(this.#whole.rest);
  }

  #lines(bytes: Uint8Array): void {
    for (let start = 0; start < bytes.length; ) {
      const end = bytes.indexOf(LF, start);
      this.#line(bytes.subarray(start, end));
      this.#end += end + 1 - start;
      start = end + 1;
    }
  }

  #line(line: Uint8Array): void {
    this.lines++;
    if (this.#controls(line)) return; // No writer writes a line with NUL.
    if (!isUtf8(line)) {
      this.#say("TAIL_NOT_UTF8", "an unsigned line is not UTF-8");
      return;
    }
    if (this.#options.isData) return;
    if (this.#options.isVoid?.(this.#end)) return;
    const claim = claimOf(line, this.#options.envelope);
    if (claim && !(claim.is === "legacy" && this.#options.admitsLegacy)) {
      this.#say("NOT_A_CHECKPOINT", "an unsigned line claims to be a checkpoint");
    }
    const value = parseLine(line);
    if (!isObject(value)) return;
    if (Object.hasOwn(value, "type") && Object.hasOwn(value, "event_type")) {
      this.#say("TAIL_TWO_TYPES", "an unsigned line carries both type and event_type");
    }
    const { session } = this.#options;
    if (session && typeof value[session.key] === "string" && value[session.key] !== session.id) {
      this.#say("OTHER_SESSION", "an unsigned line is of another session");
    }
    const type = value.event_type ?? value.type;
    if (typeof type === "string") this.types.set(type, (this.types.get(type) ?? 0) + 1);
  }

  /** Whether there are NULs; any other control byte is a fault. */
  #controls(bytes: Uint8Array): boolean {
    let hasNul = false;
    for (const byte of bytes) {
      if (byte >= SPACE) continue;
      if (byte === NUL) hasNul = true;
      else if (byte !== TAB || !this.#options.isData) {
        this.#say("TAIL_CONTROL_BYTE", `an unsigned line holds the control byte ${byte}`);
      }
    }
    this.hasNul ||= hasNul;
    return hasNul;
  }

  #say(code: FindingCode, message: string): void {
    this.fault ??= { code, byteOffset: this.#end, message };
  }
}

const decoder = new TextDecoder("utf-8", { fatal: true });

function isUtf8(bytes: Uint8Array): boolean {
  try {
    decoder.decode(bytes);
    return true;
  } catch {
    return false;
  }
}
