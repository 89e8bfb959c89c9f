/**
 * Proof content: the records of a proof, read and checked one by one. `judge.ts` puts them together.
 */

import { fromHex, LF, toHex } from "../bytes.ts";
import {
  type Checkpoint,
  type DisclosedGenesis,
  type EnvelopeName,
  readCheckpoint,
} from "../checkpoint.ts";
import { CLAIM_NEEDLE, claimOf } from "../claims.ts";
import type { ProofCrypto } from "../crypto.ts";
import { fillGaps, fillGenesis } from "../disclosure/filling.ts";
import { disclosedLeaf } from "../disclosure/leaves.ts";
import type { KeyAnswer, Keys } from "../ed25519-keys.ts";
import { envelopeOf, isSessionOf } from "../envelopes.ts";
import { NEWER } from "../findings.ts";
import { LeafLayout } from "../leaf.ts";
import { isConsistent } from "../merkle.ts";
import { Rotations } from "../rotations.ts";
import type { Finding, FindingCode, Verdict } from "../verdict.ts";
import {
  announcesLine,
  PROOF_BYTES_MAX,
  type ProofHeader,
  type ProofRecord,
  readProofRecord,
} from "./records.ts";

export interface ProofJudgeOptions {
  readonly crypto: ProofCrypto;
  readonly keys: Keys;
}

/** Ends the judgement. */
export class ProofFault extends Error {
  readonly finding: Finding;

  constructor(code: FindingCode, message: string, at: number | null, verdict: Verdict) {
    super(message);
    this.finding = { code, verdict, byteOffset: at, turn: null, message };
  }
}

/** A checkpoint that covers lines: a signed one, or genesis without its secrets. */
export type CoveringCheckpoint = Checkpoint | DisclosedGenesis;
export type OpenedGenesis = Checkpoint & DisclosedGenesis;
export type ContentRecord = Extract<ProofRecord, { is: "line" | "bytes" }>;

export interface SignedCheckpointLine {
  readonly checkpoint: Checkpoint;
  readonly line: string;
  readonly key: KeyAnswer;
}

/** The order of the records. */
const ORDER = ["header", "genesis", "checkpoint", "line", "consistency", "end"];
const rankOf = ({ is }: ProofRecord) =>
  ORDER.indexOf(is === "stated" ? "genesis" : is === "bytes" ? "line" : is);

/** A line that a record shows. */
export interface ShownLeaf {
  readonly record: ContentRecord;
  readonly leaf: Uint8Array;
  readonly bytes: Uint8Array;
}

export class ProofContent {
  header: ProofHeader | null = null;
  opened: {
    readonly facts: OpenedGenesis;
    readonly leaf: Uint8Array;
    readonly record: ProofRecord & { is: "genesis" };
  } | null = null;
  stated: { readonly record: ProofRecord & { is: "stated" }; readonly line: Uint8Array } | null =
    null;
  /** By number, ascending. */
  readonly signed = new Map<number, SignedCheckpointLine>();
  last: SignedCheckpointLine | null = null;
  readonly shown: ShownLeaf[] = [];
  readonly consistent: (readonly [number, number])[] = [];
  readonly rotations: Rotations;
  readonly #crypto: ProofCrypto;
  readonly #layout: LeafLayout;
  /** Where the record begins that is read; null once all are. */
  #at: number | null = 0;

  constructor({ crypto, keys }: ProofJudgeOptions) {
    this.#crypto = crypto;
    this.#layout = new LeafLayout(crypto);
    this.rotations = new Rotations(crypto, keys);
  }

