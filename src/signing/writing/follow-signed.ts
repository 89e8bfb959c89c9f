/**
 * Follow signed: takes over what other signing processes appended to a log since the last check.
 *
 * Every checkpoint among the new lines must match our state, including all hashes, and have a valid
 * signature by a trusted key; else nothing is signed on top of it (CHECKPOINT_MISMATCH). Lines
 * after the last checkpoint come from a writer that does not sign: they are recorded as found
 * (log-signer.ts, S3). If a verifier would call them tampering, they are refused, as on opening.
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
import { changedWhileRead, readCounted } from "../judging/inspect.ts";
import { newTail } from "../judging/tail-keeper.ts";
import type { SignableLog } from "../session-log.ts";
import type { LogSigner } from "./log-signer.ts";
import { unsignable } from "./open-to-sign.ts";

export interface Following {
  readonly target: SignableLog;
  readonly log: OpenFile;
  readonly crypto: ProofCrypto;
  /** The trusted keys, and the rotations followed so far. */
  readonly rotations: Rotations;
  /** Offset of what others appended: whole lines. */
  readonly from: number;
  readonly to: number;
  /** The draft that they are added to. */
  readonly draft: LogSigner;
  readonly onCheckpoint: OnCheckpoint;
}

export async function followSigned(following: Following): Promise<void> {
  const { target, log, crypto, from, to, draft } = following;
  const path = `${target.root}/${target.logId}`;
  const follower = new Follower(path, following);
  const walk = new Walk(crypto, envelopeOf(target.dialect), follower);
  for await (const chunk of readCounted(log, from, to, path)) walk.feed(chunk);
  // The caller saw whole lines there; its own lines would be appended to this partial one.
  if (walk.restBytes > 0) throw changedWhileRead(path, from + walk.end);
  follower.finish();
  draft.foundSince();
}

class Follower implements WalkHandler {
  readonly #path: string;
  readonly #following: Following;
  /** The lines after the last checkpoint so far. */
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

  /** Call after the last line: refuses lines that must not be signed. */
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
