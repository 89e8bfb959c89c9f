/**
 * Log source: the lines and checkpoints of a log for a proof, found by its leaf index. Reads only
 * what the proof needs.
 *
 * What an index says is checked as it is used: a place outside the file, or bytes that are not a
 * checkpoint, is StaleIndex. All else shows when the proof is judged.
 */

import { openIfThere } from "../../core/base/file-steps.ts";
import type { OpenFile } from "../../core/base/files.ts";
import type { Host } from "../../core/base/host.ts";
import { readStretch } from "../../core/log/bytes.ts";
import { type LogPath, openLogPath, openToRead } from "../../core/log/log-path.ts";
import { fromHex, LF, toHex } from "../../trust/proof/bytes.ts";
import { type Checkpoint, readCheckpoint } from "../../trust/proof/checkpoint.ts";
import { claimOf } from "../../trust/proof/claims.ts";
import type { ProofCrypto } from "../../trust/proof/crypto.ts";
import { isSecret } from "../../trust/proof/disclosure/filling.ts";
import { envelopeOf, hasSidecar } from "../../trust/proof/envelopes.ts";
import type { ProofHeader } from "../../trust/proof/inclusion/records.ts";
import { findParts, LeafHasher } from "../../trust/proof/leaf.ts";
import type { Range } from "../../trust/proof/merkle.ts";
import { contentOf, type SignableLog, sidecarOf } from "../../trust/session-log.ts";
import { gapsOf } from "../redact/copy-writer.ts";
import type { ProofLine, ProofSource, SourceCheckpoint, SourceLeaf } from "./assemble.ts";
import { type LeafIndex, ROTATES, VOUCHES } from "./leaf-index.ts";

/** The index is not of this log, or not of all of it. */
export class StaleIndex extends Error {}

type Genesis = Checkpoint & { readonly kind: "genesis" };

export class LogSource implements ProofSource {
  readonly path: string;
  readonly header: ProofHeader;
  readonly leaves: number;
  readonly headSeq: number;
  readonly rotations: readonly number[];
  readonly vouches: readonly number[];
  readonly #crypto: ProofCrypto;
  readonly #index: LeafIndex;
  readonly #files: OpenFiles;
  readonly #genesis: Genesis;
  readonly #genesisLine: Uint8Array;
  readonly #hasher: LeafHasher;
  /** The last group that was read. */
  #group: { readonly first: number; readonly lines: readonly Uint8Array[] } | null = null;

  private constructor(
    { dialect, ...target }: SignableLog,
    crypto: ProofCrypto,
    index: LeafIndex,
    files: OpenFiles,
    genesis: { readonly checkpoint: Genesis; readonly line: Uint8Array },
  ) {
    const { salt, parts } = genesis.checkpoint;
    const isRaw = contentOf({ dialect, ...target }) === "bytes";
    this.path = `${target.root}/${target.logId}`;
    this.header = { dialect, content: isRaw ? "bytes" : "lines", parts };
    const { leaves, checkpoints } = index.facts;
    this.leaves = leaves;
    this.headSeq = checkpoints - 1;
    const kinds = Array.from({ length: checkpoints }, (_, seq) => index.checkpoint(seq).kind);
    const ofKind = (kind: number) => kinds.flatMap((each, seq) => (each === kind ? [seq] : []));
    this.rotations = ofKind(ROTATES);
    this.vouches = ofKind(VOUCHES);
    this.#crypto = crypto;
    this.#index = index;
    this.#files = files;
    this.#genesis = genesis.checkpoint;
    this.#genesisLine = genesis.line;
    this.#hasher = new LeafHasher(crypto, fromHex(salt), parts);
  }

  /** Opens the log for `work`. Throws StaleIndex if the index cannot be of it. */
  static async with<T>(
    host: Host,
    target: SignableLog,
    crypto: ProofCrypto,
    index: LeafIndex,
    work: (source: LogSource) => Promise<T>,
  ): Promise<T> {
    const { root, logId, dialect } = target;
    const place = await openLogPath(host, logId, { create: false, root });
    const files = openFiles(place, dialect);
    try {
      if (files.log.size() < index.facts.bytes || index.facts.checkpoints < 2)
        throw new StaleIndex();
      const genesis = await checkpointIn(files, index, 0, dialect);
      const { checkpoint, line } = genesis;
      if (checkpoint.kind !== "genesis" || checkpoint.log !== index.facts.log)
        throw new StaleIndex();
      return await work(new LogSource(target, crypto, index, files, { checkpoint, line }));
    } finally {
      files.close();
    }
  }

  /** Whether the log has more bytes than its index knows. */
  get hasGrown(): boolean {
    return this.#files.log.size() > this.#index.facts.bytes;
  }

  sizeOf(seq: number): number | null {
    return seq === 0 && this.#isClosed ? null : this.#index.checkpoint(seq).size;
  }

