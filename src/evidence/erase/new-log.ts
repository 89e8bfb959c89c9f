/**
 * New log: the old lines without their checkpoints, without what was found, and signed again.
 *
 * - Unchanged lines are copied byte for byte. Only a parent id that named a checkpoint of the old
 *   log names the line before that checkpoint instead.
 * - What a signer had found unsigned stays stated as found: signing it silently would launder it.
 * - Checkpoints are where a signer puts them: genesis, after each turn, at the end.
 */

import { basename } from "node:path";
import { writeAll } from "../../core/base/file-steps.ts";
import type { OpenFile } from "../../core/base/files.ts";
import { encodeLine } from "../../core/log/json.ts";
import type { Native, NewEntry } from "../../core/model/entry.ts";
import { Turns } from "../../core/model/turns.ts";
import type { Dialect } from "../../dialects/dialect.ts";
import type { WriterFacts } from "../../dialects/facets/writing.ts";
import { readExactly } from "../../trust/judge/inspect.ts";
import type { Signer } from "../../trust/keys/keys.ts";
import { LF } from "../../trust/proof/bytes.ts";
import type { FoundRange, SignedHead } from "../../trust/proof/checkpoint.ts";
import { CLAIM_NEEDLE, claimOf, isObject, parseLine } from "../../trust/proof/claims.ts";
import type { ProofCrypto } from "../../trust/proof/crypto.ts";
import { envelopeOf, hasSidecar } from "../../trust/proof/envelopes.ts";
import { WholeLines } from "../../trust/proof/whole-lines.ts";
import { addDue, type Due, turnAt, UNSIGNED_BYTES_MAX } from "../../trust/signer/dues.ts";
import { LogSigner } from "../../trust/signer/log-signer.ts";
import { nothingSigned, type SignerHead } from "../../trust/signer/signer-state.ts";
import type { Finder } from "../redact/hits.ts";
import {
  cannotErase,
  type ErasedLine,
  type ErasingLine,
  entryLines,
  eraseIn,
} from "./erased-line.ts";

const OLDER = "it has checkpoints of the older format";
const PLAIN = "write a masked copy with --plain, then delete the session";
const LF_BYTES = Buffer.of(LF);

export interface NewLogParts {
  readonly dialect: Dialect;
  readonly id: string;
  readonly path: string;
  readonly crypto: ProofCrypto;
  readonly signer: Signer;
  readonly salt: Uint8Array;
  /** The head of the old log. */
  readonly from: SignedHead;
  /** Ranges of the old log that a signer found and no person vouched for. */
  readonly found: readonly FoundRange[];
  /** The revision that the old log's newest checkpoint states. */
  readonly rev: number;
  readonly finder: Finder;
  readonly facts: WriterFacts;
  readonly log: OpenFile;
  /** Null if checkpoints are in the log. */
  readonly sidecar: OpenFile | null;
}

/** How many lines lost what. */
export type ErasedCounts = Readonly<Record<ErasedLine["what"], number>>;

export class NewLog {
  readonly #parts: NewLogParts;
  readonly #signer: LogSigner;
  readonly #erasing: ErasingLine;
  readonly #turns = new Turns();
  readonly #isSidecar: boolean;
  /** Checkpoints of the old log by id, with the id of the line before. */
  readonly #parents = new Map<string, string | null>();
  readonly #spills = new Set<string>();
  /** The range that the last line was in. */
  #range: FoundRange | null = null;
  #number = 0;
  #previous: string | null = null;
  #lastNative: Native | null = null;
  readonly counts = { text: 0, string: 0, line: 0 };

