/**
 * Check end: judges the last segments of a long session without reading what comes before them.
 *
 * Each checkpoint has the hash of the lines since the one before it (`seg`) and of that
 * checkpoint's line (`prev`), and is signed. So a segment is proved by itself; only the whole check
 * shows that nothing is missing before the first one.
 */

import type { CheckpointPage } from "../../../src/client/session-shapes.ts";
import { fromHex, LF, toHex } from "../../../src/trust/proof/bytes.ts";
import {
  type Checkpoint,
  type EnvelopeName,
  genesisHash,
  readCheckpoint,
} from "../../../src/trust/proof/checkpoint.ts";
import type { Claim } from "../../../src/trust/proof/claims.ts";
import type { RunningHash } from "../../../src/trust/proof/crypto.ts";
import type { KeyAnswer } from "../../../src/trust/proof/ed25519-keys.ts";
import { LeafHasher } from "../../../src/trust/proof/leaf.ts";
import { Rotations } from "../../../src/trust/proof/rotations.ts";
import type { Finding, FindingCode } from "../../../src/trust/proof/verdict.ts";
import {
  mayBeVoid,
  statesFound,
  type VoidCheckpoint,
  voidOf,
} from "../../../src/trust/proof/void-checkpoints.ts";
import { Walk, type WalkHandler } from "../../../src/trust/proof/walk.ts";
import { WholeLines } from "../../../src/trust/proof/whole-lines.ts";
import { type BytesSource, checkpointIn } from "./bytes-source.ts";
import { envelopeOf, newTail, shorter, sidecarFindings, tailFindings } from "./check-whole.ts";
import { type AlteredRange, alteredOf, type CheckResult, turnAt, verdictOf } from "./checked.ts";

/** Checks the segments that are whole within the last `bytes` of the log. */
export async function checkEnd(source: BytesSource, bytes: number): Promise<CheckResult> {
  const { end } = await source.checkpoints(0, 0);
  const page = await source.checkpoints(Math.max(0, end - bytes), end);
  const { place, genesis } = page;
  const items = fromGenesis(page);
  const [first] = items;
  const envelope = place === "sidecar" ? "sidecar" : envelopeOf(source);
  const opening = genesis && checkpointIn(genesis.line, envelope);
  if (first === undefined || opening?.kind !== "genesis") return nothingChecked(end);
  const judge = new EndJudge(source, opening, envelope);
  judge.isFromStart = first.seq === 0;
  let from = judge.isFromStart ? 0 : first.start;
  if (place === "log") {
    const walk = new Walk(source.crypto, envelope, judge);
    judge.base = from;
    for await (const piece of source.checkedPieces(from, end, envelope)) walk.feed(piece);
  } else {
    from = judge.isFromStart ? 0 : first.covers.to;
    await feedBeside(source, judge, items, end);
  }
  const tailFrom = Math.max(judge.end, from);
  const tail = newTail(source, envelope, tailFrom, (at) => judge.voids.has(at));
  for await (const piece of source.pieces(tailFrom, end)) tail.feed(piece);
  tail.finish();
  const findings = [
    ...judge.findings,
    ...tailFindings(tail, tailFrom, page),
    ...judge.found(),
    ...judge.voidFindings(),
    ...judge.refusals(),
    ...sidecarFindings(page),
  ];
  return {
    verdict: verdictOf(findings),
    isWhole: false,
    stretches: { held: judge.held, total: (judge.newest?.seq ?? 0) + 1 },
    turns: { held: judge.turns.size, total: judge.newest ? turnAt(judge.newest) : 0 },
    bytes: { checked: judge.end - judge.begin, total: end },
    keys: judge.keys,
    altered: alteredOf(judge.altered, findings, judge.begin),
    findings,
    unsignedLines: tail.lines,
    signedAt: judge.held > 0 ? (judge.newest?.ts ?? null) : null,
  };
}

/** A genesis in a sidecar is at offset 0 and covers nothing: no segment needs it. */
function fromGenesis({ place, from, genesis, checkpoints }: CheckpointPage) {
  const isLeftOut = place === "sidecar" && from === 0 && checkpoints[0]?.seq === 1;
  return isLeftOut && genesis?.covers.to === 0 ? [genesis, ...checkpoints] : checkpoints;
}

async function feedBeside(
  source: BytesSource,
  judge: EndJudge,
  items: readonly { readonly line: string }[],
  end: number,
): Promise<void> {
  let at = judge.isFromStart ? 0 : null;
  for (const { line } of items) {
    const bytes = new TextEncoder().encode(`${line}\n`);
    const checkpoint = readCheckpoint(bytes.subarray(0, -1), "sidecar");
    if (checkpoint === null) return judge.fault("NOT_A_CHECKPOINT", at ?? 0, null);
    await source.ahead(checkpoint);
    const place: number = checkpoint.byteOffset;
    const whole = new WholeLines((lines) => judge.lines(lines));
    if (at !== null && place <= end) {
      for await (const piece of source.pieces(at, place)) whole.feed(piece);
    }
    if (place > end) {
      judge.findings.push(shorter(end));
      return;
    }
    judge.checkpoint(checkpoint, bytes, { place, end: place, isWhole: whole.restBytes === 0 });
    at = place;
  }
}

