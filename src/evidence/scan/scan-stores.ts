/**
 * Scan stores: the finds of many sessions, reading only what grew since the last scan.
 *
 * A session that grew is continued where the last scan ended, if the bytes up to there look
 * unchanged, as for the search index (sessions/search/freshen-index.ts). One of a program that
 * rewrites its sessions is scanned again whenever it changed.
 */

import type { Host } from "../../core/base/host.ts";
import type { FoundLog } from "../../dialects/session-row.ts";
import type { FoundStore } from "../../sessions/list/find-stores.ts";
import { markOf, SessionWindow } from "../../sessions/list/session-window.ts";
import type { Session } from "../../sessions/store/session.ts";
import { Store } from "../../sessions/store/store.ts";
import type { KeptScan, KeptScans } from "./kept-scans.ts";
import {
  type ScanWith,
  type SessionFind,
  scanSession,
  startOfFind,
  type UnscannedEntry,
} from "./scan-session.ts";

export interface ScannedSession {
  readonly place: FoundStore;
  readonly id: string;
  readonly finds: readonly SessionFind[];
  readonly unscanned: readonly UnscannedEntry[];
  /** Bytes of the log that were read now. */
  readonly bytesRead: number;
}

/** A session to scan. */
export interface ScanTarget {
  readonly place: FoundStore;
  readonly log: FoundLog;
}

const EDITED_BYTES_MAX = 2 ** 20;

/** Scans one session, or returns what is kept of it. Throws if it cannot be read. */
export async function scanTarget(
  host: Host,
  { place, log }: ScanTarget,
  kept: KeptScans,
  how: ScanWith,
): Promise<ScannedSession> {
  const { dialect, root } = place;
  const before = kept.get(place, log.id);
  if (before && before.size === log.size && before.mtimeMs === log.mtimeMs) {
    const { finds, unscanned } = before;
    return { place, id: log.id, finds, unscanned, bytesRead: 0 };
  }
  const session = new Store(host, { dialect, root, onWarning: () => {} }).session(log.id);
  try {
    // A short log that changed without growing was edited, and is scanned again.
    const isEdited = before?.size === log.size && log.size <= EDITED_BYTES_MAX;
    const { scan, from } = await scanOpened(host, session, how, isEdited ? null : before);
    const { size, mtimeMs } = log;
    kept.set(place, log.id, { ...scan, size, mtimeMs });
    const { finds, unscanned, scannedTo } = scan;
    return { place, id: log.id, finds, unscanned, bytesRead: scannedTo - from };
  } finally {
    await session.release();
  }
}

/** Scans a session from where an earlier scan of it ended, if it only grew. */
export async function scanOpened(
  host: Host,
  session: Session,
  how: ScanWith,
  before: KeptScan | null,
): Promise<{ readonly scan: Omit<KeptScan, "size" | "mtimeMs">; readonly from: number }> {
  const window = await SessionWindow.open(host, session);
  try {
    const grows = (session.dialect.program?.changes ?? "grows") === "grows";
    const isSame =
      before !== null &&
      grows &&
      before.scannedTo <= window.end &&
      before.mark === (await markOf(window.log, before.scannedTo));
    const from = isSame ? before : null;
    const scan = await scanSession(host, session, window, how, from ?? undefined);
    const mark = await markOf(window.log, scan.scannedTo);
    // From there on everything is found again, the sidecar always.
    const kept = from?.finds.filter((find) => startOfFind(find) < from.scannedTo) ?? [];
    const missed = from?.unscanned.filter(({ entry }) => (entry ?? Infinity) <= from.lines) ?? [];
    const finds = [...kept, ...scan.finds];
    const unscanned = [...missed, ...scan.unscanned];
    return { scan: { ...scan, finds, unscanned, mark }, from: from?.scannedTo ?? 0 };
  } finally {
    window.close();
  }
}
