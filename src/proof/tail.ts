/**
 * Tail: what stands after the last checkpoint of a signed log, line by line.
 *
 * A crash leaves whole lines, a torn one, or NULs there: `incomplete`. What no writer of ours can
 * have left is `tampered`, because readers disagree on it or take it for what it is not.
 *
 * T1  Every line is looked at whole, JSON escapes included: nothing here is under a signature.
 */

import { LF } from "./bytes.ts";
import type { EnvelopeName } from "./checkpoint.ts";
import { claimOf, isObject, parsed } from "./claims.ts";
import type { FindingCode } from "./verdict.ts";
import { WholeLines } from "./whole-lines.ts";

const NUL = 0;
const TAB = 0x09;
const SPACE = 0x20;

export interface TailOptions {
  readonly envelope: EnvelopeName;
  /** The key of a line that names its session, and whom it must name; null: lines name none. */
  readonly session: { readonly key: string; readonly id: string } | null;
  /** Where the tail begins in the log. */
  readonly start: number;
  /** Lines are what somebody posted to a stream: they may hold tabs, and claim what they like. */
  readonly isData: boolean;
  /** Lines are found before anything of this format is signed: older checkpoints may be among them. */
  readonly admitsLegacy?: boolean;
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
  /** Bytes that are in no whole line, and whether any are NUL, there or in a line. */
  tornBytes = 0;
  hasNul = false;
  /** How many lines of each type, as far as they say one. */
  readonly types = new Map<string, number>();
  /** The first thing that no crash explains. */
  fault: TailFault | null = null;

  constructor(options: TailOptions) {
    this.#options = options;
    this.#end = options.start;
  }

  /** Where the last whole line ends. */
  get end(): number {
    return this.#end;
  }

  /** How many bytes stand after it. */
  get restBytes(): number {
    return this.#whole.restBytes;
  }

  feed(chunk: Uint8Array): void {
    this.#whole.feed(chunk);
  }

  /** After the last byte. */
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
    if (this.#controls(line)) return; // A line that holds NUL is no line of anybody's.
    if (!isUtf8(line)) {
      this.#say("TAIL_NOT_UTF8", "an unsigned line is not UTF-8");
      return;
    }
    if (this.#options.isData) return;
    const claim = claimOf(line, this.#options.envelope);
    if (claim && !(claim.is === "legacy" && this.#options.admitsLegacy)) {
      this.#say("NOT_A_CHECKPOINT", "an unsigned line claims to be a checkpoint");
    }
    const value = parsed(line);
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
