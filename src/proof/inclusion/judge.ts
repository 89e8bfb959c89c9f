/**
 * Proof judge: whether the lines of a proof are part of the log that was signed.
 *
 * Pure and total: bytes, keys and crypto come in as arguments, and any bytes lead to a verdict. A
 * proof is read whole, up to PROOF_BYTES_MAX. Format: docs/formats/proof.md.
 *
 * - A line counts only at its index, under the first checkpoint that covers it: the checkpoint before
 *   that is in the proof, and covers less.
 * - Every signature is checked whose key is known. A checkpoint on which a line relies needs a key
 *   that is trusted.
 */

import { fromHex, LF, toHex } from "../bytes.ts";
import {
  type Checkpoint,
  type DisclosedGenesis,
  readCheckpoint,
  turnBefore,
} from "../checkpoint.ts";
import { CLAIM_NEEDLE, claimOf } from "../claims.ts";
import type { ProofCrypto } from "../crypto.ts";
import { fillGaps, fillGenesis } from "../disclosure/filling.ts";
import { shownLeaf } from "../disclosure/leaves.ts";
import type { Gap } from "../disclosure/records.ts";
import type { KeyAnswer, Keys } from "../ed25519-keys.ts";
import { envelopeOf, hasTurns } from "../envelopes.ts";
import { NEWER, refused } from "../findings.ts";
import { LeafLayout } from "../leaf.ts";
import { isConsistent, isIncluded } from "../merkle.ts";
import { Rotations, withSuccessors } from "../rotations.ts";
import { type Finding, type FindingCode, findingOf, type Verdict, worse } from "../verdict.ts";
import {
  announcesLine,
  PROOF_BYTES_MAX,
  type ProofHeader,
  type ProofRecord,
  readProofRecord,
} from "./records.ts";
import { statedMessageIn } from "./stated.ts";

export interface ProofJudgeOptions {
  readonly crypto: ProofCrypto;
  readonly keys: Keys;
}

/** A line that is proven, or a stretch of a raw stream. */
export interface ProvenLine {
  /** Counted from 0. */
  readonly index: number;
  /** The prover's word. */
  readonly entry: number | null;
  /** Of a session: the turn that it is in. */
  readonly turn: number | null;
  /** The first checkpoint that covers it, and when that was signed, as its signer says. */
  readonly seq: number;
  readonly ts: string;
  /** With `x` in place of what is withheld. */
  readonly bytes: Uint8Array;
  readonly gaps: readonly Gap[];
}

export interface ProofJudgement {
  readonly header: ProofHeader | null;
  readonly session: string | null;
  readonly log: string | null;
  readonly genesis: "opened" | "stated" | null;
  /** The lines' hashes of the checkpoints, by number. That of genesis is known from its successor. */
  readonly checkpoints: ReadonlyMap<number, string>;
  /** The last checkpoint on which something relies. */
  readonly newest: Pick<Checkpoint, "seq" | "turn" | "ts"> | null;
  readonly lines: readonly ProvenLine[];
  /** Checkpoints whose trees are the beginning of the other's. */
  readonly consistent: readonly (readonly [number, number])[];
  readonly keys: readonly KeyAnswer[];
  /** Who states genesis. */
  readonly prover: KeyAnswer | null;
  readonly findings: readonly Finding[];
  /** By the findings; pinned heads are the caller's. */
  readonly verdict: Verdict;
}

export function judgeProof(bytes: Uint8Array, options: ProofJudgeOptions): ProofJudgement {
  const judge = new ProofJudge(options);
  try {
    judge.read(bytes);
    judge.relate();
  } catch (fault) {
    if (!(fault instanceof Fault)) throw fault;
    judge.findings.push(fault.finding);
  }
  return judge.judgement();
}

/** Ends the judgement. */
class Fault extends Error {
  readonly finding: Finding;

  constructor(code: FindingCode, message: string, at: number | null, verdict: Verdict) {
    super(message);
    this.finding = { code, verdict, byteOffset: at, turn: null, message };
  }
}

/** A checkpoint that covers lines: a signed one, or genesis without its secrets. */
type Covering = Checkpoint | DisclosedGenesis;
type Opened = Checkpoint & DisclosedGenesis;
type Shown = Extract<ProofRecord, { is: "line" | "bytes" }>;

interface Signed {
  readonly checkpoint: Checkpoint;
  readonly line: string;
  readonly key: KeyAnswer;
}