  /** Reads all records, in order. */
  read(bytes: Uint8Array): void {
    if (bytes.length > PROOF_BYTES_MAX)
      this.fault("TOO_LONG", "the file is too long", "unreadable");
    let [rank, isOver] = [-1, false];
    for (let start = 0; start < bytes.length; ) {
      this.#at = start;
      if (isOver) this.malformed("bytes follow the end");
      const line = this.#lineAt(bytes, start);
      const record = readProofRecord(line);
      if (!record) this.malformed("a record is not spelled as it must be");
      if (record.is === "newer") this.fault("NEWER_FORMAT", NEWER(record.version), "unreadable");
      const own = rankOf(record);
      if (own < rank || (own === rank && own < 2)) this.malformed("a record is not in its place");
      if (rank === -1 && own !== 0) this.malformed("it does not begin as a proof does");
      rank = own;
      let end = start + line.length + 1;
      let content: Uint8Array = line;
      if (announcesLine(record)) {
        content = this.#lineAt(bytes, end);
        end += content.length + 1;
      }
      if (record.is === "end") this.#end(record, bytes.subarray(0, start));
      isOver = record.is === "end";
      this.#take(record, content);
      start = end;
    }
    this.#at = bytes.length;
    if (!isOver) this.malformed("the proof does not end as it must");
    this.#at = null;
  }