  constructor(parts: NewLogParts) {
    this.#parts = parts;
    const { dialect, finder, facts, path, crypto, signer, salt, from } = parts;
    this.#isSidecar = hasSidecar(dialect.name);
    this.#erasing = { dialect, finder, facts, path };
    const so = nothingSigned(crypto, salt, this.#isSidecar);
    const nowIso = () => new Date(facts.nowMs).toISOString();
    this.#signer = LogSigner.from(so, { crypto, signer, isSidecar: this.#isSidecar, nowIso, from });
  }

  /** Files that its lines refer to. */
  get spills(): ReadonlySet<string> {
    return this.#spills;
  }

  /** Copies the lines of the old log, and adds the report as the last one. */
  async copy(old: OpenFile, report: (counts: ErasedCounts) => NewEntry): Promise<SignerHead> {
    const pending: { readonly line: Uint8Array; readonly start: number }[] = [];
    let at = 0;
    const whole = new WholeLines((bytes) => {
      for (let start = 0; start < bytes.length; ) {
        const end = bytes.indexOf(LF, start);
        pending.push({ line: bytes.slice(start, end), start: at + start });
        start = end + 1;
      }
      at += bytes.length;
    });
    if (this.#isSidecar) await this.#checkpoint("batch");
    for await (const chunk of readExactly(old, 0, old.size(), this.#parts.path)) {
      whole.feed(chunk);
      for (const { line, start } of pending.splice(0)) await this.#oldLine(line, start);
    }
    await this.#enter(null);
    const { dialect, facts } = this.#parts;
    for (const native of entryLines(dialect, report(this.counts), facts)) {
      const linked = dialect.writing?.chain?.link(native, this.#previous) ?? native;
      await this.#add(encodeLine(linked), linked);
    }
    await this.#checkpoint(this.#turns.state.phase === "over" ? "final" : "batch");
    return this.#signer.head as SignerHead;
  }

  async #oldLine(line: Uint8Array, start: number): Promise<void> {
    const { dialect, found, finder } = this.#parts;
    this.#number++;
    if (!this.#isSidecar && this.#isCheckpoint(line)) return;
    await this.#enter(found.find(([from, to]) => from <= start && start < to) ?? null);
    const hits = finder(line, this.#number);
    let own = line;
    if (hits.length > 0) {
      const erased = eraseIn(line, hits, this.#number, this.#erasing);
      this.counts[erased.what]++;
      own = erased.line;
    }
    own = this.#relinked(own);
    const value = parseLine(own);
    const native = isObject(value) ? value : null;
    const logName = basename(this.#parts.path);
    for (const { name } of dialect.writing?.spilling?.referencesOf(value, logName) ?? [])
      this.#spills.add(name);
    const mark = native && dialect.turns.turnMark(native, this.#parts.id);
    if (this.#turns.beginsWith(mark)) await this.#sign("turn");
    await this.#add(own, native);
  }

  /** Whether a line is a checkpoint of the old log, in whichever format; remembers its parent. */
  #isCheckpoint(line: Uint8Array): boolean {
    const bytes = Buffer.from(line.buffer, line.byteOffset, line.length);
    if (!bytes.includes(Buffer.from(CLAIM_NEEDLE))) return false;
    const claim = claimOf(line, envelopeOf(this.#parts.dialect.name));
    if (claim === null) return false;
    if (claim.is !== "checkpoint") throw cannotErase(this.#parts.path, OLDER, PLAIN);
    const value = parseLine(line);
    const { chain } = this.#parts.dialect.writing ?? {};
    const id = chain?.idOf(value) ?? null;
    if (chain && id !== null && isObject(value)) {
      const parent = value[chain.parentField];
      this.#parents.set(id, this.#beyond(typeof parent === "string" ? parent : null));
    }
    return true;
  }

  /** The line before the checkpoint of this id; the id itself if it is not a checkpoint's. */
  #beyond(id: string | null): string | null {
    return id !== null && this.#parents.has(id) ? (this.#parents.get(id) ?? null) : id;
  }

  #relinked(line: Uint8Array): Uint8Array {
    const { chain } = this.#parts.dialect.writing ?? {};
    if (!chain || this.#parents.size === 0) return line;
    const bytes = Buffer.from(line.buffer, line.byteOffset, line.length);
    const opening = `"${chain.parentField}":"`;
    const at = bytes.indexOf(opening);
    const from = at + Buffer.byteLength(opening);
    const end = at === -1 ? -1 : bytes.indexOf('"', from);
    if (end === -1) return line;
    const id = bytes.toString("utf8", from, end);
    if (!this.#parents.has(id)) return line;
    const parent = JSON.stringify(this.#beyond(id));
    const [before, after] = [bytes.subarray(0, from - 1), bytes.subarray(end + 1)];
    return Buffer.concat([before, Buffer.from(parent), after]);
  }

  /** A range of found lines begins or ends here: it gets a checkpoint of its own. */
  async #enter(range: FoundRange | null): Promise<void> {
    if (range === this.#range) return;
    if (this.#range) {
      this.#signer.stateFound(this.#signer.bytes - this.#signer.unsignedBytes, this.#signer.bytes);
      await this.#checkpoint("recovery");
    } else {
      await this.#sign("batch");
    }
    this.#range = range;
  }

  async #add(line: Uint8Array, native: Native | null): Promise<void> {
    const { dialect, log, id } = this.#parts;
    const chunk = Buffer.concat([line, LF_BYTES]);
    writeAll(log, chunk);
    this.#signer.addOthersLines(chunk);
    this.#turns.note(native && dialect.turns.turnMark(native, id));
    this.#previous = dialect.writing?.chain?.idOf(native) ?? this.#previous;
    this.#lastNative = native ?? this.#lastNative;
    const { isBeginning, unsignedBytes } = this.#signer;
    if (isBeginning || unsignedBytes >= UNSIGNED_BYTES_MAX) await this.#sign("batch");
  }

  /** Unless lines were found here: those are stated where their range ends. */
  async #sign(due: "turn" | "batch"): Promise<void> {
    if (this.#range === null && this.#signer.unsignedBytes > 0) await this.#checkpoint(due);
  }

  async #checkpoint(due: Due): Promise<void> {
    const { dialect, facts, rev, log, sidecar } = this.#parts;
    const after = { previous: this.#previous, native: this.#lastNative };
    const { text, id } = dialect.turns.opening(facts, after);
    const when = { turn: turnAt(due, this.#turns, []), rev };
    const line = await addDue(this.#signer, due, text, when);
    writeAll(sidecar ?? log, line);
    if (id !== null) this.#previous = id;
  }
}
