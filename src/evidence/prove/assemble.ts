/**
 * Assemble: the bytes of a proof, from a log or a disclosed copy. Format: docs/formats/proof.md.
 *
 * - Only salts of what is shown are in a proof, and never the log's own.
 * - Nothing here is trusted: the caller judges the proof before it writes it.
 */

import { VerbatimError } from "../../core/base/errors.ts";
import type { Signer } from "../../trust/keys/keys.ts";
import { concat, toHex, utf8 } from "../../trust/proof/bytes.ts";
import type { Checkpoint } from "../../trust/proof/checkpoint.ts";
import type { ProofCrypto } from "../../trust/proof/crypto.ts";
import type { Gap } from "../../trust/proof/disclosure/records.ts";
import type { StatedGenesis } from "../../trust/proof/disclosure/stated-genesis.ts";
import {
  PROOF_BYTES_MAX,
  type ProofHeader,
  type ProofRecord,
  spellProofRecord,
  statedMessage,
} from "../../trust/proof/inclusion/records.ts";
import { consistencyRanges, inclusionRanges, type Range } from "../../trust/proof/merkle.ts";

/** A line as far as it can be shown. */
export interface ProofLine {
  readonly is: "line";
  readonly salts: Uint8Array;
  readonly gaps: readonly Gap[];
  /** Without the contents of its gaps. */
  readonly rest: Uint8Array;
}

export type SourceLeaf =
  | ProofLine
  | { readonly is: "bytes"; readonly salt: Uint8Array; readonly data: Uint8Array }
  | { readonly is: "checkpoint" | "withheld" };

export interface SourceCheckpoint {
  readonly checkpoint: Checkpoint;
  /** LF included. */
  readonly line: Uint8Array;
}

/** A signed log, or as much of it as is disclosed. */
export interface ProofSource {
  readonly path: string;
  readonly header: ProofHeader;
  readonly leaves: number;
  /** The newest checkpoint. */
  readonly headSeq: number;
  /** Checkpoints of interest: their numbers. */
  readonly rotations: readonly number[];
  readonly vouches: readonly number[];
  /** The size of a checkpoint's tree; of genesis too, unless nothing is known of it. */
  sizeOf(seq: number): number | null;
  checkpoint(seq: number): Promise<SourceCheckpoint>;
  genesis(): Promise<(ProofLine & { readonly found: UnsignedRange }) | StatedGenesis | null>;
  leaf(index: number): Promise<SourceLeaf>;
  root(range: Range): Promise<Uint8Array>;
}

type UnsignedRange = readonly [number, number] | null;

/** What to prove. */
export interface ProofRequest {
  /** Numbers of lines, from 1. */
  readonly entries: readonly number[];
  /** Lines before and after each. */
  readonly context: number;
  /** Two checkpoints to compare. */
  readonly consistency: readonly [number, number] | null;
}

export interface AssembleOptions {
  readonly crypto: ProofCrypto;
  /** Signs what is stated about genesis; null: nothing is stated. */
  readonly signer: Signer | null;
  readonly nowMs: () => number;
}

export async function assembleProof(
  source: ProofSource,
  asked: ProofRequest,
  options: AssembleOptions,
): Promise<Uint8Array> {
  return new Assembling(source, options).proof(asked);
}

class Assembling {
  readonly #source: ProofSource;
  readonly #options: AssembleOptions;
  readonly #seqs = new Set<number>();
  readonly #pairs = new Map<string, readonly [number, number]>();
  /** Genesis is needed, and with it the checkpoint that covers it. */
  #hasBeginning = false;
  #genesis: Awaited<ReturnType<ProofSource["genesis"]>> = null;

  constructor(source: ProofSource, options: AssembleOptions) {
    this.#source = source;
    this.#options = options;
  }

