/**
 * Store signing: the user's key, trust and pins, as the sessions of one store share them.
 *
 * The key is made by the first session that is signed, and never before.
 */

import type { Host } from "../base/host.ts";
import { userPlaces } from "../base/node-places.ts";
import type { Signing, WriterFacts } from "../dialects/dialect.ts";
import type { ForeignHead } from "../proof/checkpoint.ts";
import { Heads, placeOf } from "../signing/heads.ts";
import { loadSigner } from "../signing/keys.ts";
import { nodeCrypto } from "../signing/node-crypto.ts";
import type { SessionLog } from "../signing/session-log.ts";
import type { Signer } from "../signing/signer.ts";
import { Trust } from "../signing/trust.ts";
import { threadKeys, transcriptKeys } from "../signing/trusted-keys.ts";
import { Sealing } from "./sealing.ts";
import { SignedMeta } from "./signed-meta.ts";

/** `turn`: a checkpoint at the end of every turn. `append`: at the end of every append. */
export type SignOption = boolean | "turn" | "append";

export interface SealedSession {
  readonly log: SessionLog;
  /** The root by which pins name the place of the session. */
  readonly placeRoot: string;
  readonly signing: () => Signing;
  readonly facts: WriterFacts;
  /** Of a fork: the head of another log that this one begins from. */
  readonly from?: ForeignHead | null;
  readonly isEveryAppend: boolean;
  readonly rev: () => number;
  readonly revAhead?: () => number;
}

interface User {
  readonly signer: Signer;
  readonly trust: Trust;
}

export class StoreSigning {
  readonly #host: Host;
  readonly #onWarning: (warning: string) => void;
  readonly #heads: Heads;
  #user: Promise<User> | null = null;

  constructor(host: Host, onWarning: (warning: string) => void) {
    this.#host = host;
    this.#onWarning = onWarning;
    const { stateDirectory } = userPlaces();
    this.#heads = new Heads({ host, stateDirectory, onWarning });
  }

  async open({ log, placeRoot, ...rest }: SealedSession): Promise<Sealing> {
    const { signer, trust } = await this.user();
    return new Sealing({
      ...rest,
      host: this.#host,
      log,
      placeOf: () => placeOf(this.#host, { dialect: log.dialect, root: placeRoot }),
      crypto: nodeCrypto,
      signer,
      keys: transcriptKeys(trust, log.id),
      heads: this.#heads,
      onWarning: this.#onWarning,
    });
  }

  /** What signs the `thread.json` of a thread that is sealed. */
  async meta(threadId: string, sealing: Sealing, nowMs: () => number): Promise<SignedMeta> {
    const { signer, trust } = await this.user();
    return new SignedMeta({
      threadId,
      signer,
      crypto: nodeCrypto,
      keys: threadKeys(trust, threadId),
      nowMs,
      newest: () => sealing.newest,
      onWarning: this.#onWarning,
    });
  }

  /** The user's key, and whom they trust. */
  user(): Promise<User> {
    this.#user ??= this.#load();
    return this.#user;
  }

  /** A session that is gone for good must not be missed when its id is used again. */
  async forget({ dialect, id }: SessionLog, placeRoot: string): Promise<void> {
    const place = await placeOf(this.#host, { dialect, root: placeRoot });
    await this.#heads.forget({ place, id: id ?? "" }).catch(() => {
      this.#onWarning(
        `the head of ${id}, which is gone, is still pinned: \`verbatim head forget ${id}\``,
      );
    });
  }

  /** Resolves when every head is remembered. */
  close(): Promise<void> {
    return this.#heads.flush();
  }

  async #load(): Promise<User> {
    try {
      const places = userPlaces();
      const signer = await loadSigner(this.#host, places);
      return { signer, trust: await Trust.load(places) };
    } catch (cause) {
      this.#user = null; // The next session tries again.
      throw cause;
    }
  }
}
