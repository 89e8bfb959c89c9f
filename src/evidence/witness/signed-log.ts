/**
 * Signed log: a verified log as a tree: its head as a signed note, and proofs about its leaves (C2SP tlog-proof).
 *
 * Leaves are read again after the log was verified. Their root must be the one that the head
 * states; otherwise CHANGED_WHILE_READ.
 */

import { basename, dirname } from "node:path";
import { VerbatimError } from "../../core/base/errors.ts";
import { openIfThere } from "../../core/base/file-steps.ts";
import type { Host } from "../../core/base/host.ts";
import type { ByteOffset } from "../../core/base/offset.ts";
import { openLogPath, openToRead } from "../../core/log/log-path.ts";
import { LogReader } from "../../core/log/reader.ts";
import { changedWhileRead, readExactly } from "../../trust/judge/inspect.ts";
import { readSidecar } from "../../trust/judge/inspect-sidecar.ts";
import type { VerifyReport } from "../../trust/judge/report.ts";
import { verifyLog } from "../../trust/judge/verify.ts";
import type { VerifyOptions } from "../../trust/judge/verify-options.ts";
import type { Signer } from "../../trust/keys/keys.ts";
import { nodeCrypto } from "../../trust/keys/node-crypto.ts";
import { concat, fromHex, LF, toHex } from "../../trust/proof/bytes.ts";
import { type Checkpoint, readCheckpoint } from "../../trust/proof/checkpoint.ts";
import { hasSidecar, INSIDE } from "../../trust/proof/envelopes.ts";
import { LeafHasher } from "../../trust/proof/leaf.ts";
import {
  consistencyRanges,
  inclusionRanges,
  MerkleTree,
  type Range,
} from "../../trust/proof/merkle.ts";
import { noteMessage, readNote, signatureLine, spellNote } from "../../trust/proof/tlog/note.ts";
import {
  originOf,
  readTreeHead,
  spellHeadLine,
  spellTlogProof,
  spellTreeHead,
} from "../../trust/proof/tlog/tree-head.ts";
import type { Verdict } from "../../trust/proof/verdict.ts";
import { WholeLines } from "../../trust/proof/whole-lines.ts";
import { contentOf, type SignableLog, sidecarOf } from "../../trust/session-log.ts";

type Genesis = Checkpoint & { readonly kind: "genesis" };

export interface WitnessedLog {
  readonly target: SignableLog;
  readonly path: string;
  readonly genesis: Genesis;
  /** The newest checkpoint, and the hash of its line. */
  readonly head: Checkpoint;
  readonly line: string;
}

/** Verdicts under which everything up to the last checkpoint is valid, and nothing is missing. */
const HOLDS: ReadonlySet<Verdict | null> = new Set(["verified", "incomplete", "unpinned", null]);

/** Verifies a log; refuses with NOT_VERIFIED. `host` is the dialect's. */
export async function readSignedLog(
  host: Host,
  target: SignableLog,
  options: VerifyOptions,
): Promise<WitnessedLog> {
  let genesis: Genesis | null = null;
  let newest: { readonly head: Checkpoint; readonly line: string } | null = null;
  const report = await verifyLog(host, target, {
    ...options,
    onCheckpoint: (_seq, line, head) => {
      if (head.kind === "genesis") genesis ??= head as Genesis;
      newest = { head, line };
    },
  });
  const { path, verdict, findings, signed_through: through } = report;
  const against = findings.find((each) => !HOLDS.has(each.verdict));
  const found = newest as { readonly head: Checkpoint; readonly line: string } | null;
  if (against || !through || !genesis || found?.line !== through.line) {
    const why = against?.message ?? "nothing in it is signed";
    throw new VerbatimError(
      "NOT_VERIFIED",
      `${path} is ${verdict}, and its head is not shown to others: ${why}; see verbatim verify`,
      { path, verdict },
    );
  }
  return { target, path, genesis, ...found };
}

/** The head as a checkpoint note, signed by the log's own key. */
export async function noteOf(
  { head, line }: WitnessedLog,
  userName: string,
  signer: Signer,
): Promise<string> {
  const origin = originOf(userName, head.log);
  const { size, root } = head.tree;
  const extensions = [spellHeadLine({ seq: head.seq, line })];
  const body = spellTreeHead({ origin, size, root: fromHex(root), extensions });
  const key = { name: origin, role: "log", publicKey: signer.publicKey } as const;
  const signature = await signer.sign(noteMessage("log", body));
  return spellNote(body, [signatureLine(nodeCrypto, key, signature)]);
}

/** The proof that the tree of the first `size1` leaves is the beginning of the head's. */
export async function consistencyFrom(
  host: Host,
  log: WitnessedLog,
  size1: number,
): Promise<Uint8Array[]> {
  const { size } = log.head.tree;
  if (size1 === 0 || size1 === size) return [];
  return rootsOf(host, log, consistencyRanges(size1, size));
}

/** The roots over these ranges of leaves, in one pass. */
export async function rootsOf(
  host: Host,
  log: WitnessedLog,
  ranges: readonly Range[],
): Promise<Uint8Array[]> {
  const trees = ranges.map(([from, to]) => ({ from, to, tree: new MerkleTree(nodeCrypto) }));
  const whole = new MerkleTree(nodeCrypto);
  await eachLeaf(host, log, (leaf) => {
    const index = whole.size;
    whole.push(leaf);
    for (const { from, to, tree } of trees) if (index >= from && index < to) tree.push(leaf);
  });
  if (toHex(whole.root()) !== log.head.tree.root) throw changedWhileRead(log.path, 0);
  return trees.map(({ tree }) => tree.root());
}

