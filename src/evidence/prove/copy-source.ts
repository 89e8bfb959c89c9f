/** Copy source: the lines and checkpoints of a disclosed copy that was verified, for a proof. */

import { LF } from "../../trust/proof/bytes.ts";
import { type EnvelopeName, readCheckpoint } from "../../trust/proof/checkpoint.ts";
import type { ProofCrypto, RunningHash } from "../../trust/proof/crypto.ts";
import { fillGaps, fillGenesis } from "../../trust/proof/disclosure/filling.ts";
import { disclosedLeaf } from "../../trust/proof/disclosure/leaves.ts";
import {
  type DisclosureRecord,
  type Header,
  readRecord,
} from "../../trust/proof/disclosure/records.ts";
import type { StatedGenesis } from "../../trust/proof/disclosure/stated-genesis.ts";
import { envelopeOf } from "../../trust/proof/envelopes.ts";
import type { ProofHeader } from "../../trust/proof/inclusion/records.ts";
import { LeafLayout } from "../../trust/proof/leaf.ts";
import type { Range } from "../../trust/proof/merkle.ts";
import { WholeLines } from "../../trust/proof/whole-lines.ts";
import type { ProofLine, ProofSource, SourceCheckpoint, SourceLeaf } from "./assemble.ts";
import { NodeTable } from "./leaf-index.ts";

const NO_HEADER: Header = { dialect: "", content: "lines", parts: 0, genesis: "absent" };

/** Feed it all bytes of the copy. Holds a hash per line, the checkpoints, and the lines asked for. */
export class CopyProofSource implements ProofSource {
  readonly path: string;
  readonly rotations: number[] = [];
  readonly vouches: number[] = [];
  readonly #isAsked: (index: number) => boolean;
  readonly #layout: LeafLayout;
  readonly #nodes: NodeTable;
  readonly #whole: WholeLines;
  readonly #leaves: Uint8Array[] = [];
  readonly #shown = new Map<number, SourceLeaf>();
  readonly #checkpoints = new Map<number, SourceCheckpoint>();
  #header = NO_HEADER;
  #genesis: Awaited<ReturnType<ProofSource["genesis"]>> = null;
  #genesisSize: number | null = null;
  #pending: DisclosureRecord | null = null;
  /** The stretch of a raw stream that is being read. */
  #raw: { salt: Uint8Array; pieces: Uint8Array[]; hash: RunningHash } | null = null;

  /** `isAsked`: whether the line at this index may be asked for. */
  constructor(crypto: ProofCrypto, path: string, isAsked: (index: number) => boolean) {
    this.path = path;
    this.#isAsked = isAsked;
    this.#layout = new LeafLayout(crypto);
    this.#nodes = new NodeTable(crypto, 1);
    this.#whole = new WholeLines((bytes) => this.#lines(bytes));
  }

  feed(chunk: Uint8Array): void {
    this.#whole.feed(chunk);
  }

  get header(): ProofHeader {
    const { dialect, content, parts } = this.#header;
    return { dialect, content, parts };
  }

  get leaves(): number {
    return this.#leaves.length;
  }

  get headSeq(): number {
    return Math.max(0, ...this.#checkpoints.keys());
  }

  sizeOf(seq: number): number | null {
    if (seq === 0) return this.#genesisSize;
    return this.#checkpoints.get(seq)?.checkpoint.tree.size ?? null;
  }

  async checkpoint(seq: number): Promise<SourceCheckpoint> {
    const found = this.#checkpoints.get(seq);
    if (!found) throw new Error(`no checkpoint ${seq}`); // The judge found every one.
    return found;
  }

  async genesis(): ReturnType<ProofSource["genesis"]> {
    return this.#genesis;
  }

  async leaf(index: number): Promise<SourceLeaf> {
    return this.#shown.get(index) ?? { is: "checkpoint" };
  }

  root([from, to]: Range): Promise<Uint8Array> {
    return this.#nodes.root(from, to, async (first, last) => this.#leaves.slice(first, last));
  }

  get #envelope(): EnvelopeName {
    return envelopeOf(this.#header.dialect);
  }

  #lines(bytes: Uint8Array): void {
    for (let start = 0; start < bytes.length; ) {
      const end = bytes.indexOf(LF, start);
      const line = bytes.slice(start, end);
      const pending = this.#pending;
      this.#pending = null;
      if (pending) this.#logLine(pending, line);
      else this.#record(readRecord(line));
      start = end + 1;
    }
  }

  #record(record: DisclosureRecord | null): undefined {
    if (record?.is !== "bytes" || record.salt) this.#endRaw();
    switch (record?.is) {
      case "header":
        this.#header = record.header;
        return;
      case "leaf":
        return this.#push(record.leaf, { is: "withheld" });
      case "stated":
        return this.#state(record.genesis);
      case "bytes":
        return this.#piece(record.salt, record.data);
      case "line":
      case "genesis":
      case "checkpoint":
        this.#pending = record;
    }
  }

  #logLine(record: DisclosureRecord, line: Uint8Array): undefined {
    if (record.is === "checkpoint") return this.#checkpoint(record.salts, line);
    if (record.is !== "line" && record.is !== "genesis") return;
    const { salts, gaps } = record;
    const isGenesis = record.is === "genesis";
    const whole = isGenesis ? fillGenesis(line, gaps) : fillGaps(line, gaps);
    const leaf = whole && disclosedLeaf(this.#layout, whole, this.#header.parts, salts, gaps);
    if (!whole || !leaf) return;
    const shown: ProofLine = { is: "line", salts, gaps, rest: line };
    if (!isGenesis) return this.#push(leaf, shown);
    const genesis = readCheckpoint(whole, this.#envelope);
    if (genesis?.kind !== "genesis") return;
    this.#genesisSize = genesis.tree.size;
    this.#genesis = { ...shown, found: genesis.vouched ? null : genesis.found };
    this.#push(leaf, { is: "checkpoint" });
  }

  #state(genesis: StatedGenesis): undefined {
    this.#genesis = genesis;
    this.#genesisSize = genesis.facts.tree.size;
  }

  #checkpoint(salts: Uint8Array, line: Uint8Array): undefined {
    const checkpoint = readCheckpoint(line, this.#envelope);
    if (!checkpoint) return;
    const { seq } = checkpoint;
    this.#checkpoints.set(seq, { checkpoint, line: Buffer.concat([line, Buffer.of(LF)]) });
    if (checkpoint.kind === "rotate") this.rotations.push(seq);
    if (checkpoint.kind === "recovery" && checkpoint.vouched) this.vouches.push(seq);
    const leaf =
      salts.length > 0 ? disclosedLeaf(this.#layout, line, this.#header.parts, salts, []) : null;
    if (leaf) this.#push(leaf, { is: "checkpoint" });
  }

  #piece(salt: Uint8Array | null, data: Uint8Array): undefined {
    if (salt) this.#raw = { salt, pieces: [], hash: this.#layout.rawLeaf(salt) };
    this.#raw?.hash.update(data);
    if (this.#isAsked(this.#leaves.length)) this.#raw?.pieces.push(data);
  }

  #endRaw(): undefined {
    const raw = this.#raw;
    this.#raw = null;
    if (!raw) return;
    const data = Buffer.concat(raw.pieces);
    this.#push(raw.hash.digest(), { is: "bytes", salt: raw.salt, data });
  }

  #push(leaf: Uint8Array, shown: SourceLeaf): undefined {
    const index = this.#leaves.push(leaf) - 1;
    this.#nodes.push(leaf);
    if (this.#isAsked(index)) this.#shown.set(index, shown);
  }
}
