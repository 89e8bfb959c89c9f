/**
 * Disclosure judge: whether a disclosed copy is part of the log that was signed.
 *
 * Pure: bytes come in as chunks, keys and crypto as arguments. Always deep: every signature, segment
 * and tree. What a copy cannot prove is in `NOT_CHECKED`. Format: docs/formats/disclosure.md.
 *
 * - Any byte that is not as its writer would have spelled it is a fault, and ends the judgement.
 * - What is shown counts only once `finish` has returned: the statement is the last line.
 */

import { LF, toHex } from "../bytes.ts";
import { type Checkpoint, type EnvelopeName, readCheckpoint } from "../checkpoint.ts";
import { CLAIM_NEEDLE, claimOf } from "../claims.ts";
import type { ProofCrypto, RunningHash } from "../crypto.ts";
import type { KeyAnswer, Keys } from "../ed25519-keys.ts";
import { envelopeOf, isSessionOf } from "../envelopes.ts";
import { NEWER, refusedKeyText, unconfirmedGenesisText } from "../findings.ts";
import { Judge } from "../judge.ts";
import { withSuccessors } from "../rotations.ts";
import { type Finding, type FindingCode, findingOf, type Verdict, worse } from "../verdict.ts";
import { WholeLines } from "../whole-lines.ts";
import { fillGaps, fillGenesis } from "./filling.ts";
import { Leaves } from "./leaves.ts";
import {
  DisclosedAmounts,
  type DisclosureCounts,
  type DisclosureRecord,
  type Gap,
  type Header,
  PIECE_BYTES,
  RECORD_BYTES_MAX,
  readRecord,
  type Why,
} from "./records.ts";
import type { StatedGenesis } from "./stated-genesis.ts";
import { messageIn, type Statement, type StatementFacts } from "./statement.ts";

/** What no reader of a disclosed copy can check. */
export const NOT_CHECKED = [
  "hash and sig of every checkpoint",
  "sig2 and salt of genesis",
  "prev of checkpoint 1",
] as const;

/** A line of the log, as far as it is disclosed. */
export interface DisclosedLine {
  /** `withheld`: the whole line, or stretch. */
  readonly is: "line" | "genesis" | "checkpoint" | "withheld" | "bytes";
  /** Of a line: with other characters in place of what is withheld. Null: a stated genesis. */
  readonly bytes: Uint8Array | null;
  readonly gaps: readonly Gap[];
  readonly because: Why | null;
}

export interface DisclosureOptions {
  readonly crypto: ProofCrypto;
  readonly keys: Keys;
  readonly pinnedSeqOf: (log: string) => number | null;
  readonly onShown?: (line: DisclosedLine) => void;
}

export interface DisclosureResult {
  readonly judge: Judge;
  readonly header: Header | null;
  readonly counts: DisclosureCounts;
  readonly statement: StatementFacts | null;
  /** The key of the statement. */
  readonly redactor: KeyAnswer | null;
  readonly findings: readonly Finding[];
  /** By the findings; pinned heads are the caller's. */
  readonly verdict: Verdict;
}

type Pending = Extract<DisclosureRecord, { is: "line" | "genesis" | "checkpoint" }>;

const NO_GAPS: readonly Gap[] = [];

export class DisclosureJudge {
  readonly #options: DisclosureOptions;
  readonly #judge: Judge;
  readonly #leaves: Leaves;
  readonly #findings: Finding[] = [];
  readonly #hash: RunningHash;
  readonly #whole: WholeLines;
  readonly #amounts = new DisclosedAmounts();
  #header: Header | null = null;
  #envelope: EnvelopeName = "sidecar";
  /** The record whose line comes next. */
  #pending: Pending | null = null;
  #hasGenesis = false;
  #stated: StatedGenesis | null = null;
  /** Checkpoint 1. */
  #first: Checkpoint | null = null;
  #newest: { readonly checkpoint: Checkpoint; readonly line: string } | null = null;
  /** Nothing came since the newest checkpoint. */
  #isAtHead = false;
  /** Of a log with its checkpoints inside: the newest is said to be the last. */
  #isHead = false;
  /** Bytes of the last piece of a raw stretch; 0: there is none. */
  #pieceBytes = 0;
  #statement: Statement | null = null;
  #redactor: KeyAnswer | null = null;
  /** Bytes before the current line. */
  #at = 0;
  #isOver = false;

