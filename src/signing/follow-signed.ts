/**
 * Follow signed: takes over what other signing processes appended to a log since we last looked.
 *
 * Every checkpoint among the new lines must fit what we know, to the last hash, and its signature
 * must hold under a trusted key; else nothing is signed on top of it (CHECKPOINT_MISMATCH). Lines
 * after the last one were written by somebody who does not sign: they are found (log-signer.ts, S3).
 */

import { VerbatimError } from "../base/errors.ts";
import type { Host } from "../base/host.ts";
import { readChunks } from "../log/bytes.ts";
import { openPlace, openToRead } from "../log/place.ts";
import type { Claim } from "../proof/claims.ts";
import type { ProofCrypto } from "../proof/crypto.ts";
import type { Keys } from "../proof/keys.ts";
import { Walk, type WalkHandler } from "../proof/walk.ts";
import type { Draft } from "./checkpoint-draft.ts";
import { envelopeOf } from "./inspect.ts";

import type { SessionLog } from "./session-log.ts";

export interface Following {
  readonly host: Host;
  readonly log: SessionLog;
  readonly crypto: ProofCrypto;
  readonly keys: Keys;
  /** What others appended: whole lines. */
  readonly from: number;
  readonly to: number;
  /** Where they are added to what is known. */
  readonly draft: Draft;
}

export async function followSigned({ host, log: target, ...rest }: Following): Promise<void> {
  const { logId, root } = target;
  const place = await openPlace(host, logId, { create: false, root });
  try {
    const log = openToRead(place);
    try {
      const envelope = await envelopeOf(target.dialect, log);
      const { crypto, from, to, draft } = rest;
      const walk = new Walk(crypto, envelope, new Follower(place.path, target.id, rest));
      for await (const chunk of readChunks(log, from, to)) walk.feed(chunk);
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
  readonly #session: string | null;
  readonly #following: Omit<Following, "host" | "log">;

  constructor(path: string, session: string | null, following: Omit<Following, "host" | "log">) {
    this.#path = path;
    this.#session = session;
    this.#following = following;
  }

  lines(bytes: Uint8Array): void {
    this.#following.draft.addOthersLines(bytes);
  }

  claim(line: Uint8Array, start: number, claim: Claim): void {
    const { crypto, keys, draft, from } = this.#following;
    const checkpoint = claim.is === "checkpoint" ? claim.checkpoint : null;
    const key = checkpoint && keys.byKid(checkpoint.kid, checkpoint.ts);
    const holds =
      checkpoint !== null &&
      key?.publicKey != null &&
      key.refusal === null &&
      checkpoint.session === this.#session &&
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
    draft.adopt(checkpoint, line);
  }
}