/** The leaves of the head's tree, in order. */
async function eachLeaf(
  host: Host,
  { target, path, genesis, head }: WitnessedLog,
  onLeaf: (leaf: Uint8Array) => void,
): Promise<void> {
  const leaves = new LeafHasher(nodeCrypto, fromHex(genesis.salt), genesis.parts);
  const { root, logId } = target;
  const place = await openLogPath(host, logId, { create: false, root });
  try {
    const isRaw = contentOf(target) === "bytes";
    const sidecar = isRaw ? openIfThere(place.directory, sidecarOf(place.name)) : null;
    const file = openToRead(place);
    try {
      let index = 0;
      if (sidecar === null) {
        const whole = new WholeLines((bytes) => {
          for (let start = 0; start < bytes.length; ) {
            const end = bytes.indexOf(LF, start);
            onLeaf(leaves.leaf(bytes.subarray(start, end), index++));
            start = end + 1;
          }
        });
        for await (const chunk of readExactly(file, 0, head.byteOffset, path)) whole.feed(chunk);
        return;
      }
      // A leaf for each stretch between checkpoints.
      let at = 0;
      for await (const { checkpoint } of readSidecar(sidecar, sidecarOf(path)).checkpoints) {
        const { byteOffset: to, seq } = checkpoint;
        if (seq > head.seq) break;
        if (to === at) continue;
        const leaf = leaves.rawLeaf(index++);
        for await (const chunk of readExactly(file, at, to, path)) leaf.update(chunk);
        onLeaf(leaf.digest());
        at = to;
      }
    } finally {
      file.close();
      sidecar?.close();
    }
  } finally {
    place.directory.close();
  }
}

/** The checkpoint `seq` of a log in a disclosed copy that was verified; null if it has none. */
export async function checkpointInCopy(
  host: Host,
  path: string,
  log: string,
  seq: number,
): Promise<FoundCheckpoint | null> {
  const reader = new LogReader(host, basename(path), { root: dirname(path), onBadLine: "skip" });
  for await (const { bytes: bare } of reader) {
    if (!Buffer.from(bare.buffer, bare.byteOffset, bare.length).includes(CHECKPOINT)) continue;
    for (const envelope of [...INSIDE, "sidecar"] as const) {
      const checkpoint = readCheckpoint(bare, envelope);
      if (checkpoint?.seq === seq && checkpoint.log === log) return found(checkpoint, bare);
    }
  }
  return null;
}

const CHECKPOINT = '"event_type":"checkpoint"';

function found(checkpoint: Checkpoint, bare: Uint8Array): FoundCheckpoint {
  const bytes = concat(bare, Uint8Array.of(LF));
  return { checkpoint, line: toHex(nodeCrypto.sha256(bytes)), bytes };
}

export interface FoundCheckpoint {
  readonly checkpoint: Checkpoint;
  /** The hash of its line, and the line itself, with its LF. */
  readonly line: string;
  readonly bytes: Uint8Array;
}

/** The checkpoint `seq` of a log that was verified; null if it has none. */
export async function checkpointAt(
  host: Host,
  { path, dialect, signed_through: through }: VerifyReport,
  seq: number,
): Promise<FoundCheckpoint | null> {
  if (through === null || seq > through.seq) return null;
  const isSidecar = hasSidecar(dialect);
  const name = isSidecar ? sidecarOf(basename(path)) : basename(path);
  const reader = new LogReader(host, name, { root: dirname(path), onBadLine: "skip" });
  const range = isSidecar ? {} : { to: through.end as ByteOffset };
  for await (const { bytes: bare } of reader.backward(range)) {
    for (const envelope of isSidecar ? (["sidecar"] as const) : INSIDE) {
      const checkpoint = readCheckpoint(bare, envelope);
      if (checkpoint === null || checkpoint.seq > seq) continue;
      if (checkpoint.seq < seq) return null;
      return found(checkpoint, bare);
    }
  }
  return null;
}

/** `index` counts from 0. Refuses with CANNOT_PROVE a line that the note does not cover. */
export async function tlogProofOf(
  host: Host,
  log: WitnessedLog,
  index: number,
  note: string,
): Promise<string> {
  const head = readTreeHead(readNote(note)?.body ?? "");
  if (head === null || index >= head.size) {
    throw cannotProve(log.path, `the note covers ${head?.size ?? 0} lines, not line ${index + 1}`);
  }
  const ranges = inclusionRanges(index, head.size);
  const own = [index, index + 1] as const;
  const [whole, leaf, ...proof] = await rootsOf(host, log, [[0, head.size], own, ...ranges]);
  if (!whole || !leaf || toHex(whole) !== toHex(head.root)) {
    throw cannotProve(log.path, "the note is of another history of this log");
  }
  return spellTlogProof({ extra: leaf, index, proof, note });
}

function cannotProve(path: string, reason: string): VerbatimError<"CANNOT_PROVE"> {
  return new VerbatimError("CANNOT_PROVE", `nothing of ${path} is proven: ${reason}`, {
    path,
    reason,
  });
}
