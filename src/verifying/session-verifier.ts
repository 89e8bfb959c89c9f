/**
 * Session verifier: verdicts on the sessions that a person names, by their own trust and pins.
 *
 * Writes nothing unless it is asked to pin.
 *
 * SV1  A session whose head is remembered and whose log is gone is a session all the same: it is
 *      named, and found in its store and its directory, like those that are there, also when the
 *      store or the directory went with it.
 * SV2  What is in a store and cannot be looked at, be it a log, a directory or a link, is not passed
 *      over: it has a verdict, which is that it is unreadable. So has a log in a place where no session
 *      can be: a directory that was renamed to what is no id would hide what is in it.
 * SV3  Checkpoints whose log is gone are a session all the same, pinned or not.
 * SV4  Recorded hooks that wait in a spool are not signed yet: the session is incomplete, also when it
 *      has no log so far.
 */

import { join, relative, resolve } from "node:path";
import { VerbatimError } from "../base/errors.ts";
import type { Host } from "../base/host.ts";
import { eachLog, type Layout } from "../catalog/find.ts";
import { dialectNamed, hostOf } from "../dialects/all.ts";
import { findSession } from "../listing/find-session.ts";
import { type FoundStore, findStores, statOf, type Where } from "../listing/find-stores.ts";
import { goneIn, lookedAt, storesOrPinned, upwardsFrom } from "../listing/gone-sessions.ts";
import { hasSidecar } from "../proof/envelopes.ts";
import type { Head } from "../proof/pin.ts";
import { worse } from "../proof/verdict.ts";
import { readHead } from "../signing/heads/session-head.ts";
import { unreadableReport } from "../signing/judging/assemble.ts";
import { changedWhileRead } from "../signing/judging/read-counted.ts";
import type { VerifyReport } from "../signing/judging/report.ts";
import { verifyLog } from "../signing/judging/verify.ts";
import type { VerifyOptions } from "../signing/judging/verify-options.ts";
import { type SessionLog, sidecarOf } from "../signing/session-log.ts";
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
  readonly judging: UserJudging;
  readonly #host: Host;
  readonly #options: VerifierOptions;
  /** Heads of sessions that are verified, to be pinned at the end. */
  readonly #verified: Head[] = [];
  /** Logs that lie where no session can be (SV2), by their paths. */
  readonly #withoutId = new Set<string>();
  /** Of each store, how many hooks wait for which session. */
  readonly #waiting = new Map<string, ReadonlyMap<string, number>>();

  private constructor(host: Host, options: VerifierOptions, judging: UserJudging) {
    this.#host = host;
    this.#options = options;
    this.judging = judging;
  }

  static async open(host: Host, options: VerifierOptions): Promise<SessionVerifier> {
    return new SessionVerifier(host, options, await UserJudging.load(host, options));
  }

  /** The logs that names mean: of sessions, of files, of all in a directory; of all from here. */
  async find(names: readonly string[]): Promise<SessionLog[]> {
    const found: SessionLog[] = [];
    if (names.length === 0) {
      const { where } = this.#options;
      const stores = await this.#stores(where);
      // Where there is none, this says what is wrong with `--root`.
      if (stores.length === 0) stores.push(...findStores(where).filter(isOfSessions));
      for (const store of stores) found.push(...(await this.#all(store)));
    }
    for (const name of names) found.push(...(await this.#named(name)));
    return found;
  }

  /** The sessions in a directory that may have none. */
  findIn(directory: string): Promise<SessionLog[]> {
    return this.#below(resolve(this.#options.where.cwd, directory));
  }

  /** The verdict on one. Never throws for what its files hold. */
  async verify(
    target: SessionLog,
    onProgress: (bytes: number, of: number) => void = () => {},
  ): Promise<VerifyReport> {
    const options = await this.#verifyOptions(target, onProgress);
    if (this.#withoutId.has(join(target.root, target.logId))) {
      return unreadableReport(target, options, new Error(NO_ID));
    }
    const report = await verifyLog(hostOf(this.#host, target), target, options);
    const { id } = target;
    const waiting = this.#waitingFor(target);
    if (waiting > 0) return withWaitingHooks(report, waiting);
    if (this.#options.pins !== true || report.verdict !== "verified" || id === null) return report;
    const again = await this.#verifyOptions(target, () => {});
    const { head } = await readHead(this.#host, { ...target, id }, again);
    // Only what was found good is pinned: the log may be another by now, or one that was cut back.
    if (head.line !== report.signed_through?.line) {
      return unreadableReport(target, options, changedWhileRead(report.path, 0));
    }
    this.#verified.push(head);
    return report;
  }

  /** SV4: how many recorded hooks are not in the session's log yet. */
  #waitingFor({ id, ...store }: SessionLog): number {
    return id === null ? 0 : (this.#waitingIn(store).get(id) ?? 0);
  }

  #waitingIn({ dialect, root }: Pick<SessionLog, "dialect" | "root">): ReadonlyMap<string, number> {
    const { inbox } = dialectNamed(dialect);
    if (!inbox) return NONE;
    const known = this.#waiting.get(root) ?? inbox.waiting(root);
    this.#waiting.set(root, known);
    return known;
  }

  /** Pins what was to be pinned, durably; throws what keeps it from being written. */
  async close(): Promise<void> {
    const verified = this.#verified.splice(0);
    if (verified.length > 0) await this.judging.heads.pinNow(verified);
  }

  async #verifyOptions(
    target: SessionLog,
    onProgress: (bytes: number, of: number) => void,
  ): Promise<VerifyOptions> {
    const { isDeep, requiresPin, isLegacyProfile } = this.#options;
    const size = sizeOf(join(target.root, target.logId));
    let done = 0;
    return {
      ...(await this.judging.optionsFor(target)),
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
      const target = { dialect, root, id, logId: relative(root, path) };
      if (id !== null) return [target];
      // A directory is not only the log of nobody's that lies in it.
      const inside = (await this.findIn(name)).filter((log) => join(log.root, log.logId) !== path);
      return [target, ...inside];
    } catch (cause) {
      const code = cause instanceof VerbatimError ? cause.code : null;
      if (code === "IO_ERROR" || code === "UNSAFE_PATH") {
        const refused = await this.#refusedAs(name);
        if (refused) return [refused];
      }
      if (code !== "SESSION_NOT_FOUND") throw cause;
      const inside = await this.findIn(name);
      if (inside.length > 0) return inside;
      const gone = this.#waitingAs(name) ?? (await this.#goneAs(name));
      if (gone) return [gone];
      throw cause;
    }
  }

  /** The sessions of a store, those that are gone last. */
  async #all(store: FoundStore): Promise<SessionLog[]> {
    const { dialect, root } = store;
    const logs: SessionLog[] = [];
    const add = ({ id, path }: { readonly id: string | null; readonly path: string }) => {
      logs.push({ dialect, root, id, logId: path });
    };
    const onNoId = (path: string) => {
      this.#withoutId.add(join(root, path));
      add({ id: null, path });
    };
    const options = { byLinkCount: false, onUnreadable: add, onNoId }; // SV2
    for (const log of eachLog(root, dialectNamed(dialect).layout, options)) add(log);
    const known = new Set<string | null>(logs.map(({ id }) => id));
    for (const { id, size } of hasSidecar(dialect) ? eachLog(root, sidecarsOf(dialect)) : []) {
      const gone = size > 0 && !known.has(id) && goneIn(store, id); // SV3
      if (gone) logs.push(gone);
      known.add(id);
    }
    const { place, others } = await this.judging.namesOf(store);
    for (const { pin } of this.judging.book.found.current()) {
      if (known.has(pin.id) || ![place, ...others].includes(pin.place)) continue;
      known.add(pin.id);
      const gone = goneIn(store, pin.id);
      if (gone) logs.push(gone); // SV1
    }
    for (const id of this.#waitingIn(store).keys()) {
      const log = logs.some((each) => each.id === id) ? null : goneIn(store, id);
      if (log) logs.push(log); // SV4
    }
    return logs;
  }

  /** The sessions in a directory: of stores whose root it is, or that lie above it. */
  async #below(directory: string): Promise<SessionLog[]> {
    const logs: SessionLog[] = [];
    for (const root of upwardsFrom(directory)) {
      for (const store of await this.#stores({ ...this.#options.where, root })) {
        logs.push(...(await this.#all(store)));
      }
    }
    // The directory itself is among them when it cannot be looked at (SV2).
    return logs.filter((log) => `${join(log.root, log.logId)}/`.startsWith(`${directory}/`));
  }

  /** The stores that `where` names or that are found from there, and those that were there (SV1). */
  async #stores(where: Where): Promise<FoundStore[]> {
    const found = await storesOrPinned(this.#host, where, this.judging.book.found);
    return found.map(({ store }) => store);
  }

  /** The only session of that id, which is there and cannot be looked at (SV2). */
  async #refusedAs(id: string): Promise<SessionLog | null> {
    const found: SessionLog[] = [];
    for (const store of await this.#stores(this.#options.where)) {
      found.push(...(await this.#all(store)).filter((log) => log.id === id));
    }
    const [only, ...others] = found;
    return only && others.length === 0 ? only : null;
  }

  /** A session of that id, or last part of an id, that has hooks and no log yet (SV4). */
  #waitingAs(name: string): SessionLog | null {
    for (const store of findStores(this.#options.where)) {
      const ids = [...this.#waitingIn(store).keys()];
      const id = ids.find((each) => each === name || each.endsWith(`/${name}`));
      if (id !== undefined) return goneIn(store, id);
    }
    return null;
  }

  /** A session of that id whose log is gone, perhaps with its whole store, and whose head was seen. */
  async #goneAs(id: string): Promise<SessionLog | null> {
    for (const store of lookedAt(this.#options.where).flat()) {
      const gone = goneIn(store, id);
      if (gone === null) continue;
      const beside = hasSidecar(gone.dialect) ? sidecarOf(join(gone.root, gone.logId)) : null;
      if (beside !== null && sizeOf(beside) > 0) return gone; // SV3
      if (this.judging.remembered(await this.judging.whose(gone)).here) return gone;
    }
    return null;
  }
}

/** What verifying found, and that hooks wait. A log that is only not there yet is not unreadable. */
function withWaitingHooks(report: VerifyReport, count: number): VerifyReport {
  const isNew = report.findings.every(({ code }) => code === "NOT_FOUND");
  const message = `${count} recorded hooks wait to be put into the log and are not signed yet`;
  const place = { byte_offset: null, turn: null };
  const waiting = { code: "HOOKS_WAITING", verdict: "incomplete", ...place, message } as const;
  const isMissing = isNew && report.verdict === "unreadable";
  return {
    ...report,
    verdict: isMissing ? "incomplete" : worse(report.verdict, "incomplete"),
    findings: [...(isMissing ? [] : report.findings), waiting],
  };
}

/** Streams have verdicts of their own (verifying/verify-directory.ts). */
function isOfSessions({ dialect }: FoundStore): boolean {
  return !dialectNamed(dialect).isReadOnly;
}

const NONE: ReadonlyMap<string, number> = new Map();

const NO_ID =
  "it lies where no session can be: the name of its directory or file is no id; give it a name that " +
  "is one, or move it out of the store";

/** Where the checkpoints lie that stand beside a dialect's logs. */
function sidecarsOf(dialect: string): Layout {
  const layout = dialectNamed(dialect).layout;
  const ending = sidecarOf("");
  const idAt = (path: readonly string[]) => {
    return layout.idAt([...path.slice(0, -1), (path.at(-1) ?? "").slice(0, -ending.length)]);
  };
  if ("logName" in layout) return { ...layout, logName: sidecarOf(layout.logName), idAt };
  const isLog = (name: string) => {
    return name.endsWith(ending) && layout.isLog(name.slice(0, -ending.length));
  };
  return { ...layout, isLog, idAt };
}

function sizeOf(path: string): number {
  return statOf(path)?.size ?? 0;
}
