/**
 * History: the sessions on a machine, listed, searched, counted, verified and kept: what the command
 * line does, without printing.
 *
 * - A wrong argument is refused when a method is called, before anything is loaded or read.
 * - A method loads its module when it is called. A process that lists does not load signing.
 */

import type { NoteChanges, NoteOptions, SessionNotes } from "../client/note-shapes.ts";
import { badArgument, checkKind } from "../core/base/choice.ts";
import type { Host } from "../core/base/host.ts";
import type { RestoredFile } from "../guard/restore.ts";
import type { GuardPass } from "../guard/root-guard.ts";
import type { DoctorFinding } from "./doctor.ts";
import {
  checkCall,
  DOCTOR_OPTIONS,
  type DoctorOptions,
  GUARD_OPTIONS,
  type GuardOptions,
  HISTORY_OPTIONS,
  type HistoryFilter,
  type HistoryScanOptions,
  type HistorySearchOptions,
  type HistoryUsageOptions,
  type HistoryVerifyOptions,
  HOLD_OPTIONS,
  type HoldOptions,
  NOTE_OPTIONS,
  PROVE_OPTIONS,
  type ProveOptions,
  REDACT_OPTIONS,
  REMOVE_OPTIONS,
  RESTORE_OPTIONS,
  type RedactOptions,
  type RemoveOptions,
  type RestoreOptions,
  SCAN_OPTIONS,
  SEARCH_OPTIONS,
  SESSION_FILTER,
  SHARE_OPTIONS,
  type ShareOptions,
  USAGE_OPTIONS,
  VERIFY_OPTIONS,
} from "./options.ts";
import { type HistoryOptions, Places } from "./places.ts";
import type { Proof } from "./proofs.ts";
import type { Redaction } from "./redactions.ts";
import type { RemovedSession } from "./removal-batch.ts";
import type { EntryFound } from "./search.ts";
import type { ScanResult } from "./secrets.ts";
import type { HistorySession } from "./session.ts";
import type { ListedSession } from "./session-list.ts";
import type { SharedLink } from "./shares.ts";
import type { HistoryUsage } from "./usage.ts";
import type { HistoryVerdict } from "./verdicts.ts";

/** The sessions on this machine. It holds nothing open between calls. */
export interface History {
  /** Sessions with their summaries, the last updated first. Logs that changed are read before. */
  sessions(filter?: HistoryFilter): AsyncIterable<ListedSession>;
  /**
   * A session to read: by its id, the beginning of one, its path, or `last`. Throws
   * SESSION_NOT_FOUND for none, and for several.
   */
  get(session: string): Promise<HistorySession>;
  /** Entries with these words, newest first. Sessions that changed are indexed before. */
  search(query: string, options?: HistorySearchOptions): AsyncIterable<EntryFound>;
  /** What agents used, each response once, at the price of its time. */
  usage(options?: HistoryUsageOptions): Promise<HistoryUsage>;
  /** Keys, passwords and personal data, by session; sessions without any are reported, too. */
  scan(options?: HistoryScanOptions): AsyncIterable<ScanResult>;
  /** Verdicts by your trusted keys and pinned heads. Bad files never make it throw. */
  verify(options?: HistoryVerifyOptions): AsyncIterable<HistoryVerdict>;
  /** Writes a copy of a signed session that shows part of it, and proves that it is part of it. */
  redact(session: string, options: RedactOptions): Promise<Redaction>;
  /** A proof that lines are part of a signed session. */
  prove(session: string, options: ProveOptions): Promise<Proof>;
  /** A link to a redacted copy, on the server of a data directory. */
  share(session: string, options: ShareOptions): Promise<SharedLink>;
  /** Copies sessions of other programs, so that they remain when those delete or rewrite them. */
  guard(options?: GuardOptions): Promise<GuardPass>;
  /** What is wrong with sessions and the files around them; with `fix`, what was done about it. */
  doctor(options?: DoctorOptions): AsyncIterable<DoctorFinding>;
  /**
   * Removes a session that you recorded to the trash, or for good. Throws REMOVAL_REFUSED for one
   * that is held, shared or forked, LOG_LOCKED while it is written.
   */
  remove(session: string, options?: RemoveOptions): Promise<RemovedSession>;
  /** What is in the trash, the oldest first. */
  removed(): AsyncIterable<RemovedSession>;
  /** From now on nothing removes the session. */
  hold(session: string, options: HoldOptions): Promise<void>;
  /** Ends a hold; false if there was none. */
  endHold(session: string): Promise<boolean>;
  /** Takes a session out of the trash; else writes a copy of the guard back to its agent. */
  restore(session: string, options?: RestoreOptions): Promise<RestoredFile>;
  /** Your own notes on a session and its entries: stars, titles, tags and notes. */
  notes(session: string): Promise<SessionNotes>;
  /** Changes them, in a file of your own: the session's file stays as it is. */
  annotate(session: string, changes: NoteChanges, options?: NoteOptions): Promise<void>;
}

/** The history of a host. Throws BAD_SETTING. */
export function historyOf(host: Host, options: HistoryOptions): History {
  checkCall("openHistory", options, HISTORY_OPTIONS);
  return new OpenedHistory(new Places(host, options));
}

class OpenedHistory implements History {
  readonly #places: Places;

  constructor(places: Places) {
    this.#places = places;
  }