  /** Genesis is in the log, and its secrets cannot be withheld one by one: nothing is said of it. */
  get #isClosed(): boolean {
    const { dialect, parts } = this.header;
    return !hasSidecar(dialect) && (parts < 1 || parts > 64);
  }

  checkpoint(seq: number): Promise<SourceCheckpoint> {
    return checkpointIn(this.#files, this.#index, seq, this.header.dialect);
  }

  async genesis(): ReturnType<ProofSource["genesis"]> {
    const genesis = this.#genesis;
    const { vouched, found, tree } = genesis;
    if (hasSidecar(this.header.dialect)) {
      return { facts: genesis, line: toHex(this.#crypto.sha256(this.#genesisLine)) };
    }
    if (this.#isClosed) return null;
    const line = this.#genesisLine.subarray(0, -1);
    const shown = this.#shown(line, tree.size, (at) => isSecret(line, at));
    return { ...shown, found: vouched ? null : found };
  }

  async leaf(index: number): Promise<SourceLeaf> {
    const [bytes = new Uint8Array(0)] = await this.#lines(index, index + 1);
    if (this.header.content === "bytes") {
      return { is: "bytes", salt: this.#hasher.salts(index, 1).slice(), data: bytes };
    }
    const envelope = envelopeOf(this.header.dialect);
    // A checkpoint of the older format is never shown: its hash has no salt.
    if (envelope !== "sidecar" && claimOf(bytes, envelope) !== null) return { is: "checkpoint" };
    return this.#shown(bytes, index, () => false);
  }

  root([from, to]: Range): Promise<Uint8Array> {
    return this.#index.nodes.root(from, to, async (first, last) => {
      const leaves: Uint8Array[] = [];
      for (const [n, line] of (await this.#lines(first, last)).entries()) {
        leaves.push(this.#leafOf(line, first + n));
      }
      return leaves;
    });
  }

  #leafOf(bytes: Uint8Array, index: number): Uint8Array {
    if (this.header.content === "lines") return this.#hasher.leaf(bytes, index);
    const leaf = this.#hasher.rawLeaf(index);
    leaf.update(bytes);
    return leaf.digest();
  }

  #shown(line: Uint8Array, index: number, isWithheld: (at: number) => boolean): ProofLine {
    const strings = findParts(line, this.header.parts);
    const salts = this.#hasher.salts(index, 1 + strings.length);
    const gaps = gapsOf(this.#hasher, line, salts, strings, (at) =>
      isWithheld(at) ? null : undefined,
    );
    const pieces: Uint8Array[] = [];
    let from = 0;
    for (const { at, length } of gaps.gaps) {
      pieces.push(line.subarray(from, at));
      from = at + length;
    }
    pieces.push(line.subarray(from));
    return { is: "line", ...gaps, rest: Buffer.concat(pieces) };
  }

  /** Lines without LF, of one or more groups; or stretches. */
  async #lines(from: number, to: number): Promise<readonly Uint8Array[]> {
    const lines: Uint8Array[] = [];
    for (let at = from; at < to; ) {
      const { first, last } = this.#index.groupOf(at);
      if (first > at || last <= at) throw new StaleIndex(); // Otherwise this would not end.
      if (this.#group?.first !== first) this.#group = { first, lines: await this.#read(at) };
      lines.push(...this.#group.lines.slice(at - first, to - first));
      at = last;
    }
    return lines;
  }

  async #read(leaf: number): Promise<readonly Uint8Array[]> {
    const { first, last, from, to } = this.#index.groupOf(leaf);
    if (from > to || to > this.#index.facts.bytes) throw new StaleIndex();
    const bytes = await readStretch(this.#files.log, from, to);
    if (this.header.content === "bytes") return [bytes];
    const lines: Uint8Array[] = [];
    for (let start = 0; start < bytes.length; ) {
      const end = bytes.indexOf(LF, start);
      if (end === -1) throw new StaleIndex();
      lines.push(bytes.subarray(start, end));
      start = end + 1;
    }
    if (lines.length !== last - first) throw new StaleIndex();
    return lines;
  }
}

interface OpenFiles {
  readonly log: OpenFile;
  /** Where checkpoints are. */
  readonly checkpoints: OpenFile;
  close(): void;
}

function openFiles(place: LogPath, dialect: string): OpenFiles {
  let log: OpenFile | null = null;
  let sidecar: OpenFile | null = null;
  const close = () => {
    log?.close();
    sidecar?.close();
    place.directory.close();
  };
  try {
    log = openToRead(place);
    sidecar = hasSidecar(dialect) ? openIfThere(place.directory, sidecarOf(place.name)) : null;
    if (hasSidecar(dialect) && !sidecar) throw new StaleIndex();
    return { log, checkpoints: sidecar ?? log, close };
  } catch (cause) {
    close();
    throw cause;
  }
}

async function checkpointIn(
  { checkpoints }: OpenFiles,
  index: LeafIndex,
  seq: number,
  dialect: string,
): Promise<SourceCheckpoint> {
  const { at, length } = index.checkpoint(seq);
  if (at + length > checkpoints.size()) throw new StaleIndex();
  const line = await readStretch(checkpoints, at, at + length);
  const checkpoint = readCheckpoint(line.subarray(0, -1), envelopeOf(dialect));
  if (checkpoint?.seq !== seq || line.at(-1) !== LF) throw new StaleIndex();
  return { checkpoint, line };
}
