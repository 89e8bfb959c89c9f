/**
 * Follow signed: takes over what other signing processes appended to a log since we last looked.
 *
 * Every checkpoint among the new lines must fit what we know, to the last hash, and its signature
 * must hold under a trusted key; else nothing is signed on top of it (CHECKPOINT_MISMATCH). Lines
 * after the last one were written by somebody who does not sign: they are found (log-signer.ts, S3),
 * unless a verifier would call them tampering. Then they are refused, as on opening.
 */

import { VerbatimError } from "../../base/errors.ts";
import type { OpenFile } from "../../base/files.ts";
import { toHex } from "../../proof/bytes.ts";
import type { Claim } from "../../proof/claims.ts";
import type { ProofCrypto } from "../../proof/crypto.ts";
import { envelopeOf } from "../../proof/envelopes.ts";
import type { OnCheckpoint } from "../../proof/judge.ts";
import type { Rotations } from "../../proof/rotations.ts";
import type { TailJudge } from "../../proof/tail.ts";
import { Walk, type WalkHandler } from "../../proof/walk.ts";
import { changedWhileRead, readCounted } from "../judging/read-counted.ts";
import { newTail } from "../judging/tail-keeper.ts";
import type { SignableLog } from "../session-log.ts";
import type { LogSigner } from "./log-signer.ts";
import { unsignable } from "./open-to-sign.ts";

export interface Following {
  readonly target: SignableLog;
  readonly log: OpenFile;
  readonly crypto: ProofCrypto;
  /** The keys that count, and the rotations that were followed so far. */
  readonly rotations: Rotations;
  /** What others appended: whole lines. */
  readonly from: number;
  readonly to: number;
  /** Where they are added to what is known. */
  readonly draft: LogSigner;
  readonly onCheckpoint: OnCheckpoint;
}

export async function followSigned(following: Following): Promise<void> {
  const { target, log, crypto, from, to, draft } = following;
  const path = `${target.root}/${target.logId}`;
  const follower = new Follower(path, following);
  const walk = new Walk(crypto, envelopeOf(target.dialect), follower);
  for await (const chunk of readCounted(log, from, to, path)) walk.feed(chunk);
  // The caller saw whole lines there; what it appends would be glued to this.
  if (walk.restBytes > 0) throw changedWhileRead(path, from + walk.end);
  follower.finish();
  draft.foundSince();
}

class Follower implements WalkHandler {
  readonly #path: string;
  readonly #following: Following;
  /** What stands after the last checkpoint so far. */
  #tail: TailJudge;

  constructor(path: string, following: Following) {
    this.#path = path;
    this.#following = following;
    this.#tail = this.#tailFrom(following.from);
  }

  lines(bytes: Uint8Array): void {
    this.#following.draft.addOthersLines(bytes);
    this.#tail.feed(bytes);
  }

  /** After the last line: refuses what nobody may sign. */
  finish(): void {
    const { fault } = this.#tail;
    if (fault) throw unsignable(this.#path, fault);
  }

  claim(line: Uint8Array, start: number, claim: Claim): void {
    const { crypto, rotations, draft, from, onCheckpoint } = this.#following;
    const checkpoint = claim.is === "checkpoint" ? claim.checkpoint : null;
    if (checkpoint) rotations.comes(checkpoint);
    const key = checkpoint && rotations.keyOf(checkpoint);
    const holds =
      checkpoint !== null &&
      key?.publicKey != null &&
      key.refusal === null &&
      checkpoint.session === this.#following.target.id &&
      checkpoint.byteOffset === from + start &&
      draft.fits(checkpoint) &&
      crypto.verifyEd25519(key.publicKey, checkpoint.statement, checkpoint.sig2);
    if (!holds) {
      throw new VerbatimError(
        "CHECKPOINT_MISMATCH",
        `what another writer appended to ${this.#path} at byte ${from + start} does not verify, and ` +
          "nothing is signed on top of it; `verbatim verify` says more",
        { path: this.#path, offset: from + start, verdict: "tampered" },
      );
    }
    rotations.holds(checkpoint);
    draft.adopt(checkpoint, line);
    onCheckpoint(checkpoint.seq, toHex(crypto.sha256(line)), checkpoint);
    this.#tail = this.#tailFrom(from + start + line.length);
  }

  #tailFrom(start: number): TailJudge {
    return newTail(envelopeOf(this.#following.target.dialect), this.#following.target.id, start);
  }
}
