/**
 * Scan stores: the finds of many sessions, reading only what grew since the last scan.
 *
 * A session that grew is continued where the last scan ended, if the bytes up to there look
 * unchanged, as for the search index (sessions/search/freshen-index.ts). One of a program that
 * rewrites its sessions is scanned again whenever it changed.
 *
 * What earlier scans found, and how far they came, is in a cache: safe to delete. Format:
 * docs/formats/scan.md. It holds masked values only (SCN1). One that is damaged, of other rules, or
 * that others could have written is not used. The last process to write it wins; the others'
 * sessions are scanned again.
 */

import { randomUUID } from "node:crypto";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import type { Host } from "../../core/base/host.ts";
import type { FoundLog } from "../../dialects/session-row.ts";
import type { FoundStore } from "../../sessions/list/find-stores.ts";
import { markOf, SessionWindow } from "../../sessions/list/session-window.ts";
import type { Session } from "../../sessions/store/session.ts";
import { Store } from "../../sessions/store/store.ts";
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

interface KeptScan {
  readonly size: number;
  readonly mtimeMs: number;
  readonly scannedTo: number;
  readonly lines: number;
  /** Of the bytes up to `scannedTo`. */
  readonly mark: string;
  readonly finds: readonly SessionFind[];
  readonly unscanned: readonly UnscannedEntry[];
}

interface KeptFile {
  readonly rules: string;
  /** Of the ids of values. */
  readonly key: string;
  readonly sessions: Readonly<Record<string, KeptScan>>;
}

const BYTES_MAX = 256 * 2 ** 20;
const OTHERS_MAY_WRITE = 0o022;

export class KeptScans {
  readonly #path: string;
  readonly #rules: string;
  readonly #scans: Map<string, KeptScan>;
  /** The key of the values' ids: new if nothing is kept, so that ids of two scans can be compared. */
  readonly key: string;
  #isChanged = false;

  /** `rules` changes when the same bytes may give other finds. */
  constructor(path: string, rules: string, isIgnored = false) {
    this.#path = path;
    this.#rules = rules;
    const cache = isIgnored ? null : read(path, rules);
    this.#scans = cache?.scans ?? new Map();
    this.key = cache?.key ?? randomUUID();
  }

  get(place: { readonly dialect: string; readonly root: string }, id: string): KeptScan | null {
    return this.#scans.get(keyOf(place, id)) ?? null;
  }

  set(
    place: { readonly dialect: string; readonly root: string },
    id: string,
    scan: KeptScan,
  ): void {
    this.#scans.set(keyOf(place, id), scan);
    this.#isChanged = true;
  }

  /** Writes the file, without scans of directories that are gone. */
  save(): void {
    if (!this.#isChanged) return;
    const roots = new Map<string, boolean>();
    const sessions: Record<string, KeptScan> = {};
    for (const [key, scan] of this.#scans) {
      const root = key.split("\0")[1] ?? "";
      if (!roots.has(root)) roots.set(root, existsSync(root));
      if (roots.get(root)) sessions[key] = scan;
    }
    const file: KeptFile = { rules: this.#rules, key: this.key, sessions };
    const temporary = `${this.#path}.${process.pid}.tmp`;
    try {
      mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
      writeFileSync(temporary, JSON.stringify(file), { mode: 0o600, flag: "wx" });
      renameSync(temporary, this.#path);
    } catch {
      rmSync(temporary, { force: true }); // Only a cache: the next scan reads more.
    }
  }
}

function keyOf({ dialect, root }: { readonly dialect: string; readonly root: string }, id: string) {
  return `${dialect}\0${root}\0${id}`;
}

function read(path: string, rules: string) {
  try {
    const { size, mode, uid } = lstatSync(path);
    const isOurs = uid === process.getuid?.() && (mode & OTHERS_MAY_WRITE) === 0;
    if (!isOurs || size > BYTES_MAX) return null;
    const { key, sessions, ...file } = JSON.parse(readFileSync(path, "utf8")) as KeptFile;
    if (file.rules !== rules || typeof key !== "string") return null;
    return { key, scans: new Map(Object.entries(sessions).filter(([, scan]) => isScan(scan))) };
  } catch {
    return null; // Missing or damaged.
  }
}

function isScan({ size, mtimeMs, scannedTo, lines, mark, finds, unscanned }: KeptScan): boolean {
  const numbers = [size, mtimeMs, scannedTo, lines];
  const isWhole = numbers.every((each) => Number.isFinite(each)) && typeof mark === "string";
  return isWhole && Array.isArray(finds) && Array.isArray(unscanned);
}
