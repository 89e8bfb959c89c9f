/**
 * Session verifier: verdicts on the sessions that a user names, by their own trust and pins.
 *
 * Writes nothing unless asked to pin. These cases also have a verdict:
 * - A session with a pinned head whose log is gone, even if its store or directory is gone, too. It
 *   is found by name, by store and by directory like any other.
 * - A log, directory or link in a store that cannot be read: `unreadable`. So has a log in a place
 *   where no session can be: renaming a directory to an invalid id must not hide its content.
 * - Checkpoints whose log is gone, pinned or not.
 * - Recorded hooks that wait in a spool are not signed yet: the session is incomplete, even if it
 *   has no log so far.
 */

import { join, relative, resolve } from "node:path";
import { VerbatimError } from "../../core/base/errors.ts";
import type { Host } from "../../core/base/host.ts";
import { dialectNamed, hostOf, loadDialects } from "../../dialects/all.ts";
import { iterateLogs, type Layout } from "../../dialects/find.ts";
import { DIALECT_NAMES } from "../../dialects/registry.ts";
import { findSession } from "../../sessions/list/find-session.ts";
import {
  type FoundStore,
  findStores,
  type StoreLookup,
  type StoreLookups,
  statOf,
  storesAt,
} from "../../sessions/list/find-stores.ts";
import {
  goneIn,
  lookedAt,
  storesOrPinned,
  upwardsFrom,
} from "../../sessions/list/gone-sessions.ts";
import type { FoundSession } from "../../sessions/list/session-place.ts";
import { readHead } from "../../trust/heads/session-head.ts";
import { unreadableReport } from "../../trust/judge/assemble.ts";
import { changedWhileRead } from "../../trust/judge/inspect.ts";
import type { VerifyReport } from "../../trust/judge/report.ts";
import type { VerifyOptions } from "../../trust/judge/verify-options.ts";
import { hasSidecar } from "../../trust/proof/envelopes.ts";
import type { PinnedHead } from "../../trust/proof/pin.ts";
import { findingOf } from "../../trust/proof/verdict.ts";
import { type SessionLog, sidecarOf } from "../../trust/session-log.ts";
import { verifyWithCopy } from "./erased-copy.ts";
import { withFindings } from "./judge-streams.ts";
import { type JudgingOptions, UserJudging } from "./user-judging.ts";

export interface VerifierOptions extends JudgingOptions {
  readonly where: StoreLookups;
  readonly isDeep?: boolean;
  readonly requirePin?: boolean;
  readonly isLegacyProfile?: boolean;
  /** Pin the heads of verified sessions. */
  readonly pins?: boolean;
}

export class SessionVerifier {
  readonly judging: UserJudging;
  readonly #host: Host;
  readonly #options: VerifierOptions;
  /** At least one. */
  readonly #lookups: readonly StoreLookup[];
  /** Heads of verified sessions, to be pinned at the end. */
  readonly #verified: PinnedHead[] = [];
  /** Logs in places where no session can be, by path. */
  readonly #withoutId = new Set<string>();
  #isWhole = false;
  /** Per store: how many hooks wait for each session. */
  readonly #waiting = new Map<string, ReadonlyMap<string, number>>();

  private constructor(host: Host, options: VerifierOptions, judging: UserJudging) {
    this.#host = host;
    this.#options = options;
    this.#lookups = [options.where].flat();
    this.judging = judging;
  }

  static async open(host: Host, options: VerifierOptions): Promise<SessionVerifier> {
    await loadDialects(DIALECT_NAMES);
    return new SessionVerifier(host, options, await UserJudging.load(host, options));
  }