  constructor(options: DisclosureOptions) {
    this.#options = options;
    const { crypto, keys, pinnedSeqOf } = options;
    const deep = { session: null, isEverySignature: true, isLegacyProfile: false };
    this.#judge = new Judge({ crypto, keys, pinnedSeqOf, ...deep });
    this.#leaves = new Leaves(crypto);
    this.#hash = crypto.runningSha256();
    const skipped = () => this.#end("TOO_LONG", "a line is too long", "unreadable");
    const long = { bytesMax: RECORD_BYTES_MAX, skipped };
    this.#whole = new WholeLines((lines) => this.#lines(lines), long);
  }

  feed(chunk: Uint8Array): void {
    if (!this.#isOver) this.#whole.feed(chunk);
  }

  /** Call after the last byte. */
  finish(): DisclosureResult {
    if (this.#whole.skippedBytes > 0) this.#end("TOO_LONG", "a line is too long", "unreadable");
    if (!this.#isOver && (this.#statement === null || this.#whole.restBytes > 0)) {
      this.#end("DISCLOSURE_MALFORMED", "the copy does not end with a statement");
    }
    this.#judge.finish();
    const findings = [...this.#findings, ...this.#judge.findings];
    const verdict = findings.reduce<Verdict>(
      (so, each) => (each.verdict === null ? so : worse(so, each.verdict)),
      "verified",
    );
    return {
      judge: this.#judge,
      header: this.#header,
      counts: this.#amounts.counts,
      findings,
      verdict,
      statement: this.#statement?.facts ?? null,
      redactor: this.#redactor,
    };
  }

  #lines(bytes: Uint8Array): undefined {
    let hashed = bytes.length;
    for (let start = 0; start < bytes.length && !this.#isOver; ) {
      const end = bytes.indexOf(LF, start);
      const line = bytes.subarray(start, end);
      if (this.#statement) return this.#end("DISCLOSURE_MALFORMED", "bytes follow the statement");
      const pending = this.#pending;
      this.#pending = null;
      if (pending) {
        this.#logLine(pending, line);
      } else {
        const record = readRecord(line);
        if (record?.is === "statement") {
          hashed = start;
          this.#hash.update(bytes.subarray(0, start));
          this.#take(record.statement, line);
        } else {
          this.#record(record);
        }
      }
      this.#at += end + 1 - start;
      start = end + 1;
    }
    if (hashed === bytes.length) this.#hash.update(bytes);
  }

  #record(record: DisclosureRecord | null): undefined {
    if (record === null) return this.#malformed("a record is not spelled as it must be");
    if (record.is === "newer") {
      return this.#end("NEWER_FORMAT", NEWER(record.version), "unreadable");
    }
    if (record.is === "header") return this.#begin(record.header);
    const header = this.#header;
    if (!header) return this.#malformed("it does not begin as a disclosed copy does");
    if (this.#isHead) return this.#malformed("a record follows the head");
    if (record.is !== "bytes") {
      this.#pieceBytes = 0;
      this.#leaves.endRaw();
    }
    this.#isAtHead = false;
    const isRaw = header.content === "bytes";
    if (record.is === "leaf") return this.#withhold(record.leaf, record.because);
    if (record.is === "stated") return this.#state(record.genesis);
    if (record.is === "bytes") {
      return isRaw ? this.#piece(record.salt, record.data) : this.#malformed(OTHER_CONTENT);
    }
    if (isRaw && record.is !== "checkpoint") return this.#malformed(OTHER_CONTENT);
    this.#pending = record as Pending;
  }

  #begin(header: Header): undefined {
    if (this.#header) return this.#malformed("a second header");
    this.#header = header;
    this.#envelope = envelopeOf(header.dialect);
    const isOpenable = this.#envelope !== "sidecar" && header.parts >= 1 && header.parts <= 64;
    if (header.genesis === "opened" && !isOpenable) {
      this.#malformed("this genesis cannot be opened");
    } else if (header.genesis === "stated" && this.#envelope !== "sidecar") {
      this.#malformed("a genesis in the log is opened or absent, and never stated");
    } else if (header.genesis === "absent") {
      const message = "nothing is said about the beginning of the log";
      this.#findings.push(findingOf("GENESIS_ABSENT", "incomplete", message));
      this.#judge.afterGenesis(null, null, 0);
      this.#leaves.hasSegment = false;
      this.#hasGenesis = true;
    }
  }

  /** The line that follows a record. */
  #logLine(record: Pending, bytes: Uint8Array): undefined {
    if (record.is === "checkpoint") return this.#checkpoint(record.salts, bytes);
    const { gaps, salts } = record;
    if (record.is === "genesis") return this.#open(salts, gaps, bytes);
    const line = gaps.length === 0 ? bytes : fillGaps(bytes, gaps);
    const parts = this.#header?.parts ?? 0;
    if (!line || !this.#leaves.addLine(line, parts, salts, gaps, true)) {
      return this.#malformed("the withheld strings of a line are not strings of it");
    }
    if (this.#claims(line)) return;
    this.#amounts.addLine(gaps);
    this.#options.onShown?.({ is: "line", bytes: line, gaps, because: null });
  }

  /** A line that claims to be a checkpoint is shown as one, or withheld. */
  #claims(line: Uint8Array): boolean {
    if (this.#envelope === "sidecar") return false;
    if (this.#options.crypto.indexOf(line, CLAIM_NEEDLE, 0) === -1) return false;
    if (claimOf(line, this.#envelope) === null) return false;
    this.#end("NOT_A_CHECKPOINT", "an ordinary line claims to be a checkpoint");
    return true;
  }

  #withhold(leaf: Uint8Array, because: Why): undefined {
    this.#leaves.addWithheld(leaf);
    this.#amounts.addWithheld(because);
    this.#options.onShown?.({ is: "withheld", bytes: null, gaps: NO_GAPS, because });
  }

  #piece(salt: Uint8Array | null, data: Uint8Array): undefined {
    const isFirst = this.#pieceBytes === 0;
    const isGood = data.length > 0 && data.length <= PIECE_BYTES && isFirst === (salt !== null);
    if (!isGood || (!isFirst && this.#pieceBytes !== PIECE_BYTES)) {
      return this.#malformed("the pieces of a stretch are not those that they must be");
    }
    this.#pieceBytes = data.length;
    this.#leaves.addRaw(salt, data);
    if (isFirst) this.#amounts.addLine(NO_GAPS);
    this.#options.onShown?.({ is: "bytes", bytes: data, gaps: NO_GAPS, because: null });
  }

  /** Genesis in the log, without its salt, hash and signatures. */
  #open(salts: Uint8Array, gaps: readonly Gap[], bytes: Uint8Array): undefined {
    const line = fillGenesis(bytes, gaps);
    const genesis = line && readCheckpoint(line, this.#envelope);
    const header = this.#header;
    const isGood =
      genesis?.kind === "genesis" &&
      genesis.seq === 0 &&
      /^0{64}$/.test(genesis.prev) &&
      genesis.parts === header?.parts &&
      header.genesis === "opened" &&
      !this.#hasGenesis;
    if (!line || !isGood) return this.#malformed("this is not a genesis without its secrets");
    this.#hasGenesis = true;
    const place = this.#leaves.placeOf(genesis.byteOffset);
    if (place !== genesis.byteOffset) return this.#end("CHECKPOINT_MISPLACED", MISPLACED);
    this.#compare(genesis);
    if (!this.#leaves.addLine(line, genesis.parts, salts, gaps, false)) {
      return this.#malformed("the strings of genesis are not as they must be");
    }
    const end = place + line.length + 1;
    this.#leaves.beginSegment(end);
    this.#judge.afterGenesis(genesis, null, end);
    this.#options.onShown?.({ is: "genesis", bytes: line, gaps, because: null });
  }

  /** Genesis of a sidecar file, at its place. */
  #state(stated: StatedGenesis): undefined {
    const { facts, line } = stated;
    const isGood = this.#header?.genesis === "stated" && facts.parts === this.#header.parts;
    if (!isGood || this.#hasGenesis) {
      return this.#malformed("a genesis is stated where there is none");
    }
    this.#hasGenesis = true;
    this.#stated = stated;
    const place = this.#leaves.placeOf(facts.byteOffset);
    if (place !== facts.byteOffset || facts.tree.size !== this.#leaves.size) {
      return this.#end("CHECKPOINT_MISPLACED", MISPLACED);
    }
    this.#leaves.beginSegment(place);
    this.#judge.afterGenesis(facts, line, place);
    this.#options.onShown?.({ is: "genesis", bytes: null, gaps: NO_GAPS, because: null });
  }

  #checkpoint(salts: Uint8Array, line: Uint8Array): undefined {
    const isInside = this.#envelope !== "sidecar";
    const checkpoint = readCheckpoint(line, this.#envelope);
    if (!checkpoint || (!isInside && salts.length > 0)) {
      return this.#malformed("this is not a checkpoint");
    }
    if (!this.#hasGenesis) return this.#malformed("a checkpoint comes before genesis");
    const { dialect = "", parts = 0 } = this.#header ?? {};
    if (!isSessionOf(dialect, checkpoint.session)) {
      return this.#end("OTHER_SESSION", "a checkpoint is of another dialect than the copy");
    }
    const place = this.#leaves.placeOf(checkpoint.byteOffset);
    this.#compare(checkpoint);
    const end = isInside ? place + line.length + 1 : place;
    const whole = new Uint8Array(line.length + 1);
    whole.set(line);
    whole[line.length] = LF;
    this.#judge.checkpoint(checkpoint, whole, { place, end }, checkpoint.hash);
    // No tree covers the head, so it has no salts, and nothing follows it.
    this.#isHead = isInside && salts.length === 0;
    if (salts.length > 0 && !this.#leaves.addLine(line, parts, salts, NO_GAPS, false)) {
      return this.#malformed("a checkpoint has too few or too many salts");
    }
    this.#leaves.beginSegment(end);
    if (checkpoint.seq === 1) this.#first = checkpoint;
    this.#newest = { checkpoint, line: toHex(this.#options.crypto.sha256(whole)) };
    this.#isAtHead = true;
    this.#options.onShown?.({ is: "checkpoint", bytes: line, gaps: NO_GAPS, because: null });
  }

  #compare({ seq, seg, tree }: Checkpoint): undefined {
    const difference = this.#leaves.compare(seg, tree);
    if (difference === "same") return;
    const code = difference === "seg" ? "SEGMENT_MISMATCH" : "TREE_MISMATCH";
    this.#end(code, `the lines before checkpoint ${seq} are not those that were signed`);
  }

  #take(statement: Statement, line: Uint8Array): undefined {
    this.#statement = statement;
    const { kid, ts } = statement.facts;
    const fault = this.#faultOf(statement.facts);
    if (fault) return this.#end("STATEMENT_MISMATCH", fault);
    const { crypto, keys } = this.#options;
    const successors = withSuccessors(keys, this.#judge.keys, this.#judge.handOvers);
    const key = successors.byKid(kid, ts);
    this.#redactor = key;
    const { publicKey, refusal } = key;
    if (publicKey && !crypto.verifyEd25519(publicKey, messageIn(line), statement.sig)) {
      this.#end("SIGNATURE_FALSE", "the signature of the statement is not valid");
    } else if (refusal) {
      this.#findings.push(findingOf(refusal, "untrusted", refusedKeyText(key, "the statement")));
    }
    this.#confirm(key, kid);
  }

  /** What is stated of genesis counts if checkpoint 1 has its hash, or its key leads to this one. */
  #confirm(key: KeyAnswer, kid: string): undefined {
    if (!this.#stated || this.#first?.genesis !== undefined || this.#judge.isOfFirst(kid)) return;
    this.#judge.from = null;
    const size = this.#first?.tree.size ?? 0;
    if (size === 0) return;
    const message = unconfirmedGenesisText({ ...key, kid }, size);
    this.#findings.push(findingOf("GENESIS_UNCONFIRMED", "incomplete", message));
  }

  /** What the statement says otherwise than the copy. */
  #faultOf({ head, genesis, withheld, bytes, sha256 }: StatementFacts): string | null {
    const newest = this.#newest;
    if (!newest || !this.#isAtHead) return "it does not follow a checkpoint";
    if (this.#isHead !== (this.#envelope !== "sidecar")) return "the head has salts";
    const { log, seq, ts } = newest.checkpoint;
    const isHead = head.log === log && head.seq === seq && head.ts === ts;
    if (!isHead || head.line !== newest.line) return "it names another head";
    if (bytes !== this.#at || sha256 !== this.#hash.hex()) return "it is of other bytes";
    if (JSON.stringify(genesis) !== JSON.stringify(this.#stated)) return "it has another genesis";
    return this.#amounts.areWithheld(withheld) ? null : "its reasons are others";
  }

  #malformed(message: string): undefined {
    this.#end("DISCLOSURE_MALFORMED", message);
  }

  /** A fault: nothing after it is read. */
  #end(code: FindingCode, message: string, verdict: Verdict = "tampered"): undefined {
    this.#isOver = true;
    this.#findings.push({ code, verdict, byteOffset: this.#at, turn: null, message });
  }
}

const OTHER_CONTENT = "the copy is of another content than it says";
const MISPLACED = "genesis is not at the byte at which it was signed";
