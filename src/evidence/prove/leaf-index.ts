/**
 * Leaf index: where the lines and checkpoints of a signed log are, and the upper part of its tree.
 * Format: docs/formats/leaf-index.md.
 *
 * A cache: it decides no verdict, since every proof is judged before it is written, and it can be
 * deleted at any time. It holds no text and no salt of the log. Indexes are kept in the user's
 * cache, one file per log. Losing one, or failing to write one, costs time only.
 *
 * Node table: roots of the perfect subtrees of a log's tree, so that a proof needs few leaves.
 *
 * Level n has a hash for every `group` × 2^n leaves, in order. Smaller subtrees are made again from
 * their leaves.
 */

import { createHash, randomUUID } from "node:crypto";
import { readFile, realpath, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { writeAll } from "../../core/base/file-steps.ts";
import type { Host } from "../../core/base/host.ts";
import { fromHex, LF, toHex, utf8 } from "../../trust/proof/bytes.ts";
import { asciiJson, type Checkpoint } from "../../trust/proof/checkpoint.ts";
import { isCount, isObject } from "../../trust/proof/claims.ts";
import type { ProofCrypto } from "../../trust/proof/crypto.ts";
import { LeafHasher } from "../../trust/proof/leaf.ts";
import { MerkleTree, powerOfTwoBelow } from "../../trust/proof/merkle.ts";
import type { SignableLog } from "../../trust/session-log.ts";
import type { LogTaker } from "../redact/redact.ts";

const NODE_BYTES = 32;

/** The hashes of leaves `from` to `to`. */
export type ReadLeaves = (from: number, to: number) => Promise<readonly Uint8Array[]>;

export class NodeTable {
  readonly #crypto: ProofCrypto;
  readonly #group: number;
  readonly #levels: GrowingBytes[];
  /** Leaves of the last, unfinished group. */
  #rest: Uint8Array[] = [];

  /** `group` is a power of two. `levels`: as `bytes` returned them. */
  constructor(crypto: ProofCrypto, group: number, levels: readonly Uint8Array[] = []) {
    this.#crypto = crypto;
    this.#group = group;
    this.#levels = levels.map((each) => new GrowingBytes(each));
  }

  push(leaf: Uint8Array): void {
    this.#rest.push(leaf);
    if (this.#rest.length < this.#group) return;
    this.#add(0, this.#rootOf(this.#rest));
    this.#rest = [];
  }

  levels(): readonly Uint8Array[] {
    return this.#levels.map(({ bytes }) => bytes);
  }

  /** The root of leaves `from` to `to`, which are a subtree of some tree over all. */
  async root(from: number, to: number, leavesOf: ReadLeaves): Promise<Uint8Array> {
    const count = to - from;
    const known = this.#node(from, count);
    if (known) return known;
    if (count <= this.#group) return this.#rootOf(await leavesOf(from, to));
    const middle = from + powerOfTwoBelow(count);
    const left = await this.root(from, middle, leavesOf);
    return this.#parent(left, await this.root(middle, to, leavesOf));
  }

  #node(from: number, count: number): Uint8Array | null {
    let [level, leaves] = [0, this.#group];
    while (leaves < count) {
      leaves *= 2;
      level++;
    }
    if (leaves !== count || from % leaves !== 0) return null;
    const at = (from / leaves) * NODE_BYTES;
    const bytes = this.#levels[level]?.bytes;
    return bytes && at < bytes.length ? bytes.slice(at, at + NODE_BYTES) : null;
  }

  #add(level: number, hash: Uint8Array): void {
    let nodes = this.#levels[level];
    if (!nodes) {
      nodes = new GrowingBytes();
      this.#levels.push(nodes);
    }
    nodes.push(hash);
    const { bytes } = nodes;
    if (bytes.length % (2 * NODE_BYTES) !== 0) return;
    this.#add(level + 1, this.#parent(bytes.subarray(-2 * NODE_BYTES, -NODE_BYTES), hash));
  }

  #rootOf(leaves: readonly Uint8Array[]): Uint8Array {
    const tree = new MerkleTree(this.#crypto);
    for (const leaf of leaves) tree.push(leaf);
    return tree.root();
  }

  #parent(left: Uint8Array, right: Uint8Array): Uint8Array {
    return this.#rootOf([left, right]);
  }
}

/** Bytes that double their room. */
class GrowingBytes {
  #room: Uint8Array;
  #length: number;

  constructor(bytes: Uint8Array = new Uint8Array(0)) {
    this.#room = bytes;
    this.#length = bytes.length;
  }

  get bytes(): Uint8Array {
    return this.#room.subarray(0, this.#length);
  }

  push(more: Uint8Array): void {
    const length = this.#length + more.length;
    if (length > this.#room.length) {
      const room = new Uint8Array(2 * length);
      room.set(this.bytes);
      this.#room = room;
    }
    this.#room.set(more, this.#length);
    this.#length = length;
  }
}

const VERSION = 1;
/** Lines per group. The stretches of a raw stream are long, so each is a group. */
export const GROUP_LINES = 64;
const OFFSET_BYTES = 8;
const ENTRY_BYTES = 24;
const HASH_BYTES = 32;
const HEADER_BYTES_MAX = 1024;
/** Checkpoints that a proof looks for, by kind. */
export const OTHER_LINE = 0;
export const ROTATES = 1;
export const VOUCHES = 2;

export interface IndexFacts {
  readonly log: string;
  /** Leaves, and the bytes of the log that they are of. */
  readonly leaves: number;
  readonly bytes: number;
  readonly group: number;
  readonly checkpoints: number;
}

/** Where a checkpoint's line is, LF included: in the log, or in its sidecar file. */
export interface IndexedCheckpoint {
  readonly at: number;
  readonly length: number;
  readonly kind: number;
  /** Of its tree. */
  readonly size: number;
}

export class LeafIndex {
  readonly facts: IndexFacts;
  readonly nodes: NodeTable;
  readonly #offsets: DataView;
  readonly #checkpoints: DataView;

  constructor(facts: IndexFacts, offsets: Uint8Array, checkpoints: Uint8Array, nodes: NodeTable) {
    this.facts = facts;
    this.nodes = nodes;
    this.#offsets = viewOf(offsets);
    this.#checkpoints = viewOf(checkpoints);
  }

  /** The leaves of a group, and the bytes that they are of. */
  groupOf(leaf: number) {
    const { group, leaves, bytes } = this.facts;
    const number = Math.floor(leaf / group);
    const groups = this.#offsets.byteLength / OFFSET_BYTES;
    const end = number + 1 < groups ? this.#offsetOf(number + 1) : bytes;
    const first = number * group;
    return { first, last: Math.min(first + group, leaves), from: this.#offsetOf(number), to: end };
  }

  checkpoint(seq: number): IndexedCheckpoint {
    const at = seq * ENTRY_BYTES;
    const view = this.#checkpoints;
    return {
      at: Number(view.getBigUint64(at)),
      length: view.getUint32(at + 8),
      kind: view.getUint32(at + 12),
      size: Number(view.getBigUint64(at + 16)),
    };
  }

  /** The file's bytes. */
  spell(crypto: ProofCrypto): Uint8Array {
    const header = utf8(`${asciiJson({ verbatim: "leaves", v: VERSION, ...this.facts })}\n`);
    const parts = [
      header,
      bytesOf(this.#offsets),
      bytesOf(this.#checkpoints),
      ...this.nodes.levels(),
    ];
    const all = Buffer.concat(parts);
    return Buffer.concat([all, crypto.sha256(all)]);
  }

  /** Reads a file's bytes; null unless they are an index, undamaged. */
  static read(bytes: Uint8Array, crypto: ProofCrypto): LeafIndex | null {
    const body = bytes.subarray(0, -HASH_BYTES);
    const end = body.subarray(0, HEADER_BYTES_MAX).indexOf(LF);
    const facts = end === -1 ? null : readFacts(body.subarray(0, end));
    if (!facts || toHex(crypto.sha256(body)) !== toHex(bytes.subarray(-HASH_BYTES))) return null;
    let at = end + 1;
    const take = (length: number) => {
      at += length;
      return body.slice(at - length, at);
    };
    const groups = Math.ceil(facts.leaves / facts.group);
    const offsets = take(groups * OFFSET_BYTES);
    const checkpoints = take(facts.checkpoints * ENTRY_BYTES);
    const levels: Uint8Array[] = [];
    for (
      let nodes = Math.floor(facts.leaves / facts.group);
      nodes > 0;
      nodes = Math.floor(nodes / 2)
    ) {
      levels.push(take(nodes * HASH_BYTES));
    }
    if (at !== body.length) return null;
    return new LeafIndex(facts, offsets, checkpoints, new NodeTable(crypto, facts.group, levels));
  }

  #offsetOf(group: number): number {
    return Number(this.#offsets.getBigUint64(group * OFFSET_BYTES));
  }
}

function readFacts(line: Uint8Array): IndexFacts | null {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(line).toString());
  } catch {
    return null;
  }
  if (!isObject(value) || value.verbatim !== "leaves" || value.v !== VERSION) return null;
  const { log, leaves, bytes, group, checkpoints } = value;
  const isGood =
    typeof log === "string" &&
    isCount(leaves) &&
    isCount(bytes) &&
    (group === GROUP_LINES || group === 1) &&
    isCount(checkpoints);
  return isGood ? { log, leaves, bytes, group, checkpoints } : null;
}

/** Makes the index of a log, as it is read. */
export class IndexBuilder implements LogTaker {
  readonly #leaves: LeafHasher;
  readonly #group: number;
  readonly #nodes: NodeTable;
  readonly #offsets = new GrowingBytes();
  readonly #checkpoints = new GrowingBytes();
  #count = 0;
  /** Where the next line, and the next checkpoint of a sidecar file, begin. */
  #at = 0;
  #sidecarAt = 0;

  constructor(
    crypto: ProofCrypto,
    genesis: { readonly salt: string; readonly parts: number },
    isRaw: boolean,
  ) {
    this.#leaves = new LeafHasher(crypto, fromHex(genesis.salt), genesis.parts);
    this.#group = isRaw ? 1 : GROUP_LINES;
    this.#nodes = new NodeTable(crypto, this.#group);
  }

  line(line: Uint8Array): void {
    this.#push(this.#leaves.leaf(line, this.#count), line.length + 1);
  }

  uncounted(line: Uint8Array): void {
    this.line(line);
  }

  stretch(bytes: Uint8Array): void {
    const leaf = this.#leaves.rawLeaf(this.#count);
    leaf.update(bytes);
    this.#push(leaf.digest(), bytes.length);
  }

  checkpoint(checkpoint: Checkpoint, line: Uint8Array, isInside: boolean): void {
    const entry = new DataView(new ArrayBuffer(ENTRY_BYTES));
    entry.setBigUint64(0, BigInt(isInside ? this.#at : this.#sidecarAt));
    entry.setUint32(8, line.length);
    entry.setUint32(12, kindOf(checkpoint));
    entry.setBigUint64(16, BigInt(checkpoint.tree.size));
    this.#checkpoints.push(bytesOf(entry));
    if (isInside) this.line(line.subarray(0, -1));
    else this.#sidecarAt += line.length;
  }

  finish(log: string): LeafIndex {
    const checkpoints = this.#checkpoints.bytes;
    const facts = {
      log,
      leaves: this.#count,
      bytes: this.#at,
      group: this.#group,
      checkpoints: checkpoints.length / ENTRY_BYTES,
    };
    return new LeafIndex(facts, this.#offsets.bytes, checkpoints, this.#nodes);
  }

  #push(leaf: Uint8Array, bytes: number): void {
    if (this.#count % this.#group === 0) {
      const offset = new DataView(new ArrayBuffer(OFFSET_BYTES));
      offset.setBigUint64(0, BigInt(this.#at));
      this.#offsets.push(bytesOf(offset));
    }
    this.#nodes.push(leaf);
    this.#count++;
    this.#at += bytes;
  }
}

function kindOf(checkpoint: Checkpoint): number {
  if (checkpoint.kind === "rotate") return ROTATES;
  return checkpoint.kind === "recovery" && checkpoint.vouched ? VOUCHES : OTHER_LINE;
}

function viewOf({ buffer, byteOffset, length }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, length);
}

function bytesOf({ buffer, byteOffset, byteLength }: DataView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** A larger file is not read. */
const INDEX_BYTES_MAX = 1024 ** 3;

/** The file of a log's index: named by the log's real path. */
async function indexName({ root, logId }: Pick<SignableLog, "root" | "logId">) {
  const path = join(root, logId);
  const real = await realpath(path).catch(() => path);
  return `${createHash("sha256").update(real).digest("hex").slice(0, 32)}.vbi`;
}

/** Null if there is none, or it is damaged. */
export async function loadIndex(
  directory: string,
  target: SignableLog,
  crypto: ProofCrypto,
): Promise<LeafIndex | null> {
  try {
    const path = join(directory, await indexName(target));
    if ((await stat(path)).size > INDEX_BYTES_MAX) return null;
    return LeafIndex.read(await readFile(path), crypto);
  } catch {
    return null;
  }
}

export async function saveIndex(
  host: Host,
  directory: string,
  target: SignableLog,
  bytes: Uint8Array,
): Promise<void> {
  const temporary = `.${randomUUID()}.tmp`;
  try {
    const folder = await host.files.openDirectory(directory, { create: true });
    try {
      const file = folder.open(temporary, "new");
      try {
        writeAll(file, bytes);
      } finally {
        file.close();
      }
      folder.rename(temporary, await indexName(target));
    } finally {
      folder.close();
    }
  } catch {
    await rm(join(directory, temporary), { force: true }).catch(() => {});
  }
}

export async function removeIndex(
  directory: string,
  target: Pick<SignableLog, "root" | "logId">,
): Promise<void> {
  await rm(join(directory, await indexName(target)), { force: true });
}
