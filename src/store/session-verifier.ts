/**
 * Session verifier: verdicts on the sessions that a person names, by their own trust and pins.
 *
 * Writes nothing unless it is asked to pin.
 *
 * SV1  A session whose head is remembered and whose log is gone is a session all the same: it is
 *      named, and found in its store and its directory, like those that are there.
 */

import { statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { VerbatimError } from "../base/errors.ts";
import type { Host } from "../base/host.ts";
import { homeagentRoot } from "../base/node-places.ts";
import { findLogs } from "../catalog/find.ts";
import type { VerifyReport } from "../signing/report.ts";
import { readHead } from "../signing/session-head.ts";
import type { SessionLog } from "../signing/session-log.ts";
import { verifyLog } from "../signing/verify.ts";
import type { VerifyOptions } from "../signing/verify-options.ts";
import { DIALECTS, findSession } from "./find-session.ts";
import { DIALECT_NAMES, type FoundStore, findStores, type Where } from "./find-stores.ts";
import { LAYOUTS } from "./layouts.ts";
import { type JudgingOptions, UserJudging } from "./user-judging.ts";

export interface VerifierOptions extends JudgingOptions {
  readonly where: Where;
  readonly isDeep?: boolean;
  readonly requiresPin?: boolean;
  readonly isLegacyProfile?: boolean;
  /** Remember the heads of sessions that are verified. */
  readonly pins?: boolean;
}

export class SessionVerifier {
  readonly #host: Host;
  readonly #options: VerifierOptions;
  readonly #judging: UserJudging;

  private constructor(host: Host, options: VerifierOptions, judging: UserJudging) {
    this.#host = host;
    this.#options = options;
    this.#judging = judging;
  }

  static async open(host: Host, options: VerifierOptions): Promise<SessionVerifier> {
    return new SessionVerifier(host, options, await UserJudging.load(host, options));
  }

  /** The logs that names mean: of sessions, of files, of all in a directory; of all from here. */
  async find(names: readonly string[]): Promise<SessionLog[]> {
    const found: SessionLog[] = [];
    if (names.length === 0) {
      for (const store of findStores(this.#options.where)) found.push(...(await this.#all(store)));
    }
    for (const name of names) found.push(...(await this.#named(name)));
    return found;
  }

  /** The verdict on one. Never throws for what its files hold. */
  async verify(
    target: SessionLog,
    onProgress: (bytes: number, of: number) => void = () => {},
  ): Promise<VerifyReport> {
    const report = await verifyLog(
      this.#host,
      target,
      await this.#verifyOptions(target, onProgress),
    );
    const { id } = target;
    if (this.#options.pins === true && report.verdict === "verified" && id !== null) {
      const options = await this.#verifyOptions(target, () => {});
      const { head } = await readHead(this.#host, { ...target, id }, options);
      this.#judging.heads.pin(head, "verified");
    }
    return report;
  }

  async close(): Promise<void> {
    await this.#judging.heads.flush();
  }

  async #verifyOptions(
    target: SessionLog,
    onProgress: (bytes: number, of: number) => void,
  ): Promise<VerifyOptions> {
    const { isDeep, requiresPin, isLegacyProfile } = this.#options;
    const size = sizeOf(join(target.root, target.logId));
    let done = 0;
    return {
      ...(await this.#judging.optionsFor(target)),
      isDeep: isDeep === true,
      requiresPin: requiresPin === true,
      isLegacyProfile: isLegacyProfile === true,
      onProgress: (bytes) => {
        done += bytes;
        onProgress(Math.min(done, size), size);
      },
    };
  }

  async #named(name: string): Promise<SessionLog[]> {
    const { where } = this.#options;
    try {
      const { dialect, root, id, path } = await findSession(this.#host, name, where);
      return [{ dialect, root, id, logId: relative(root, path) }];
    } catch (cause) {
      if (!(cause instanceof VerbatimError && cause.code === "SESSION_NOT_FOUND")) throw cause;
      const inside = await this.#below(resolve(where.cwd, name));
      if (inside.length > 0) return inside;
      const gone = await this.#goneAs(name);
      if (gone) return [gone];
      throw cause;
    }
  }

  /** The sessions of a store, those that are gone last. */
  async #all(store: FoundStore): Promise<SessionLog[]> {
    const { dialect, root } = store;
    const logs: SessionLog[] = findLogs(root, LAYOUTS[dialect]).map(({ id, path }) => {
      return { dialect, root, id, logId: path };
    });
    const known = new Set(logs.map(({ id }) => id));
    const { place } = await this.#judging.whose(sessionIn(store, ""));
    for (const { pin } of this.#judging.book.found.current()) {
      if (pin.place !== place || known.has(pin.id)) continue;
      const gone = goneIn(store, pin.id);
      if (gone) logs.push(gone); // SV1
    }
    return logs;
  }

  /** The sessions in a directory: of a store whose root it is, or that lies above it. */
  async #below(directory: string): Promise<SessionLog[]> {
    if (!statSync(directory, { throwIfNoEntry: false })?.isDirectory()) return [];
    for (let root = directory; ; root = dirname(root)) {
      const logs: SessionLog[] = [];
      const stores = findStores({ ...this.#options.where, root });
      for (const store of stores) logs.push(...(await this.#all(store)));
      const inside = logs.filter((log) => join(log.root, log.logId).startsWith(`${directory}/`));
      if (inside.length > 0 || root === dirname(root)) return inside;
    }
  }

  /** A session of that id whose log is gone, perhaps with its whole store, and whose head was seen. */
  async #goneAs(id: string): Promise<SessionLog | null> {
    for (const store of placesFrom(this.#options.where)) {
      const gone = goneIn(store, id);
      const whose = gone && (await this.#judging.whose(gone));
      if (whose && this.#judging.book.found.lookup({ ...whose, log: null })) return gone;
    }
    return null;
  }
}

/** Where stores are, or were. */
function placesFrom({ cwd, root, dialect }: Where): FoundStore[] {
  const names = dialect === undefined ? DIALECT_NAMES : [dialect];
  const roots = [resolve(cwd, root ?? ".")];
  for (let at = roots[0] ?? "/"; root === undefined && at !== dirname(at); ) {
    at = dirname(at);
    roots.push(at);
  }
  return names.flatMap((name) => {
    const own = name === "homeagent" && root === undefined ? [homeagentRoot()] : [];
    return [...own, ...roots].map((each) => ({ dialect: name, root: each }));
  });
}

/** Null for what can be no id of that dialect. */
function goneIn(store: FoundStore, id: string): SessionLog | null {
  try {
    return { ...sessionIn(store, id), logId: DIALECTS[store.dialect].logPath(id).join("/") };
  } catch {
    return null;
  }
}

function sessionIn({ dialect, root }: FoundStore, id: string): SessionLog {
  return { dialect, root, id, logId: "" };
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
