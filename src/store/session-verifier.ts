/**
 * Session verifier: verdicts on the sessions that a person names, by their own trust and pins.
 *
 * Reads the user's keys, trust and pins once; writes nothing unless it is asked to pin.
 */

import { statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { VerbatimError } from "../base/errors.ts";
import type { Host } from "../base/host.ts";
import { type UserPlaces, userPlaces } from "../base/node-places.ts";
import { findLogs } from "../catalog/find.ts";
import type { PinBook } from "../proof/pins.ts";
import { readPinFile } from "../signing/head-export.ts";
import { type Found, Heads, placeOf, rememberedIn } from "../signing/heads.ts";
import { nodeCrypto } from "../signing/node-crypto.ts";
import type { VerifyReport } from "../signing/report.ts";
import { readHead } from "../signing/session-head.ts";
import type { SessionLog } from "../signing/session-log.ts";
import { Trust } from "../signing/trust.ts";
import { transcriptKeys } from "../signing/trusted-keys.ts";
import { verifyLog } from "../signing/verify.ts";
import type { VerifyOptions } from "../signing/verify-options.ts";
import { DIALECTS, type FoundStore, findSession, findStores, type Where } from "./find-session.ts";
import { LAYOUTS } from "./layouts.ts";

export interface VerifierOptions {
  readonly where: Where;
  readonly isDeep?: boolean;
  readonly requiresPin?: boolean;
  readonly isLegacyProfile?: boolean;
  /** A file of exported heads that count too. */
  readonly against?: string | null;
  /** Remember the heads of sessions that are verified. */
  readonly pins?: boolean;
  readonly places?: UserPlaces;
  readonly onWarning: (warning: string) => void;
}

export class SessionVerifier {
  readonly #host: Host;
  readonly #options: VerifierOptions;
  readonly #trust: Trust;
  readonly #heads: Heads;
  readonly #remembered: Found<PinBook>;

  private constructor(
    host: Host,
    options: VerifierOptions,
    known: { trust: Trust; heads: Heads; remembered: Found<PinBook> },
  ) {
    this.#host = host;
    this.#options = options;
    this.#trust = known.trust;
    this.#heads = known.heads;
    this.#remembered = known.remembered;
  }

  static async open(host: Host, options: VerifierOptions): Promise<SessionVerifier> {
    const places = options.places ?? userPlaces();
    const { stateDirectory } = places;
    const { onWarning, against = null } = options;
    const trust = await Trust.load(places);
    const heads = new Heads({ host, stateDirectory, onWarning });
    // Before any log is opened: a writer who goes on meanwhile can only be ahead (V4).
    const remembered = await heads.read();
    if (against !== null) {
      for (const pin of await readPinFile(host, against)) remembered.found.add(pin);
    }
    return new SessionVerifier(host, options, { trust, heads, remembered });
  }

  /** The logs that names mean: of sessions, of files, of all in a directory; of all from here. */
  async find(names: readonly string[]): Promise<SessionLog[]> {
    const { where } = this.#options;
    if (names.length === 0) return findStores(where).flatMap(logsOf);
    const found: SessionLog[] = [];
    for (const name of names) found.push(...(await this.#named(name)));
    return found;
  }

  /** The verdict on one. Never throws for what its files hold. */
  async verify(
    target: SessionLog,
    onProgress: (bytes: number, of: number) => void = () => {},
  ): Promise<VerifyReport> {
    const options = await this.#verifyOptions(target, onProgress);
    const report = await verifyLog(this.#host, target, options);
    const { id } = target;
    if (this.#options.pins === true && report.verdict === "verified" && id !== null) {
      const { head } = await readHead(this.#host, { ...target, id }, options);
      this.#heads.pin(head, "verified");
    }
    return report;
  }

  async close(): Promise<void> {
    await this.#heads.flush();
  }

  async #verifyOptions(
    target: SessionLog,
    onProgress: (bytes: number, of: number) => void,
  ): Promise<VerifyOptions> {
    const { isDeep, requiresPin, isLegacyProfile } = this.#options;
    const size = sizeOf(join(target.root, target.logId));
    let done = 0;
    return {
      crypto: nodeCrypto,
      keys: transcriptKeys(this.#trust, target.id),
      remembered: rememberedIn(this.#remembered, await this.#whose(target)),
      isDeep: isDeep === true,
      requiresPin: requiresPin === true,
      isLegacyProfile: isLegacyProfile === true,
      onProgress: (bytes) => {
        done += bytes;
        onProgress(Math.min(done, size), size);
      },
    };
  }

  /** Where pins remember a session; a file that lies in no store is known by its log alone. */
  async #whose({ dialect, root, id }: SessionLog): Promise<{ place: string; id: string }> {
    if (id === null) return { place: "", id: "" };
    try {
      return { place: await placeOf(this.#host, { dialect, root }), id };
    } catch {
      return { place: `${dialect}:${root}`, id }; // Gone: its pin says where it was.
    }
  }

  async #named(name: string): Promise<SessionLog[]> {
    const { where } = this.#options;
    try {
      const { dialect, root, id, path } = await findSession(this.#host, name, where);
      return [{ dialect, root, id, logId: relative(root, path) }];
    } catch (cause) {
      if (!(cause instanceof VerbatimError && cause.code === "SESSION_NOT_FOUND")) throw cause;
      const inside = logsBelow(resolve(where.cwd, name), where);
      if (inside.length > 0) return inside;
      const pinned = await this.#pinnedAs(name);
      if (pinned) return [pinned];
      throw cause;
    }
  }

  /** A session that is gone, and whose head was seen. */
  async #pinnedAs(id: string): Promise<SessionLog | null> {
    for (const { dialect, root } of findStores(this.#options.where)) {
      const whose = await this.#whose({ dialect, root, id, logId: "" });
      if (!rememberedIn(this.#remembered, whose).here) continue;
      return { dialect, root, id, logId: DIALECTS[dialect].logPath(id).join("/") };
    }
    return null;
  }
}

function logsOf({ dialect, root }: FoundStore): SessionLog[] {
  return findLogs(root, LAYOUTS[dialect]).map(({ id, path }) => {
    return { dialect, root, id, logId: path };
  });
}

/** The sessions in a directory: of a store whose root it is, or that lies above it. */
function logsBelow(directory: string, where: Where): SessionLog[] {
  if (!statSync(directory, { throwIfNoEntry: false })?.isDirectory()) return [];
  for (let root = directory; ; root = dirname(root)) {
    const logs = findStores({ ...where, root }).flatMap(logsOf);
    const inside = logs.filter((log) => join(log.root, log.logId).startsWith(`${directory}/`));
    if (inside.length > 0 || root === dirname(root)) return inside;
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