class EndJudge implements WalkHandler {
  readonly findings: Finding[] = [];
  readonly altered: AlteredRange[] = [];
  readonly turns = new Set<number>();
  /** Segments that are valid. */
  held = 0;
  /** The last checkpoint, valid or not. */
  newest: Checkpoint | null = null;
  /**
   * Where the first segment begins, and where the last line that claims to be a checkpoint ends.
   */
  begin = 0;
  end = 0;
  /** Where the walk began in the log. */
  base = 0;
  /** The first checkpoint is the genesis, and everything before it is read, too. */
  isFromStart = false;
  readonly #source: BytesSource;
  readonly #genesis: Checkpoint & { readonly kind: "genesis" };
  readonly #isBeside: boolean;
  readonly #leaves: LeafHasher;
  readonly #found = new Map<string, Checkpoint>();
  readonly #usedKeys = new Map<string, KeyAnswer>();
  /** Rotations before the read part are unknown, and so are their keys. */
  readonly #rotations: Rotations;
  /** Void checkpoints, by offset; and those after the last checkpoint that counts. */
  readonly voids = new Map<number, VoidCheckpoint>();
  #pendingVoids: VoidCheckpoint[] = [];
  #segment: RunningHash;
  #index = 0;
  #prev = "0".repeat(64);

  constructor(
    source: BytesSource,
    genesis: Checkpoint & { readonly kind: "genesis" },
    envelope: EnvelopeName,
  ) {
    this.#source = source;
    this.#rotations = new Rotations(source.crypto, source.keys);
    this.#genesis = genesis;
    this.#isBeside = envelope === "sidecar";
    this.#leaves = new LeafHasher(source.crypto, fromHex(genesis.salt), genesis.parts);
    this.#segment = source.crypto.runningSha256();
    const log = toHex(source.crypto.sha256(fromHex(genesis.salt))).slice(0, 32);
    if (log !== genesis.log) this.fault("OTHER_LOG", 0, genesis.turn);
  }