  /**
   * The logs that the names mean: sessions, files, directories; without names, all found from here.
   */
  async find(names: readonly string[]): Promise<SessionLog[]> {
    const logs: SessionLog[] = [];
    if (names.length === 0) {
      this.#isWhole = true;
      const stores = await this.#stores(this.#lookups);
      // If there is none, this throws what is wrong with `--root`.
      if (stores.length === 0) {
        stores.push(...(await findStores(this.#lookups)).filter(isOfSessions));
      }
      for (const store of stores) logs.push(...(await this.#all(store)));
    }
    for (const name of names) logs.push(...(await this.#named(name)));
    return logs;
  }

  /** The sessions in a directory, possibly none. */
  findIn(directory: string): Promise<SessionLog[]> {
    return this.#below(resolve(this.#lookups[0]?.cwd ?? "", directory));
  }

  /** Whether all sessions of a store were asked for: without names, or by its directory. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** The verdict on one session. Never throws because of its files' content. */
  async verify(
    target: SessionLog,
    onProgress: (bytes: number, of: number) => void = () => {},
  ): Promise<VerifyReport> {
    const options = await this.#verifyOptions(target, onProgress);
    if (this.#withoutId.has(join(target.root, target.logId))) {
      return unreadableReport(target, options, new Error(NO_ID));
    }
    const report = await verifyWithCopy(hostOf(this.#host, target), target, options);
    const { id } = target;
    const waiting = this.#waitingFor(target);
    if (waiting > 0) return withWaitingHooks(report, waiting);
    if (this.#options.pins !== true || report.verdict !== "verified" || id === null) return report;
    const again = await this.#verifyOptions(target, () => {});
    const { head } = await readHead(this.#host, { ...target, id }, again);
    // Only the verified head is pinned: the log may have been replaced or cut meanwhile.
    if (head.line !== report.signed_through?.line) {
      return unreadableReport(target, options, changedWhileRead(report.path, 0));
    }
    this.#verified.push(head);
    return report;
  }

  /** How many recorded hooks are not in the session's log yet. */
  #waitingFor({ id, ...store }: SessionLog): number {
    return id === null ? 0 : (this.#waitingIn(store).get(id) ?? 0);
  }

  #waitingIn({ dialect, root }: Pick<SessionLog, "dialect" | "root">): ReadonlyMap<string, number> {
    const { inbox } = dialectNamed(dialect).files ?? {};
    if (!inbox) return NONE;
    const waiting = this.#waiting.get(root) ?? inbox.waiting(root);
    this.#waiting.set(root, waiting);
    return waiting;
  }

  /** Does not pin what something else contradicts, by the hash of the head's line. */
  unpin(line: string | undefined): void {
    const otherHeads = this.#verified.filter((head) => head.line !== line);
    this.#verified.splice(0, Infinity, ...otherHeads);
  }

  /** Writes the pins durably; throws if they cannot be written. */
  async close(): Promise<void> {
    const verified = this.#verified.splice(0);
    if (verified.length > 0) await this.judging.heads.pinNow(verified);
  }

  async #verifyOptions(
    target: SessionLog,
    onProgress: (bytes: number, of: number) => void,
  ): Promise<VerifyOptions> {
    const { isDeep, requirePin, isLegacyProfile } = this.#options;
    const size = sizeOf(join(target.root, target.logId));
    let done = 0;
    return {
      ...(await this.judging.optionsFor(target)),
      isDeep: isDeep === true,
      requirePin: requirePin === true,
      isLegacyProfile: isLegacyProfile === true,
      onProgress: (bytes) => {
        done += bytes;
        onProgress(Math.min(done, size), size);
      },
    };
  }

  #tellOther({ dialect, path, preferredTo = [] }: FoundSession): void {
    // Of two files that the user did not choose between, it must be clear which has the verdict.
    for (const other of dialectNamed(dialect).program ? [] : preferredTo) {
      const own = `the agent's own file ${other.path} is not signed`;
      this.#options.onWarning(`${path} is verified, which this machine recorded; ${own}`);
    }
  }

  async #named(name: string): Promise<SessionLog[]> {
    try {
      const session = await findSession(this.#host, name, this.#lookups, "signed");
      const { dialect, root, id, path } = session;
      this.#tellOther(session);
      const target = { dialect, root, id, logId: relative(root, path) };
      if (id !== null) return [target];
      // A directory means more than a log without an owner in it.
      const inside = (await this.findIn(name)).filter((log) => join(log.root, log.logId) !== path);
      return [target, ...inside];
    } catch (cause) {
      const code = cause instanceof VerbatimError ? cause.code : null;
      if (code === "IO_ERROR" || code === "UNSAFE_PATH" || code === "NEEDS_RECOVERY") {
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

  /** The sessions of a store, missing ones last. */
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
    // Also what cannot be read, or has no valid id.
    const options = { byLinkCount: false, onUnreadable: add, onNoId };
    for (const log of iterateLogs(root, dialectNamed(dialect).naming.layout, options)) add(log);
    const ids = new Set<string | null>(logs.map(({ id }) => id));
    for (const { id, size } of hasSidecar(dialect) ? iterateLogs(root, sidecarsOf(dialect)) : []) {
      const gone = size > 0 && !ids.has(id) && goneIn(store, id); // Checkpoints without a log.
      if (gone) logs.push(gone);
      ids.add(id);
    }
    const { place, others } = await this.judging.namesOf(store);
    for (const { pin } of this.judging.book.found.current()) {
      if (ids.has(pin.id) || ![place, ...others].includes(pin.place)) continue;
      ids.add(pin.id);
      const gone = goneIn(store, pin.id);
      if (gone) logs.push(gone); // Pinned, but its log is gone.
    }
    for (const id of this.#waitingIn(store).keys()) {
      const log = logs.some((each) => each.id === id) ? null : goneIn(store, id);
      if (log) logs.push(log); // Only hooks so far.
    }
    return logs;
  }

  /** The sessions in a directory: of stores rooted there or above. */
  async #below(directory: string): Promise<SessionLog[]> {
    const logs: SessionLog[] = [];
    // Includes the directory itself if it cannot be read.
    const isBelow = (log: SessionLog) =>
      `${join(log.root, log.logId)}/`.startsWith(`${directory}/`);
    for (const root of upwardsFrom(directory)) {
      for (const store of await this.#stores(this.#lookups.map((each) => ({ ...each, root })))) {
        const all = await this.#all(store);
        logs.push(...all.filter(isBelow));
        if (root === directory || (all.length > 0 && all.every(isBelow))) this.#isWhole = true;
      }
    }
    return logs;
  }

  /** The stores that `where` names or that are found from there, and pinned ones that are gone. */
  async #stores(lookups: readonly StoreLookup[]): Promise<FoundStore[]> {
    const found = new Map<string, FoundStore>();
    for (const lookup of lookups) {
      for (const { store } of await storesOrPinned(this.#host, lookup, this.judging.book.found)) {
        found.set(`${store.dialect}\0${store.root}`, store);
      }
    }
    return [...found.values()];
  }

  /** The only session of that id, which exists but cannot be read. */
  async #refusedAs(id: string): Promise<SessionLog | null> {
    const logs: SessionLog[] = [];
    for (const store of await this.#stores(this.#lookups)) {
      logs.push(...(await this.#all(store)).filter((log) => log.id === id));
    }
    const [only, ...others] = logs;
    return only && others.length === 0 ? only : null;
  }

  /** A session with that id, or last part of an id, that has hooks and no log yet. */
  #waitingAs(name: string): SessionLog | null {
    for (const store of this.#lookups.flatMap(storesAt)) {
      const ids = [...this.#waitingIn(store).keys()];
      const id = ids.find((each) => each === name || each.endsWith(`/${name}`));
      if (id !== undefined) return goneIn(store, id);
    }
    return null;
  }

  /**
   * A session of that id whose log is gone, perhaps with its whole store, but whose head is pinned.
   */
  async #goneAs(id: string): Promise<SessionLog | null> {
    for (const store of this.#lookups.flatMap(lookedAt).flat()) {
      const gone = goneIn(store, id);
      if (gone === null) continue;
      const sidecar = hasSidecar(gone.dialect) ? sidecarOf(join(gone.root, gone.logId)) : null;
      if (sidecar !== null && sizeOf(sidecar) > 0) return gone; // Checkpoints without a log.
      if (this.judging.remembered(await this.judging.whose(gone)).here) return gone;
    }
    return null;
  }
}

/** Adds the waiting hooks to a report. A log that does not exist yet is not unreadable. */
function withWaitingHooks(report: VerifyReport, count: number): VerifyReport {
  const isNew = report.findings.every(({ code }) => code === "NOT_FOUND");
  const message = `${count} recorded hooks wait to be put into the log and are not signed yet`;
  const isMissing = isNew && report.verdict === "unreadable";
  const base = isMissing ? { ...report, verdict: "incomplete" as const, findings: [] } : report;
  return withFindings(base, [findingOf("HOOKS_WAITING", "incomplete", message)]);
}

/** Streams have their own verdicts (evidence/verify/verify-directory.ts). */
function isOfSessions({ dialect }: FoundStore): boolean {
  return dialectNamed(dialect).writing !== undefined;
}

const NONE: ReadonlyMap<string, number> = new Map();

const NO_ID =
  "it lies where no session can be: the name of its directory or file is no id; give it a name that " +
  "is one, or move it out of the store";

/** Where the sidecars of a dialect's logs are. */
function sidecarsOf(dialect: string): Layout {
  const layout = dialectNamed(dialect).naming.layout;
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