  #lineAt(bytes: Uint8Array, start: number): Uint8Array {
    const end = bytes.indexOf(LF, start);
    if (end === -1) this.malformed("its last line does not end");
    return bytes.subarray(start, end);
  }

  #take(record: ProofRecord, line: Uint8Array): undefined {
    if (record.is === "header") this.header = record.header;
    else if (record.is === "genesis") this.#open(record, line);
    else if (record.is === "stated") this.#state(record, line);
    else if (record.is === "checkpoint") this.#checkpoint(record.seq, line);
    else if (record.is === "line" || record.is === "bytes") this.#show(record, line);
    else if (record.is === "consistency") this.#compare(record);
  }

  get envelope(): EnvelopeName {
    return envelopeOf(this.header?.dialect ?? "");
  }

  /** A damaged file is noticed even where nothing signed is damaged. */
  #end({ bytes, sha256 }: { bytes: number; sha256: string }, before: Uint8Array): undefined {
    if (bytes === before.length && sha256 === toHex(this.#crypto.sha256(before))) return;
    this.malformed("its checksum is of other bytes");
  }

  #open(record: ProofRecord & { is: "genesis" }, bytes: Uint8Array): undefined {
    const parts = this.header?.parts ?? 0;
    const line = fillGenesis(bytes, record.gaps);
    const facts = line && readCheckpoint(line, this.envelope);
    const leaf = line && disclosedLeaf(this.#layout, line, parts, record.salts, record.gaps);
    const isGood =
      this.envelope !== "sidecar" &&
      facts?.kind === "genesis" &&
      facts.seq === 0 &&
      /^0{64}$/.test(facts.prev) &&
      facts.parts === parts;
    if (!isGood || !leaf) return this.malformed("this is not a genesis without its secrets");
    this.opened = { facts: facts as OpenedGenesis, leaf, record };
  }

  #state(record: ProofRecord & { is: "stated" }, line: Uint8Array): undefined {
    if (this.envelope !== "sidecar") {
      return this.malformed("a genesis in the log is opened or absent, and never stated");
    }
    this.stated = { record, line };
  }

  #checkpoint(seq: number, line: Uint8Array): undefined {
    const crypto = this.#crypto;
    const checkpoint = readCheckpoint(line, this.envelope);
    if (checkpoint?.seq !== seq || checkpoint.kind === "genesis") {
      return this.malformed("this is not the checkpoint that it should be");
    }
    this.#follows(checkpoint);
    this.rotations.comes(checkpoint);
    const key = this.rotations.keyOf(checkpoint);
    const { publicKey, refusal, fp } = key;
    const { statement, sig2 } = checkpoint;
    if (publicKey && (fp !== checkpoint.fp || !crypto.verifyEd25519(publicKey, statement, sig2))) {
      this.fault("SIGNATURE_FALSE", `the signature of checkpoint ${seq} is not valid`);
    }
    if (publicKey && !refusal) this.rotations.holds(checkpoint);
    const whole = new Uint8Array(line.length + 1);
    whole.set(line);
    whole[line.length] = LF;
    this.last = { checkpoint, line: toHex(crypto.sha256(whole)), key };
    this.signed.set(seq, this.last);
  }

  /** Whether a checkpoint can come after the one before it in the proof. */
  #follows({ seq, session, log, prev, byteOffset, tree }: Checkpoint): undefined {
    const { dialect = "" } = this.header ?? {};
    const isInside = this.envelope !== "sidecar";
    const before = this.last?.checkpoint;
    const genesis = this.opened?.facts;
    const other = `checkpoint ${seq} is of another session`;
    if (!isSessionOf(dialect, session)) this.fault("OTHER_SESSION", other);
    const sessionName = (before ?? genesis)?.session ?? session;
    if (session !== sessionName) this.fault("OTHER_SESSION", other);
    const facts = before ?? genesis ?? this.stated?.record.genesis.facts;
    if (facts && facts.log !== log) this.fault("OTHER_LOG", `checkpoint ${seq} is of another log`);
    const last = before ?? genesis;
    if (!last) return;
    const isNext = before !== undefined && seq === before.seq + 1;
    const grows = tree.size - last.tree.size - (isInside ? 1 : 0);
    const isAfter = seq > last.seq && byteOffset >= last.byteOffset && grows >= 0;
    if (!isAfter || (isNext && prev !== this.last?.line)) {
      this.fault("CHAIN_BROKEN", `checkpoint ${seq} does not follow the one before it`);
    }
  }

  #show(record: ContentRecord, line: Uint8Array): undefined {
    const { content, parts = 0 } = this.header ?? {};
    if ((content === "bytes") !== (record.is === "bytes"))
      this.malformed("it is of another content");
    const before = this.shown.at(-1)?.record;
    if (before && before.index >= record.index) this.malformed("the lines are not in order");
    if (record.is === "bytes") {
      const hash = this.#layout.rawLeaf(record.salt);
      hash.update(record.data);
      this.shown.push({ record, leaf: hash.digest(), bytes: record.data });
      return;
    }
    const whole = record.gaps.length === 0 ? line : fillGaps(line, record.gaps);
    const leaf = whole && disclosedLeaf(this.#layout, whole, parts, record.salts, record.gaps);
    if (!leaf) return this.malformed("the withheld strings of a line are not strings of it");
    if (this.#isClaim(whole)) {
      this.fault("NOT_A_CHECKPOINT", "an ordinary line claims to be a checkpoint");
    }
    this.shown.push({ record, leaf, bytes: whole });
  }

  #isClaim(line: Uint8Array): boolean {
    if (this.envelope === "sidecar") return false;
    if (this.#crypto.indexOf(line, CLAIM_NEEDLE, 0) === -1) return false;
    return claimOf(line, this.envelope) !== null;
  }

  #compare({ from, to, path }: ProofRecord & { is: "consistency" }): undefined {
    const [first, second] = [this.treeOf(from), this.treeOf(to)];
    if (!first || !second || from >= to) this.malformed("a checkpoint to compare is missing");
    const [one, other] = [first.tree, second.tree];
    const trees = { size1: one.size, root1: fromHex(one.root), size2: other.size };
    if (!isConsistent(this.#crypto, { ...trees, root2: fromHex(other.root), proof: path })) {
      this.fault(
        "TREE_MISMATCH",
        `the log of checkpoint ${to} does not begin with that of ${from}`,
      );
    }
    if (this.consistent.some((each) => each[0] === from && each[1] === to)) {
      this.malformed("a comparison is there twice");
    }
    this.consistent.push([from, to]);
  }

  treeOf(seq: number): CoveringCheckpoint | undefined {
    return seq === 0 ? this.opened?.facts : this.signed.get(seq)?.checkpoint;
  }

  malformed(message: string): never {
    return this.fault("PROOF_MALFORMED", message);
  }

  fault(code: FindingCode, message: string, verdict: Verdict = "tampered"): never {
    throw new ProofFault(code, message, this.#at, verdict);
  }
}
