/**
 * `verbatim-log/history`: the sessions on this machine, listed, searched, counted, verified, shared
 * and kept. What the command line does, without printing.
 *
 * @example
 * const history = openHistory();
 * for await (const { title, agent, updatedAt } of history.sessions({ project: "." })) {
 *   console.log(updatedAt, agent, title);
 * }
 */

import { nodeHost } from "../core/base/node-host.ts";
import { type History, historyOf } from "../history/history.ts";
import type { HistoryOptions } from "../history/places.ts";

/**
 * The sessions of all agents on this machine and of the stores above the current directory, or
 * those of some directories or agents. Opens nothing: each method reads when it is called.
 *
 * @example
 * const history = openHistory({ agents: ["Claude Code"] });
 * const { total } = await history.usage({ by: "model", since: "2026-11-01" });
 */
export function openHistory(options: HistoryOptions = {}): History {
  return historyOf(nodeHost, options);
}

export type {
  EntryNotes,
  NoteChanges,
  NoteOptions,
  NoteState,
  SessionNotes,
} from "../client/note-shapes.ts";
export type { DirectoryErrors, HistoryErrors, VerifyErrors } from "../core/base/errors.ts";
export { HistoryError as VerbatimError } from "../core/base/published-errors.ts";
export type { Role } from "../core/model/entry.ts";
export type { Erasure } from "../core/model/erasure.ts";
export type { SessionSort } from "../dialects/session-row.ts";
export type { ProofReport } from "../evidence/prove/verify-proof.ts";
export type { WithheldPlace } from "../evidence/redact/copy-writer.ts";
export type {
  DisclosedCopyReport,
  ReportedKey,
  SeenFreshness,
} from "../evidence/redact/verify-copy.ts";
export type { SessionFind, UnscannedEntry } from "../evidence/scan/scan-session.ts";
export type { RestoredFile } from "../guard/restore.ts";
export type { GuardPass } from "../guard/root-guard.ts";
export type { DoctorFinding } from "../history/doctor.ts";
export type { History } from "../history/history.ts";
export type {
  Cancellable,
  DoctorOptions,
  GuardOptions,
  HistoryFilter,
  HistoryScanOptions,
  HistorySearchOptions,
  HistoryUsageOptions,
  HistoryVerifyOptions,
  HoldOptions,
  ProveOptions,
  RedactOptions,
  RemoveOptions,
  RestoreOptions,
  SessionChoice,
  ShareOptions,
  UsageGrouping,
  Withheld,
} from "../history/options.ts";
export type { HistoryOptions } from "../history/places.ts";
export type { Proof } from "../history/proofs.ts";
export type { Redaction } from "../history/redactions.ts";
export type { RemovedSession } from "../history/removal-batch.ts";
export type { EntryFound, SessionNames } from "../history/search.ts";
export type { ScanResult } from "../history/secrets.ts";
export type { HistoryMarkdownOptions, HistorySession } from "../history/session.ts";
export type { ListedSession } from "../history/session-list.ts";
export type { SharedLink } from "../history/shares.ts";
export type { HistoryUsage, UsageGroup } from "../history/usage.ts";
export type { HistoryVerdict } from "../history/verdicts.ts";
export type { VerifyReport } from "../trust/judge/report.ts";
export type { FoundRange as Found, SignedHead } from "../trust/proof/checkpoint.ts";
export type { Reason } from "../trust/proof/disclosure/statement.ts";
export type { CheckpointProfile } from "../trust/proof/envelopes.ts";
export type { Freshness } from "../trust/proof/pins.ts";
export type { Finding, FindingCode, Verdict } from "../trust/proof/verdict.ts";
export type { Group, ModelSums } from "../usage/report/groups.ts";