  async proof(asked: ProofRequest): Promise<Uint8Array> {
    const { header } = this.#source;
    this.#genesis = await this.#source.genesis();
    const lines = await this.#lines(asked);
    if (asked.consistency) this.#comparison(...asked.consistency);
    if (this.#hasBeginning) await this.#addRotationsToSigner();
    const newest = Math.max(...this.#seqs);
    for (const seq of this.#source.rotations) if (seq < newest) this.#seqs.add(seq);
    const records: Uint8Array[] = [spelled({ is: "header", header })];
    if (this.#hasBeginning) records.push(...(await this.#beginning()));
    for (const seq of [...this.#seqs].sort((one, other) => one - other)) {
      if (seq === 0) continue;
      const { line } = await this.#source.checkpoint(seq);
      records.push(spelled({ is: "checkpoint", seq }), line);
    }
    records.push(...lines);
    for (const [from, to] of this.#pairs.values()) {
      const [size1, size2] = [this.#sizeOf(from), this.#sizeOf(to)];
      const path = await this.#roots(consistencyRanges(size1, size2));
      records.push(spelled({ is: "consistency", from, to, path }));
    }
    const bytes = concat(...records);
    const sha256 = toHex(this.#options.crypto.sha256(bytes));
    const proof = concat(bytes, spelled({ is: "end", bytes: bytes.length, sha256 }));
    if (proof.length > PROOF_BYTES_MAX) {
      throw this.#cannot(`it would have more than ${PROOF_BYTES_MAX} bytes; ask for fewer lines`);
    }
    return proof;
  }

  async #lines({ entries, context }: ProofRequest): Promise<Uint8Array[]> {
    const { leaves, headSeq } = this.#source;
    const covered = Math.min(leaves, this.#sizeOf(headSeq));
    const numbers = new Map<number, number | null>();
    for (const entry of entries) {
      if (entry > covered) {
        throw this.#cannot(`line ${entry} is not signed: the signed part has ${covered} lines`);
      }
      for (let index = entry - 1 - context; index < entry + context; index++) {
        if (index >= 0 && index < covered && !numbers.get(index)) numbers.set(index, null);
      }
      numbers.set(entry - 1, entry);
    }
    const records: Uint8Array[] = [];
    for (const [index, entry] of [...numbers].sort(([one], [other]) => one - other)) {
      const leaf = await this.#source.leaf(index);
      if (leaf.is === "line" || leaf.is === "bytes") {
        records.push(...(await this.#line(leaf, index, entry)));
      } else if (entry !== null) {
        const why = leaf.is === "withheld" ? "is withheld here" : "is a checkpoint; name another";
        throw this.#cannot(`line ${entry} ${why}`);
      }
    }
    return records;
  }

  async #line(
    leaf: Exclude<SourceLeaf, { is: "checkpoint" | "withheld" }>,
    index: number,
    entry: number | null,
  ): Promise<Uint8Array[]> {
    const seq = this.#coveringOf(index);
    // Genesis, if it is not opened, has no root that a reader can check.
    const provenBy = seq === 0 && !this.#isOpened ? 1 : seq;
    for (const needed of [seq, seq - 1, provenBy]) if (needed >= 0) this.#seqs.add(needed);
    if (seq <= 1) this.#begins();
    await this.#addVouch(seq, provenBy);
    const path = await this.#roots(inclusionRanges(index, this.#sizeOf(provenBy)));
    if (leaf.is === "bytes") return [spelled({ ...leaf, index, entry, path })];
    const { salts, gaps, rest } = leaf;
    return [spelled({ is: "line", salts, gaps, index, entry, path }), concat(rest, LF_BYTES)];
  }

  #begins(): void {
    this.#hasBeginning = true;
    this.#seqs.add(1);
  }

  /** The first checkpoint whose tree has this leaf. */
  #coveringOf(index: number): number {
    let [low, high] = [this.#source.sizeOf(0) === null ? 1 : 0, this.#source.headSeq];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (this.#sizeOf(middle) > index) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** If the lines under a checkpoint were found unsigned: the later one that vouches for them. */
  async #addVouch(seq: number, provenBy: number): Promise<void> {
    const found = await this.#foundBy(seq);
    if (!found) return;
    for (const later of this.#source.vouches) {
      if (later <= seq) continue;
      const { checkpoint } = await this.#source.checkpoint(later);
      const range = checkpoint.kind === "recovery" ? checkpoint.found : null;
      if (range?.[0] !== found[0] || range[1] !== found[1]) continue;
      this.#seqs.add(later);
      if (later > provenBy) this.#pairs.set(`${provenBy} ${later}`, [provenBy, later]);
      return;
    }
  }

  async #foundBy(seq: number): Promise<UnsignedRange> {
    const genesis = this.#genesis;
    if (seq === 0) {
      if (!genesis) return null;
      if ("is" in genesis) return genesis.found;
      return genesis.facts.vouched ? null : genesis.facts.found;
    }
    const { checkpoint } = await this.#source.checkpoint(seq);
    return checkpoint.kind === "recovery" && !checkpoint.vouched ? checkpoint.found : null;
  }

  #comparison(from: number, to: number): void {
    const first = this.#isOpened ? 0 : 1;
    if (from < first || from >= to || to > this.#source.headSeq) {
      const range = `${first} to ${this.#source.headSeq}`;
      throw this.#cannot(`checkpoints ${from} and ${to} cannot be compared; it has ${range}`);
    }
    if (from === 0) this.#begins();
    this.#seqs.add(from).add(to);
    this.#pairs.set(`${from} ${to}`, [from, to]);
  }

  get #isOpened(): boolean {
    return this.#genesis !== null && "is" in this.#genesis;
  }

  async #beginning(): Promise<Uint8Array[]> {
    const genesis = this.#genesis;
    if (!genesis) return [];
    if ("is" in genesis) {
      const { salts, gaps, rest } = genesis;
      const path = await this.#roots(inclusionRanges(this.#sizeOf(0), this.#sizeOf(1)));
      return [spelled({ is: "genesis", salts, gaps, path }), concat(rest, LF_BYTES)];
    }
    const { signer, nowMs } = this.#options;
    if (!signer) return [];
    const said = { ts: new Date(nowMs()).toISOString(), kid: signer.kid };
    const sig = await signer.sign(statedMessage(genesis, said));
    return [spelled({ is: "stated", genesis, stating: { ...said, sig } })];
  }

  /**
   * What is stated of genesis counts if checkpoint 1 has its hash. Otherwise its signer must be the key
   * of checkpoint 1, or one that these rotations lead to.
   */
  async #addRotationsToSigner(): Promise<void> {
    const { signer } = this.#options;
    const { checkpoint: first } = await this.#source.checkpoint(1);
    if (!signer || this.#isOpened || !this.#genesis || first.genesis !== undefined) return;
    const path: number[] = [];
    let { kid } = first;
    for (const seq of this.#source.rotations) {
      const { checkpoint } = await this.#source.checkpoint(seq);
      if (kid === signer.kid) break;
      if (checkpoint.kind !== "rotate" || checkpoint.kid !== kid) continue;
      path.push(seq);
      kid = checkpoint.next;
    }
    if (kid === signer.kid) for (const seq of path) this.#seqs.add(seq);
  }

  async #roots(ranges: readonly Range[]): Promise<Uint8Array[]> {
    const roots: Uint8Array[] = [];
    for (const range of ranges) roots.push(await this.#source.root(range));
    return roots;
  }

  #sizeOf(seq: number): number {
    return this.#source.sizeOf(seq) ?? 0;
  }

  #cannot(reason: string): VerbatimError {
    const { path } = this.#source;
    return new VerbatimError("CANNOT_PROVE", `${path} has no such proof: ${reason}`, {
      path,
      reason,
    });
  }
}

const LF_BYTES = utf8("\n");

function spelled(record: ProofRecord): Uint8Array {
  return utf8(`${spellProofRecord(record)}\n`);
}
