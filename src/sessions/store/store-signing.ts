/**
 * Store signing: the user's key, trust and pins, shared by the sessions of one store.
 *
 * The first signed session creates the key, nothing before it. The current key and the trusted keys
 * are read again whenever a session is opened or lines of other writers are judged, because keys
 * may be rotated or revoked meanwhile.
 */

import type { Host } from "../../core/base/host.ts";
import { type UserPaths, userPaths } from "../../core/base/node-paths.ts";
import type { SigningTools } from "../../dialects/facets/files.ts";
import type { Spilling, WriterFacts } from "../../dialects/facets/writing.ts";
import { SpillProof } from "../../dialects/files/spill-proof.ts";
import { Heads } from "../../trust/heads/heads.ts";
import { rootNames } from "../../trust/heads/session-head.ts";
import { CurrentKeys } from "../../trust/keys/current-keys.ts";
import type { Signer } from "../../trust/keys/keys.ts";
import { loadSigner } from "../../trust/keys/keys.ts";
import { nodeCrypto } from "../../trust/keys/node-crypto.ts";
import type { SignedHead } from "../../trust/proof/checkpoint.ts";
import type { SessionLog } from "../../trust/session-log.ts";
import { SignedSessionFiles, sessionPins } from "../../trust/signer/session-files.ts";
import { SignedLog } from "../../trust/signer/signed-log.ts";
import { Trust, transcriptKeys } from "../../trust/trusted-keys/trust.ts";
import type { SessionSigning } from "./session-signing.ts";

/** `turn`: a checkpoint at the end of every turn. `append`: at the end of every append. */
export type SignOption = boolean | "turn" | "append";

export interface SessionToSign {
  readonly log: SessionLog;
  /** The store root that pins name. */
  readonly placeRoot: string;
  /** How the dialect moves long values into spill files; absent if it does not. */
  readonly spilling?: Spilling | undefined;
  readonly facts: WriterFacts;
  /** Of a fork: the head of another log where this one begins. */
  readonly from?: SignedHead | null;
  readonly isLegacyProfile?: boolean;
  readonly isEveryAppend: boolean;
  /** As in `SessionSigning`; default: the newest checkpoint's. */
  readonly revision?: (isLast: boolean) => number;
  /** The checkpoint that a file of the dialect names as its head, correct or not. */
  readonly namedSeq?: () => Promise<number | null>;
}

interface User {
  readonly signer: Signer;
  readonly places: UserPaths;
}

export class StoreSigning {
  readonly #host: Host;
  readonly #onWarning: (warning: string) => void;
  readonly #heads: Heads;
  #user: Promise<User> | null = null;

  constructor(host: Host, onWarning: (warning: string) => void) {
    this.#host = host;
    this.#onWarning = onWarning;
    const { stateDirectory } = userPaths();
    this.#heads = new Heads({ host, stateDirectory, onWarning });
  }

  async open(session: SessionToSign): Promise<SessionSigning> {
    const { log: target, placeRoot, spilling, facts, isEveryAppend, from = null } = session;
    const { isLegacyProfile = false, namedSeq } = session;
    const { signer, places } = await this.user();
    const host = this.#host;
    const current = new CurrentKeys(places, signer);
    const placing = { dialect: target.dialect, root: placeRoot };
    const log = new SignedLog({
      target,
      files: new SignedSessionFiles(host, target),
      crypto: nodeCrypto,
      signer,
      isLegacyProfile,
      ...(namedSeq ? { namedSeq } : {}),
      ...sessionPins(this.#heads, target.id ?? "", () => rootNames(host, placing)),
      own: async () => (await current.read()).own,
      keys: async () => transcriptKeys((await current.read()).trust, target.id),
      nowMs: () => facts.nowMs,
      newFilesProof: () => (spilling ? new SpillProof(host, target, spilling) : null),
      from: async () => from,
    });
    const { revision = () => log.newest?.rev ?? 0 } = session;
    const pinned = () => this.#heads.flush();
    return { log, isEveryAppend, revision, pinned, onWarning: this.#onWarning };
  }

  /** The tools to sign a signed session's small files. */
  async toolsFor(log: SignedLog, nowMs: () => number): Promise<SigningTools> {
    const { signer, places } = await this.user();
    return {
      signer,
      crypto: nodeCrypto,
      trust: () => Trust.load(places),
      nowMs,
      newest: () => log.newest,
      named: () => log.named,
      onWarning: this.#onWarning,
    };
  }

  /** The user's key, and access to the trusted keys. */
  user(): Promise<User> {
    this.#user ??= this.#load();
    return this.#user;
  }

  /** Unpins a deleted session, so that reusing its id does not report it as missing. */
  async forget({ dialect, id }: SessionLog, placeRoot: string): Promise<void> {
    const { place, others } = await rootNames(this.#host, { dialect, root: placeRoot });
    for (const each of [place, ...others]) {
      await this.#heads.forget({ place: each, id: id ?? "" }).catch(() => {
        this.#onWarning(
          `the head of ${id}, which is gone, is still pinned: \`verbatim keys head forget ${id}\``,
        );
      });
    }
  }

  /** Resolves when every head is pinned. */
  close(): Promise<void> {
    return this.#heads.flush();
  }

  async #load(): Promise<User> {
    try {
      const places = userPaths();
      return { signer: await loadSigner(this.#host, places), places };
    } catch (cause) {
      this.#user = null; // The next session tries again.
      throw cause;
    }
  }
}
