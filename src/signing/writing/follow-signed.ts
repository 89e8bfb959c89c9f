/**
 * Follow signed: takes over what other signing processes appended to a log since we last looked.
 *
 * Every checkpoint among the new lines must fit what we know, to the last hash, and its signature
 * must hold under a trusted key; else nothing is signed on top of it (CHECKPOINT_MISMATCH). Lines
 * after the last one were written by somebody who does not sign: they are found (log-signer.ts, S3),
 * unless a verifier would call them tampering. Then they are refused, as on opening.
 */

import { VerbatimError } from "../../base/errors.ts";
import type { Host } from "../../base/host.ts";
import { openPlace, openToRead } from "../../log/place.ts";
import { toHex } from "../../proof/bytes.ts";
import type { Claim } from "../../proof/claims.ts";
import type { ProofCrypto } from "../../proof/crypto.ts";
import type { OnCheckpoint } from "../../proof/judge.ts";
import type { Rotations } from "../../proof/rotations.ts";
import type { TailJudge } from "../../proof/tail.ts";
import { Walk, type WalkHandler } from "../../proof/walk.ts";
import { changedWhileRead, readCounted } from "../judging/read-counted.ts";
import { newTail } from "../judging/tail-keeper.ts";
import { envelopeOf, type SessionLog } from "../session-log.ts";
import type { LogSigner } from "./log-signer.ts";
import { unsignable } from "./open-to-sign.ts";

export interface Following {
  readonly host: Host;
  readonly log: SessionLog;
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

export async function followSigned({ host, log: target, ...rest }: Following): Promise<void> {
  const { logId, root } = target;
  const place = await openPlace(host, logId, { create: false, root });
  try {
    const log = openToRead(place);
    try {
      const { crypto, from, to, draft } = rest;
      const follower = new Follower(place.path, target, rest);
      const walk = new Walk(crypto, envelopeOf(target.dialect), follower);
      for await (const chunk of readCounted(log, from, to, place.path)) walk.feed(chunk);
      // The caller saw whole lines there; what it appends would be glued to this.
      if (walk.restBytes > 0) throw changedWhileRead(place.path, from + walk.end);
      follower.finish();
      draft.foundSince();
    } finally {
      log.close();
    }
  } finally {
    place.directory.close();
  }
}

class Follower implements WalkHandler {
  readonly #path: string;
  readonly #log: SessionLog;
  readonly #following: Omit<Following, "host" | "log">;
  /** What stands after the last checkpoint so far. */
  #tail: TailJudge;

  constructor(path: string, log: SessionLog, following: Omit<Following, "host" | "log">) {
    this.#path = path;
    this.#log = log;
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
      checkpoint.session === this.#log.id &&
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
    return newTail(envelopeOf(this.#log.dialect), this.#log.id, start);
  }
}
