/**
 * Follow signed: takes over what other signing processes appended to a log since the last check.
 *
 * Every checkpoint among the new lines must match our state, including all hashes, and have a valid
 * signature by a trusted key; else nothing is signed on top of it (CHECKPOINT_MISMATCH). Lines
 * after the last checkpoint come from a writer that does not sign: they are recorded as found
 * (log-signer.ts, S3). If a verifier would call them tampering, they are refused, as on opening.
 *
 * Checkpoints of ours or of other signers may be void among them (void-checkpoints.ts).
 */

import { VerbatimError } from "../../core/base/errors.ts";
import type { OpenFile } from "../../core/base/files.ts";
import { changedWhileRead, readExactly } from "../judge/inspect.ts";
import { newTail } from "../judge/tail-keeper.ts";
import { toHex } from "../proof/bytes.ts";
import type { Checkpoint } from "../proof/checkpoint.ts";
import type { Claim } from "../proof/claims.ts";
import type { ProofCrypto } from "../proof/crypto.ts";
import { envelopeOf } from "../proof/envelopes.ts";
import type { OnCheckpoint } from "../proof/judge.ts";
import type { Rotations } from "../proof/rotations.ts";
import type { TailJudge } from "../proof/tail.ts";
import {
  mayBeVoid,
  statesFound,
  type VoidCheckpoint,
  VoidHashes,
  voidOf,
} from "../proof/void-checkpoints.ts";
import { Walk, type WalkHandler } from "../proof/walk.ts";
import { WholeLines } from "../proof/whole-lines.ts";
import type { SignableLog } from "../session-log.ts";
import type { LogSigner } from "./log-signer.ts";
import { unsignable } from "./open-to-sign.ts";

export interface FollowedLog {
  readonly target: SignableLog;
  readonly log: OpenFile;
  readonly crypto: ProofCrypto;
  /** The trusted keys, and the rotations followed so far. */
  readonly rotations: Rotations;
  /** Offset of what others appended: whole lines. */
  readonly from: number;
  readonly to: number;
  readonly signer: LogSigner;
  /** The draft of it that they are added to. */
  readonly draft: LogSigner;
  readonly onCheckpoint: OnCheckpoint;
}

export async function followSigned(following: FollowedLog): Promise<void> {
  const { target, log, crypto, from, to, draft } = following;
  const path = `${target.root}/${target.logId}`;
  const follower = new Follower(path, following);
  const walk = new Walk(crypto, envelopeOf(target.dialect), follower);
  for await (const chunk of readExactly(log, from, to, path)) walk.feed(chunk);
  // The caller saw whole lines there; its own lines would be appended to this partial one.
  if (walk.restBytes > 0) throw changedWhileRead(path, from + walk.end);
  const { foundFrom, voids } = follower.finish();
  if (voids.length > 0) await checkVoids(path, following, voids);
  draft.stateFound(foundFrom, to);
}

/** The hash that each void checkpoint states is that of the lines before its offset. */
async function checkVoids(
  path: string,
  { log, signer, from, to }: FollowedLog,
  voids: readonly VoidCheckpoint[],
): Promise<void> {
  const again = signer.draft();
  const update = (bytes: Uint8Array) => again.addOthersLines(bytes);
  const hashes = new VoidHashes(voids, { update, hex: () => again.covered.hash }, from);
  const whole = new WholeLines((lines) => hashes.lines(lines));
  for await (const chunk of readExactly(log, from, to, path)) whole.feed(chunk);
  if (hashes.wrong) throw mismatch(path, hashes.wrong.start);
}

function mismatch(path: string, offset: number): VerbatimError {
  return new VerbatimError(
    "CHECKPOINT_MISMATCH",
    `what another writer appended to ${path} at byte ${offset} does not verify, and nothing is ` +
      "signed on top of it; `verbatim verify` says more",
    { path, offset, verdict: "tampered" },
  );
}

class Follower implements WalkHandler {
  readonly #path: string;
  readonly #following: FollowedLog;
  /** The lines after the last checkpoint so far. */
  #tail: TailJudge;
  /** After the last checkpoint that counts, and all that are void. */
  #end: number;
  #pending: VoidCheckpoint[] = [];
  readonly #voids: VoidCheckpoint[] = [];

  constructor(path: string, following: FollowedLog) {
    this.#path = path;
    this.#following = following;
    this.#end = following.from;
    this.#tail = this.#tailFrom(following.from);
  }

  lines(bytes: Uint8Array): void {
    this.#following.draft.addOthersLines(bytes);
    this.#tail.feed(bytes);
  }

  /** Call after the last line: refuses lines that must not be signed. */
  finish(): { readonly foundFrom: number; readonly voids: readonly VoidCheckpoint[] } {
    const { fault } = this.#tail;
    if (fault) throw unsignable(this.#path, fault);
    return { foundFrom: this.#end, voids: this.#voids };
  }

  claim(line: Uint8Array, offset: number, claim: Claim): void {
    const { crypto, rotations, draft, from, onCheckpoint } = this.#following;
    const start = from + offset;
    const checkpoint = claim.is === "checkpoint" ? claim.checkpoint : null;
    if (!checkpoint || checkpoint.session !== this.#following.target.id) {
      throw mismatch(this.#path, start);
    }
    if (checkpoint.byteOffset !== start) {
      this.#takeVoid(checkpoint, line, start);
      return;
    }
    rotations.comes(checkpoint);
    if (
      !this.#holds(checkpoint) ||
      !draft.fits(checkpoint) ||
      !statesFound(checkpoint, this.#pending)
    ) {
      throw mismatch(this.#path, start);
    }
    rotations.holds(checkpoint);
    draft.adopt(checkpoint, line);
    onCheckpoint(checkpoint.seq, toHex(crypto.sha256(line)), checkpoint);
    this.#pending = [];
    this.#end = start + line.length;
    this.#tail = this.#tailFrom(this.#end);
  }

  #takeVoid(checkpoint: Checkpoint, line: Uint8Array, start: number): void {
    const { crypto, rotations, draft } = this.#following;
    const next = { seq: draft.seq, prev: draft.prev, log: draft.log, end: this.#end };
    rotations.precedes(checkpoint);
    if (!mayBeVoid(checkpoint, start, next) || !this.#holds(checkpoint)) {
      throw mismatch(this.#path, start);
    }
    const taken = voidOf(checkpoint, start, line, crypto);
    this.#pending.push(taken);
    this.#voids.push(taken);
    this.lines(line);
  }

  /** Whether its signature is valid, under a key that counts. */
  #holds(checkpoint: Checkpoint): boolean {
    const { crypto, rotations } = this.#following;
    const { publicKey, refusal } = rotations.keyOf(checkpoint);
    return (
      publicKey !== null &&
      refusal === null &&
      crypto.verifyEd25519(publicKey, checkpoint.statement, checkpoint.sig2)
    );
  }

  #tailFrom(start: number): TailJudge {
    const isVoid = (at: number) => this.#voids.some((each) => each.start === at);
    const { target } = this.#following;
    return newTail(envelopeOf(target.dialect), target.id, start, { isVoid });
  }
}