  sessions(filter: HistoryFilter = {}): AsyncIterable<ListedSession> {
    checkCall("sessions", filter, SESSION_FILTER);
    return later(async () =>
      (await import("./session-list.ts")).listSessions(this.#places, filter),
    );
  }

  async get(session: string): Promise<HistorySession> {
    checkKind("session", session, "text");
    const { openInHistory } = await import("./session.ts");
    return openInHistory(this.#places, session);
  }

  search(query: string, options: HistorySearchOptions = {}): AsyncIterable<EntryFound> {
    checkKind("query", query, "text");
    checkCall("search", options, SEARCH_OPTIONS);
    return later(async () => {
      return (await import("./search.ts")).searchEntries(this.#places, query, options);
    });
  }

  async usage(options: HistoryUsageOptions = {}): Promise<HistoryUsage> {
    checkCall("usage", options, USAGE_OPTIONS);
    const { countUsage } = await import("./usage.ts");
    return countUsage(this.#places, options);
  }

  scan(options: HistoryScanOptions = {}): AsyncIterable<ScanResult> {
    checkCall("scan", options, SCAN_OPTIONS);
    return later(async () => (await import("./secrets.ts")).scanSessions(this.#places, options));
  }

  verify(options: HistoryVerifyOptions = {}): AsyncIterable<HistoryVerdict> {
    checkCall("verify", options, VERIFY_OPTIONS);
    return later(async () => {
      return (await import("./verdicts.ts")).verifySessions(this.#places, options);
    });
  }

  async redact(session: string, options: RedactOptions): Promise<Redaction> {
    checkKind("session", session, "text");
    checkCall("redact", options, REDACT_OPTIONS);
    checkKind("reason", options.reason, "text");
    const { redactSession } = await import("./redactions.ts");
    return redactSession(this.#places, session, options);
  }

  async prove(session: string, options: ProveOptions): Promise<Proof> {
    checkKind("session", session, "text");
    checkCall("prove", options, PROVE_OPTIONS);
    const { entries = [], consistency } = options;
    if (entries.length === 0 && consistency === undefined) {
      throw badArgument("prove", "needs what to prove: entries or consistency");
    }
    if (consistency !== undefined && consistency.length !== 2) {
      throw badArgument("prove", "takes two checkpoints as consistency, such as [3, 9]");
    }
    const { proveEntries } = await import("./proofs.ts");
    return proveEntries(this.#places, session, options);
  }

  async share(session: string, options: ShareOptions): Promise<SharedLink> {
    checkKind("session", session, "text");
    checkCall("share", options, SHARE_OPTIONS);
    checkKind("data", options.data, "text");
    if (!(options.expires instanceof Date)) throw badArgument("share", "needs `expires`, a Date");
    const { shareSession } = await import("./shares.ts");
    return shareSession(this.#places, session, options);
  }

  async guard(options: GuardOptions = {}): Promise<GuardPass> {
    checkCall("guard", options, GUARD_OPTIONS);
    if (options.follow === true && options.signal === undefined) {
      throw badArgument("guard", "needs a signal to follow: nothing else ends it");
    }
    const { guardSessions } = await import("./guard.ts");
    return guardSessions(this.#places, options);
  }

  doctor(options: DoctorOptions = {}): AsyncIterable<DoctorFinding> {
    checkCall("doctor", options, DOCTOR_OPTIONS);
    return later(async () => {
      return (await import("./doctor.ts")).examineSessions(this.#places, options);
    });
  }

  async remove(session: string, options: RemoveOptions = {}): Promise<RemovedSession> {
    checkKind("session", session, "text");
    checkCall("remove", options, REMOVE_OPTIONS);
    const { removeSessionNamed } = await import("./removals.ts");
    return removeSessionNamed(this.#places, session, options);
  }

  removed(): AsyncIterable<RemovedSession> {
    return later(async () => (await import("./removals.ts")).removedSessions(this.#places));
  }

  async hold(session: string, options: HoldOptions): Promise<void> {
    checkKind("session", session, "text");
    checkCall("hold", options, HOLD_OPTIONS);
    checkKind("reason", options.reason, "text");
    const { holdSession } = await import("./removals.ts");
    await holdSession(this.#places, session, options.reason);
  }

  async endHold(session: string): Promise<boolean> {
    checkKind("session", session, "text");
    const { releaseSession } = await import("./removals.ts");
    return releaseSession(this.#places, session);
  }

  async restore(session: string, options: RestoreOptions = {}): Promise<RestoredFile> {
    checkKind("session", session, "text");
    checkCall("restore", options, RESTORE_OPTIONS);
    const { restoreRemoved } = await import("./removals.ts");
    const restored = await restoreRemoved(this.#places, session, options);
    if (restored) return restored;
    const { restoreSession } = await import("./guard.ts");
    return restoreSession(this.#places, session, options);
  }

  async notes(session: string): Promise<SessionNotes> {
    checkKind("session", session, "text");
    const { notesOf } = await import("./notes.ts");
    return notesOf(this.#places, session);
  }

  async annotate(session: string, changes: NoteChanges, options: NoteOptions = {}): Promise<void> {
    checkKind("session", session, "text");
    checkCall("annotate", options, NOTE_OPTIONS);
    const { annotateSession } = await import("./notes.ts");
    return annotateSession(this.#places, session, changes, options);
  }
}

/** What a module gives that is loaded when the first item is asked for. */
async function* later<T>(load: () => Promise<AsyncIterable<T>>): AsyncGenerator<T> {
  yield* await load();
}