  get keys(): readonly KeyAnswer[] {
    return [...this.#usedKeys.values()];
  }

  lines(bytes: Uint8Array): void {
    if (this.newest === null && !this.isFromStart) return;
    for (let start = 0; start < bytes.length; ) {
      const lf = bytes.indexOf(LF, start);
      this.#segment.update(this.#leaves.leaf(bytes.subarray(start, lf), this.#index++));
      start = lf + 1;
    }
  }

  claim(line: Uint8Array, start: number, claim: Claim): void {
    const place = this.base + start;
    if (claim.is === "newer") {
      const message = "a checkpoint has a newer format";
      const code = "NEWER_FORMAT";
      this.findings.push({ code, verdict: "unreadable", byteOffset: place, turn: null, message });
      this.end = place + line.length;
      return;
    }
    if (claim.is !== "checkpoint") {
      this.fault("NOT_A_CHECKPOINT", place, null);
      this.end = place + line.length;
      return;
    }
    if (this.#isVoid(claim.checkpoint, place)) {
      const taken = voidOf(claim.checkpoint, place, line, this.#source.crypto);
      this.voids.set(place, taken);
      this.#pendingVoids.push(taken);
      this.lines(line);
      return;
    }
    this.checkpoint(claim.checkpoint, line, { place, end: place + line.length, isWhole: true });
  }

  /** Its hash is not checked, like that of any checkpoint here. */
  #isVoid(checkpoint: Checkpoint, place: number): boolean {
    const seq = this.newest === null ? 0 : this.newest.seq + 1;
    const log = seq === 0 ? null : this.#genesis.log;
    const next = { seq, prev: this.#prev, log, end: this.end };
    const isKnown = this.newest !== null || this.isFromStart;
    const isOurs = checkpoint.session === this.#source.name && mayBeVoid(checkpoint, place, next);
    if (!isKnown || !isOurs || this.findings.length > 0) return false;
    this.#rotations.precedes(checkpoint);
    const { publicKey, refusal } = this.#rotations.keyOf(checkpoint);
    return (
      publicKey !== null &&
      refusal === null &&
      this.#source.crypto.verifyEd25519(publicKey, checkpoint.statement, checkpoint.sig2)
    );
  }

  /** Those that no checkpoint states as found yet. */
  voidFindings(): Finding[] {
    const [first] = this.#pendingVoids;
    if (!first) return [];
    const { start: byteOffset, turn } = first;
    const message = "a checkpoint landed after lines of another program, and counts for nothing";
    return [{ code: "VOID_CHECKPOINT", verdict: "incomplete", byteOffset, turn, message }];
  }

  checkpoint(
    checkpoint: Checkpoint,
    line: Uint8Array,
    { place, end, isWhole }: { place: number; end: number; isWhole: boolean },
  ): void {
    const { crypto } = this.#source;
    const { turn, kid } = checkpoint;
    this.#rotations.comes(checkpoint);
    const key = this.#rotations.keyOf(checkpoint);
    this.#usedKeys.set(kid, key);
    const code = isWhole ? this.#codeOf(checkpoint, place) : "HASH_MISMATCH";
    this.#pendingVoids = [];
    if (code === "SEGMENT_MISMATCH") this.altered.push({ from: this.end, to: place, turn });
    if (code !== null) this.fault(code, place, turn);
    else if (
      key.publicKey &&
      (key.fp !== checkpoint.fp ||
        !crypto.verifyEd25519(key.publicKey, checkpoint.statement, checkpoint.sig2))
    ) {
      this.fault("SIGNATURE_FALSE", place, turn);
    } else if (this.newest === null && !this.isFromStart) {
      this.begin = end; // It ends a segment that was not read whole.
      if (key.publicKey && key.refusal === null) this.#rotations.holds(checkpoint);
    } else if (key.publicKey && key.refusal === null) {
      this.held++;
      this.#rotations.holds(checkpoint);
      this.#noteFound(checkpoint);
      if (turnAt(checkpoint) > 0) this.turns.add(turnAt(checkpoint));
    }
    this.newest = checkpoint;
    this.end = end;
    this.#prev = toHex(crypto.sha256(line));
    this.#segment = crypto.runningSha256();
    this.#index = checkpoint.tree.size + (this.#isBeside ? 0 : 1);
  }

  /** A signer found unsigned lines; a later checkpoint may vouch for them. */
  #noteFound(checkpoint: Checkpoint): void {
    if (checkpoint.kind !== "genesis" && checkpoint.kind !== "recovery") return;
    if (checkpoint.found === null) return;
    const key = checkpoint.found.join("-");
    if (checkpoint.vouched) this.#found.delete(key);
    else this.#found.set(key, checkpoint);
  }

  /** Bytes that were found unsigned, and that no later checkpoint vouches for. */
  found(): Finding[] {
    return [...this.#found].map(([range, { byteOffset, turn }]) => {
      const message = `bytes ${range} were found unsigned, and no checkpoint vouches for them`;
      return { code: "FOUND_UNSIGNED", verdict: "incomplete", byteOffset, turn, message };
    });
  }

  /** What is wrong with a checkpoint, its signature aside. */
  #codeOf(checkpoint: Checkpoint, place: number): FindingCode | null {
    const { byteOffset, session, log, seq, prev, seg, genesis } = checkpoint;
    if (byteOffset !== place) return "CHECKPOINT_MISPLACED";
    if (!statesFound(checkpoint, this.#pendingVoids)) return "CHECKPOINT_MISPLACED";
    if (session !== this.#source.name) return "OTHER_SESSION";
    if (log !== this.#genesis.log) return "OTHER_LOG";
    const { crypto } = this.#source;
    if (genesis !== undefined && genesis !== genesisHash(crypto, this.#genesis)) {
      return "CHAIN_BROKEN";
    }
    if (this.newest === null && !this.isFromStart) return null;
    if (seq !== (this.newest?.seq ?? -1) + 1 || prev !== this.#prev) return "CHAIN_BROKEN";
    return seg === toHex(this.#segment.digest()) ? null : "SEGMENT_MISMATCH";
  }

  /** Why the newest checkpoint's key is not trusted. */
  refusals(): Finding[] {
    const { newest } = this;
    const refusal = newest && this.#rotations.keyOf(newest).refusal;
    if (!newest || !refusal) return [];
    const message = "the newest checkpoint is signed by a key that is not trusted there";
    const { byteOffset, turn } = newest;
    return [{ code: refusal, verdict: "untrusted", byteOffset, turn, message }];
  }

  fault(code: FindingCode, byteOffset: number, turn: number | null): void {
    const message = `the bytes before byte ${byteOffset} are not those that were signed`;
    this.findings.push({ code, verdict: "tampered", byteOffset, turn, message });
  }
}

/** No checkpoint among the last bytes: nothing can be said about them. */
function nothingChecked(end: number): CheckResult {
  const message = "no signature covers the end that was checked";
  const finding: Finding = {
    code: "UNSIGNED",
    verdict: "unsigned",
    byteOffset: null,
    turn: null,
    message,
  };
  return {
    verdict: "unsigned",
    isWhole: false,
    stretches: { held: 0, total: 0 },
    turns: { held: 0, total: 0 },
    bytes: { checked: 0, total: end },
    keys: [],
    altered: [],
    findings: [finding],
    unsignedLines: 0,
    signedAt: null,
  };
}