/** The order of the records. */
const ORDER = ["header", "genesis", "checkpoint", "line", "consistency", "end"];
const rankOf = ({ is }: ProofRecord) =>
  ORDER.indexOf(is === "stated" ? "genesis" : is === "bytes" ? "line" : is);

class ProofJudge {
  readonly findings: Finding[] = [];
  readonly #options: ProofJudgeOptions;
  readonly #layout: LeafLayout;
  readonly #rotations: Rotations;
  #header: ProofHeader | null = null;
  #opened: {
    readonly facts: Opened;
    readonly leaf: Uint8Array;
    readonly record: ProofRecord & { is: "genesis" };
  } | null = null;
  #stated: (ProofRecord & { is: "stated" }) | null = null;
  #statedLine: Uint8Array = new Uint8Array(0);
  readonly #signed = new Map<number, Signed>();
  #last: Signed | null = null;
  readonly #shown: {
    readonly record: Shown;
    readonly leaf: Uint8Array;
    readonly bytes: Uint8Array;
  }[] = [];
  readonly #consistent: (readonly [number, number])[] = [];
  readonly #lines: ProvenLine[] = [];
  /** Checkpoints that something relies on, and those that only come before one. */
  readonly #relied = new Set<number>();
  readonly #needed = new Set<number>();
  #prover: KeyAnswer | null = null;
  /** Where the record begins that is judged. */
  #at: number | null = 0;

  constructor(options: ProofJudgeOptions) {
    this.#options = options;
    this.#layout = new LeafLayout(options.crypto);
    this.#rotations = new Rotations(options.crypto, options.keys);
  }

  judgement(): ProofJudgement {
    const { findings } = this;
    const relied = [...this.#relied].sort((one, other) => one - other);
    const newest = this.#signed.get(relied.at(-1) ?? -1)?.checkpoint;
    const checkpoints = new Map([...this.#signed].map(([seq, { line }]) => [seq, line]));
    const first = this.#signed.get(1);
    if (first) checkpoints.set(0, first.checkpoint.prev);
    const verdict = findings.reduce<Verdict>(
      (so, each) => (each.verdict === null ? so : worse(so, each.verdict)),
      "verified",
    );
    const isWhole = verdict !== "tampered" && verdict !== "unreadable";
    return {
      ...{ header: this.#header, checkpoints, findings, verdict, prover: this.#prover },
      session: this.#last?.checkpoint.session ?? null,
      log: this.#last?.checkpoint.log ?? null,
      genesis: this.#opened ? "opened" : this.#stated ? "stated" : null,
      newest: newest ? { seq: newest.seq, turn: newest.turn, ts: newest.ts } : null,
      lines: isWhole ? this.#lines : [],
      consistent: isWhole ? this.#consistent : [],
      keys: [...new Map([...this.#signed.values()].map(({ key }) => [key.kid, key])).values()],
    };
  }

  /** Reads all records, in order. */
  read(bytes: Uint8Array): void {
    if (bytes.length > PROOF_BYTES_MAX)
      this.#fault("TOO_LONG", "the file is too long", "unreadable");
    let [rank, isOver] = [-1, false];
    for (let start = 0; start < bytes.length; ) {
      this.#at = start;
      if (isOver) this.#malformed("bytes follow the end");
      const line = this.#lineAt(bytes, start);
      const record = readProofRecord(line);
      if (!record) this.#malformed("a record is not spelled as it must be");
      if (record.is === "newer") this.#fault("NEWER_FORMAT", NEWER(record.version), "unreadable");
      const own = rankOf(record);
      if (own < rank || (own === rank && own < 2)) this.#malformed("a record is not in its place");
      if (rank === -1 && own !== 0) this.#malformed("it does not begin as a proof does");
      rank = own;
      let end = start + line.length + 1;
      let shown: Uint8Array = line;
      if (announcesLine(record)) {
        shown = this.#lineAt(bytes, end);
        end += shown.length + 1;
      }
      if (record.is === "end") this.#end(record, bytes.subarray(0, start));
      isOver = record.is === "end";
      this.#take(record, shown);
      start = end;
    }
    this.#at = bytes.length;
    if (!isOver) this.#malformed("the proof does not end as it must");
  }

  /** Puts the records together: what proves what. */
  relate(): void {
    this.#at = null;
    if (this.#shown.length + this.#consistent.length === 0) this.#malformed("it proves nothing");
    this.#beginning();
    for (const each of this.#shown) this.#prove(each);
    for (const [from, to] of this.#consistent)
      for (const seq of [from, to]) this.#relied.add(seq || 1);
    for (const [seq, { checkpoint }] of this.#signed) {
      const isNeeded = this.#relied.has(seq) || this.#needed.has(seq);
      if (!isNeeded && checkpoint.kind !== "rotate")
        this.#malformed(`nothing needs checkpoint ${seq}`);
    }
    for (const seq of this.#relied) {
      const key = this.#signed.get(seq)?.key;
      if (!key?.refusal || this.findings.some(({ code }) => code === key.refusal)) continue;
      this.findings.push(findingOf(key.refusal, "untrusted", refused(key, `checkpoint ${seq}`)));
    }
  }

  #lineAt(bytes: Uint8Array, start: number): Uint8Array {
    const end = bytes.indexOf(LF, start);
    if (end === -1) this.#malformed("its last line does not end");
    return bytes.subarray(start, end);
  }

  #take(record: ProofRecord, line: Uint8Array): undefined {
    if (record.is === "header") this.#header = record.header;
    else if (record.is === "genesis") this.#open(record, line);
    else if (record.is === "stated") [this.#stated, this.#statedLine] = [record, line];
    else if (record.is === "checkpoint") this.#checkpoint(record.seq, line);
    else if (record.is === "line" || record.is === "bytes") this.#show(record, line);
    else if (record.is === "consistency") this.#compare(record);
  }

  get #envelope() {
    return envelopeOf(this.#header?.dialect ?? "");
  }

  /** A damaged file is noticed even where nothing signed is damaged. */
  #end({ bytes, sha256 }: { bytes: number; sha256: string }, before: Uint8Array): undefined {
    if (bytes === before.length && sha256 === toHex(this.#options.crypto.sha256(before))) return;
    this.#malformed("its checksum is of other bytes");
  }

  #open(record: ProofRecord & { is: "genesis" }, bytes: Uint8Array): undefined {
    const parts = this.#header?.parts ?? 0;
    const line = fillGenesis(bytes, record.gaps);
    const facts = line && readCheckpoint(line, this.#envelope);
    const leaf = line && shownLeaf(this.#layout, line, parts, record.salts, record.gaps);
    const isGood =
      this.#envelope !== "sidecar" &&
      facts?.kind === "genesis" &&
      facts.seq === 0 &&
      /^0{64}$/.test(facts.prev) &&
      facts.parts === parts;
    if (!isGood || !leaf) return this.#malformed("this is not a genesis without its secrets");
    this.#opened = { facts: facts as Opened, leaf, record };
  }

  #checkpoint(seq: number, line: Uint8Array): undefined {
    const { crypto } = this.#options;
    const checkpoint = readCheckpoint(line, this.#envelope);
    if (checkpoint?.seq !== seq || checkpoint.kind === "genesis") {
      return this.#malformed("this is not the checkpoint that it should be");
    }
    this.#follows(checkpoint);
    this.#rotations.comes(checkpoint);
    const key = this.#rotations.keyOf(checkpoint);
    const { publicKey, refusal, fp } = key;
    const { statement, sig2 } = checkpoint;
    if (publicKey && (fp !== checkpoint.fp || !crypto.verifyEd25519(publicKey, statement, sig2))) {
      this.#fault("SIGNATURE_FALSE", `the signature of checkpoint ${seq} is not valid`);
    }
    if (publicKey && !refusal) this.#rotations.holds(checkpoint);
    const whole = new Uint8Array(line.length + 1);
    whole.set(line);
    whole[line.length] = LF;
    this.#last = { checkpoint, line: toHex(crypto.sha256(whole)), key };
    this.#signed.set(seq, this.#last);
  }

  /** Whether a checkpoint can come after the one before it in the proof. */
  #follows({ seq, session, log, prev, byteOffset, tree }: Checkpoint): undefined {
    const { dialect = "" } = this.#header ?? {};
    const isInside = this.#envelope !== "sidecar";
    const before = this.#last?.checkpoint;
    const genesis = this.#opened?.facts;
    const other = `checkpoint ${seq} is of another session`;
    if (!isInside && !session.startsWith(`${dialect}:`)) this.#fault("OTHER_SESSION", other);
    const named = (before ?? genesis)?.session ?? session;
    if (session !== named) this.#fault("OTHER_SESSION", other);
    const known = before ?? genesis ?? this.#stated?.genesis.facts;
    if (known && known.log !== log) this.#fault("OTHER_LOG", `checkpoint ${seq} is of another log`);
    const last = before ?? genesis;
    if (!last) return;
    const isNext = before !== undefined && seq === before.seq + 1;
    const grows = tree.size - last.tree.size - (isInside ? 1 : 0);
    const isAfter = seq > last.seq && byteOffset >= last.byteOffset && grows >= 0;
    if (!isAfter || (isNext && prev !== this.#last?.line)) {
      this.#fault("CHAIN_BROKEN", `checkpoint ${seq} does not follow the one before it`);
    }
  }

  #show(record: Shown, line: Uint8Array): undefined {
    const { content, parts = 0 } = this.#header ?? {};
    if ((content === "bytes") !== (record.is === "bytes"))
      this.#malformed("it is of another content");
    const before = this.#shown.at(-1)?.record;
    if (before && before.index >= record.index) this.#malformed("the lines are not in order");
    if (record.is === "bytes") {
      const hash = this.#layout.rawLeaf(record.salt);
      hash.update(record.data);
      this.#shown.push({ record, leaf: hash.digest(), bytes: record.data });
      return;
    }
    const whole = record.gaps.length === 0 ? line : fillGaps(line, record.gaps);
    const leaf = whole && shownLeaf(this.#layout, whole, parts, record.salts, record.gaps);
    if (!leaf) return this.#malformed("the withheld strings of a line are not strings of it");
    if (this.#isClaim(whole)) {
      this.#fault("NOT_A_CHECKPOINT", "an ordinary line claims to be a checkpoint");
    }
    this.#shown.push({ record, leaf, bytes: whole });
  }

  #isClaim(line: Uint8Array): boolean {
    if (this.#envelope === "sidecar") return false;
    if (this.#options.crypto.indexOf(line, CLAIM_NEEDLE, 0) === -1) return false;
    return claimOf(line, this.#envelope) !== null;
  }

  #compare({ from, to, path }: ProofRecord & { is: "consistency" }): undefined {
    const [first, second] = [this.#treeOf(from), this.#treeOf(to)];
    if (!first || !second || from >= to) this.#malformed("a checkpoint to compare is missing");
    const [one, other] = [first.tree, second.tree];
    const trees = { size1: one.size, root1: fromHex(one.root), size2: other.size };
    if (
      !isConsistent(this.#options.crypto, { ...trees, root2: fromHex(other.root), proof: path })
    ) {
      this.#fault(
        "TREE_MISMATCH",
        `the log of checkpoint ${to} does not begin with that of ${from}`,
      );
    }
    if (this.#consistent.some((each) => each[0] === from && each[1] === to)) {
      this.#malformed("a comparison is there twice");
    }
    this.#consistent.push([from, to]);
  }

  #treeOf(seq: number): Covering | undefined {
    return seq === 0 ? this.#opened?.facts : this.#signed.get(seq)?.checkpoint;
  }

  /** Whether what is said of genesis fits checkpoint 1. */
  #beginning(): undefined {
    const first = this.#signed.get(1)?.checkpoint;
    if ((this.#opened || this.#stated) && !first) this.#malformed("checkpoint 1 is missing");
    if (this.#opened && first) {
      const { facts, leaf, record } = this.#opened;
      const place = {
        index: facts.tree.size,
        size: first.tree.size,
        root: fromHex(first.tree.root),
      };
      if (!isIncluded(this.#options.crypto, { leaf, ...place, proof: record.path })) {
        this.#fault("TREE_MISMATCH", "checkpoint 1 does not cover this genesis");
      }
      this.#relied.add(1);
    }
    if (!this.#stated || !first) return;
    const { facts, line, leaf } = this.#stated.genesis;
    const isInside = this.#envelope !== "sidecar";
    const isGood =
      facts.parts === this.#header?.parts &&
      first.prev === line &&
      facts.tree.size + (isInside ? 1 : 0) <= first.tree.size &&
      facts.byteOffset <= first.byteOffset &&
      isInside === (leaf !== null);
    if (!isGood)
      this.#fault("CHAIN_BROKEN", "checkpoint 1 does not follow the genesis that is stated");
    this.#judgeStating(this.#stated);
  }

  #judgeStating({ stating }: ProofRecord & { is: "stated" }): undefined {
    const { crypto, keys } = this.#options;
    const used = [...this.#signed.values()].map(({ key }) => key);
    const key = withSuccessors(keys, used, this.#rotations.handOvers).byKid(
      stating.kid,
      stating.ts,
    );
    this.#prover = key;
    const message = statedMessageIn(this.#statedLine);
    if (key.publicKey && !crypto.verifyEd25519(key.publicKey, message, stating.sig)) {
      this.#fault("SIGNATURE_FALSE", "the signature of the stated genesis is not valid");
    } else if (key.refusal) {
      const who = "the statement about genesis";
      this.findings.push(findingOf(key.refusal, "untrusted", refused(key, who)));
    }
  }

  /** Proves a line under the first checkpoint that covers it. */
  #prove({
    record,
    leaf,
    bytes,
  }: {
    record: Shown;
    leaf: Uint8Array;
    bytes: Uint8Array;
  }): undefined {
    const { index, entry, path } = record;
    const covering = this.#coveringOf(index);
    const signed = covering.is === "stated" ? this.#signed.get(1)?.checkpoint : covering.by;
    if (!signed) return this.#malformed("checkpoint 1 is missing");
    const { tree } = signed;
    const claim = { leaf, index, size: tree.size, root: fromHex(tree.root), proof: path };
    if (!isIncluded(this.#options.crypto, claim)) {
      this.#fault("TREE_MISMATCH", `line ${index + 1} is not what checkpoint ${signed.seq} covers`);
    }
    const { by } = covering;
    this.#relied.add(Math.max(1, by.seq));
    this.#judgeFound(by, signed.seq, index);
    const turn = hasTurns(this.#header?.dialect ?? "") ? turnBefore(by) : null;
    const gaps = record.is === "line" ? record.gaps : [];
    this.#lines.push({ index, entry, turn, seq: by.seq, ts: by.ts, bytes, gaps });
  }

  /** The first checkpoint that covers a line, with the one before it in the proof. */
  #coveringOf(index: number): { readonly is: "shown" | "stated"; readonly by: Covering } {
    const isInside = this.#envelope !== "sidecar";
    const opened = this.#opened?.facts;
    if (opened && opened.tree.size > index) return { is: "shown", by: opened };
    const by = [...this.#signed.values()].find(({ checkpoint }) => checkpoint.tree.size > index);
    if (!by) return this.#malformed(`no checkpoint covers line ${index + 1}`);
    const { checkpoint } = by;
    const stated = this.#stated?.genesis.facts;
    if (checkpoint.seq === 1 && !opened && !stated) {
      if (!this.findings.some(({ code }) => code === "GENESIS_ABSENT")) {
        const message = "nothing is said about the beginning of the log";
        this.findings.push(findingOf("GENESIS_ABSENT", "incomplete", message));
      }
      return { is: "shown", by: checkpoint };
    }
    if (checkpoint.seq === 1 && stated && stated.tree.size > index)
      return { is: "stated", by: stated };
    const before =
      checkpoint.seq === 1 ? (opened ?? stated) : this.#signed.get(checkpoint.seq - 1)?.checkpoint;
    if (!before) return this.#malformed(`the checkpoint before ${checkpoint.seq} is missing`);
    // In a log, that checkpoint is itself the line at the end of its tree.
    if (before.tree.size + (isInside ? 1 : 0) > index) {
      return this.#malformed(`line ${index + 1} is a checkpoint`);
    }
    this.#needed.add(before.seq);
    return { is: "shown", by: checkpoint };
  }

  /** Lines that a signer found unsigned count once a later checkpoint vouches for the same bytes. */
  #judgeFound(by: Covering, provenBy: number, index: number): undefined {
    if (by.kind !== "genesis" && by.kind !== "recovery") return;
    const { found, vouched } = by;
    if (!found || vouched) return;
    const [from, to] = found;
    for (const { checkpoint, key } of this.#signed.values()) {
      const isVouch =
        checkpoint.kind === "recovery" &&
        checkpoint.vouched &&
        checkpoint.found?.[0] === from &&
        checkpoint.found[1] === to &&
        checkpoint.seq > by.seq;
      const isSame =
        checkpoint.seq === provenBy ||
        this.#consistent.some((each) => each[0] === provenBy && each[1] === checkpoint.seq);
      if (!isVouch || !isSame) continue;
      this.#relied.add(checkpoint.seq);
      if (key.refusal === null) return;
    }
    const message = `line ${index + 1} is among bytes that were found unsigned, and no checkpoint vouches for them`;
    const code = "FOUND_UNSIGNED";
    if (this.findings.some((each) => each.code === code)) return;
    this.findings.push({ code, verdict: "incomplete", byteOffset: null, turn: by.turn, message });
  }

  #malformed(message: string): never {
    return this.#fault("PROOF_MALFORMED", message);
  }

  #fault(code: FindingCode, message: string, verdict: Verdict = "tampered"): never {
    throw new Fault(code, message, this.#at, verdict);
  }
}
