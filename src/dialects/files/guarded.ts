/**
 * Guarded: reads the guard's store (docs/formats/guard.md), so that sessions whose source is gone
 * are read like any other. `src/guard` writes it.
 *
 * A guarded root is one more root of its dialect. It has the sessions that the program's own
 * directory no longer has. `<guarded root>/@<n>` has generation n of all of them.
 */

import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, type Stats } from "node:fs";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { errnoOf } from "../../base/errors.ts";
import type { Host } from "../../base/host.ts";
import { dataDirectory } from "../../base/node-paths.ts";
import { eachLog, type LookedAt } from "../../catalog/find.ts";
import type { FoundLog } from "../../catalog/session-row.ts";
import type { Dialect } from "../dialect.ts";
import { convertedHost } from "./converted-host.ts";

export const JOURNAL = "journal.jsonl";
/** A generation that is larger is not read from its compressed copy. */
export const INFLATED_BYTES_MAX = 1024 * 1024 * 1024;
const GUARDED_ROOT = /^[a-z0-9-]+@[0-9a-f]{8}$/;
const LF = 0x0a;

export type Kind = "bytes" | "rows";

/** One session in a guarded root, by the journal. */
export interface Kept {
  readonly path: string;
  readonly id: string;
  /** The newest generation that began. */
  readonly generation: number;
  readonly kind: Kind;
  readonly mode: number | null;
  /** The newest generation is closed; the next has not begun. */
  readonly isClosed: boolean;
  /** When the guard noticed that the source is gone; null: it is there. */
  readonly deletedAt: string | null;
  /** Closed generations that hold lines which later ones lack. */
  readonly losses: readonly Loss[];
  /** The hash of the newest generation when it was last known to be at rest. */
  readonly sha256: string | null;
}

export interface Loss {
  readonly generation: number;
  readonly at: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly lost: number | null;
}

export interface GuardedRoot {
  readonly directory: string;
  readonly agent: string;
  /** The program's directory. */
  readonly source: string;
  readonly sessions: ReadonlyMap<string, Kept>;
}

export function guardDirectory(): string {
  return join(dataDirectory(), "guard");
}

/** The guarded root of a program's directory, given by its real path. */
export function guardedRootOf(agent: string, source: string, directory = guardDirectory()): string {
  const key = createHash("sha256").update(source).digest("hex").slice(0, 8);
  return join(directory, `${agent}@${key}`);
}

/** Guarded roots that exist, of one agent or of all. */
export function guardedRoots(agent?: string, directory = guardDirectory()): string[] {
  let names: string[];
  try {
    names = readdirSync(directory);
  } catch {
    return []; // Nothing is guarded.
  }
  return names
    .filter((name) => GUARDED_ROOT.test(name))
    .filter((name) => agent === undefined || name.startsWith(`${agent}@`))
    .map((name) => join(directory, name));
}

/** The guarded root that a path is, and the generation that it names. */
export function guardedPlace(root: string): { at: string; generation: number | null } | null {
  const [, before = root, number] = /^(.*)\/@([1-9]\d{0,8})$/.exec(root) ?? [];
  const name = before.slice(before.lastIndexOf("/") + 1);
  if (dirname(before) !== guardDirectory() || !GUARDED_ROOT.test(name)) return null;
  return { at: before, generation: number === undefined ? null : Number(number) };
}

/** The journals that were read last, by directory: each opening of a session asks again. */
const READ = new Map<string, { readonly stamp: string; readonly root: GuardedRoot | null }>();

/** What the journal of a guarded root says; null: it has none that can be read. */
export function readGuardedRoot(directory: string): GuardedRoot | null {
  const stats = statOf(join(directory, JOURNAL));
  if (!stats?.isFile()) return null;
  const stamp = `${stats.ino} ${stats.size} ${stats.mtimeMs}`;
  const read = READ.get(directory);
  if (read?.stamp === stamp) return read.root;
  const root = foldJournal(directory, readFileSync(join(directory, JOURNAL), "utf8"));
  READ.set(directory, { stamp, root });
  return root;
}

function foldJournal(directory: string, text: string): GuardedRoot | null {
  const sessions = new Map<string, Kept>();
  let first: { agent: string; source: string } | null = null;
  for (const line of text.slice(0, text.lastIndexOf("\n") + 1).split("\n")) {
    const event = eventOf(line);
    if (event === null) continue;
    if (event.event === "guarding") {
      first ??= { agent: String(event.agent), source: String(event.root) };
    } else {
      applyEvent(sessions, event);
    }
  }
  return first && { directory, ...first, sessions };
}

export type JournalEvent = Readonly<Record<string, unknown>>;

function eventOf(line: string): JournalEvent | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? (value as JournalEvent) : null;
  } catch {
    return null; // Not an event: skipped, and kept.
  }
}

/** Adds an event to what is known of its session. */
export function applyEvent(sessions: Map<string, Kept>, event: JournalEvent): void {
  const { path, id, generation } = event;
  if (typeof path !== "string" || typeof id !== "string") return;
  if (typeof generation !== "number" || !Number.isSafeInteger(generation)) return;
  const known = sessions.get(path);
  const at = String(event.at);
  const sha256 = typeof event.sha256 === "string" ? event.sha256 : null;
  if (event.event === "began") {
    const kind = event.kind === "rows" ? "rows" : "bytes";
    const mode = typeof event.mode === "number" ? event.mode : null;
    const { losses = [] } = known ?? {};
    const fresh = { deletedAt: null, isClosed: false, sha256: null, losses };
    sessions.set(path, { path, id, generation, kind, mode, ...fresh });
  } else if (known === undefined) {
    return;
  } else if (event.event === "source_rewritten" && sha256 !== null) {
    const lost = typeof event.lost === "number" ? event.lost : null;
    const loss = { generation, at, bytes: Number(event.bytes), sha256, lost };
    const isClosed = generation === known.generation;
    sessions.set(path, { ...known, isClosed, losses: [...known.losses, loss], deletedAt: null });
  } else if (event.event === "source_deleted") {
    sessions.set(path, { ...known, deletedAt: at, sha256 });
  } else if (event.event === "source_back") {
    sessions.set(path, { ...known, deletedAt: null, sha256: null });
  }
}

/** The file of a generation, and whether it is compressed; null: there is none. */
export function generationFile(
  root: string,
  path: string,
  generation: number,
): { readonly file: string; readonly isCompressed: boolean; readonly stats: Stats } | null {
  const file = join(root, `${path}.${generation}`);
  const stats = statOf(file);
  if (stats?.isFile()) return { file, isCompressed: false, stats };
  const compressed = statOf(`${file}.gz`);
  return compressed?.isFile()
    ? { file: `${file}.gz`, isCompressed: true, stats: compressed }
    : null;
}

/** All bytes of a generation, uncompressed. */
export function readGeneration(root: string, path: string, generation: number): Buffer | null {
  const found = generationFile(root, path, generation);
  if (found === null) return null;
  const bytes = readFileSync(found.file);
  return found.isCompressed ? gunzipSync(bytes, { maxOutputLength: INFLATED_BYTES_MAX }) : bytes;
}

/** Ids that a program has now; asked for each session, so they are remembered for a moment. */
let live: { readonly of: GuardedRoot; readonly atMs: number; readonly ids: Set<string> } | null =
  null;
const LIVE_MS = 1000;

/** Whether the program no longer has a session, neither there nor under another name. */
export function isSourceGone(root: GuardedRoot, kept: Kept, { layout }: Dialect): boolean {
  if (kept.mode === null) return kept.deletedAt !== null; // Rows of a database.
  try {
    if (lstatSync(join(root.source, kept.path), { throwIfNoEntry: false })) return false;
  } catch (cause) {
    if (errnoOf(cause) !== "ENOTDIR") return false; // Not permitted: it may be there.
  }
  if (live?.of !== root || Date.now() - live.atMs > LIVE_MS) {
    const ids = new Set(Array.from(eachLog(root.source, layout), ({ id }) => id));
    live = { of: root, atMs: Date.now(), ids };
  }
  return !live.ids.has(kept.id);
}

type Place = NonNullable<ReturnType<typeof guardedPlace>>;

/** Sessions of a guarded root by id, or one. Of two files of one session, the plain one. */
function keptById(place: Place, dialect: Dialect, id?: string): Map<string, Kept> {
  const root = readGuardedRoot(place.at);
  const found = new Map<string, Kept>();
  for (const kept of root?.sessions.values() ?? []) {
    if ((id !== undefined && kept.id !== id) || found.get(kept.id)?.kind === "bytes") continue;
    if (place.generation === null && root && !isSourceGone(root, kept, dialect)) continue;
    found.set(kept.id, kept);
  }
  return found;
}

/** Whether a store's log is the guard's copy, and when the guard noticed that its source is gone. */
export function keptState(
  root: string,
  path: string,
): { readonly isKept: boolean; readonly deletedAt: string | null } {
  const place = guardedPlace(root);
  const kept = place && readGuardedRoot(place.at)?.sessions.get(path);
  return { isKept: place !== null, deletedAt: kept?.deletedAt ?? null };
}

/** The sessions that only the guard has, as logs of its root. */
export function* goneLogs(place: Place, dialect: Dialect): Generator<FoundLog> {
  for (const { id, path, generation } of keptById(place, dialect).values()) {
    const found = generationFile(place.at, path, place.generation ?? generation);
    if (found === null) continue;
    const { size, mtimeMs } = found.stats;
    yield { id, path, size, mtimeMs };
  }
}

/** The state of one of them; null: it has none. */
export function goneLog({ at, generation }: Place, path: string): LookedAt | null {
  const kept = readGuardedRoot(at)?.sessions.get(path);
  const found = kept ? generationFile(at, path, generation ?? kept.generation) : null;
  return found && { size: found.stats.size, mtimeMs: found.stats.mtimeMs };
}

/** The state of a log that is one file. */
export function lookAtFile(root: string, path: string): LookedAt | null {
  const stats = statOf(join(root, path));
  return stats?.isFile() ? { size: stats.size, mtimeMs: stats.mtimeMs } : null;
}

/** Presents the copies in a guarded root as logs of their dialect. */
export function guardedHost(host: Host, place: Place, dialect: Dialect): Host {
  const { at, generation } = place;
  const inner = convertedHost(host, at, (_, segments) => {
    const id = dialect.idAt(segments);
    const kept = id === null ? undefined : keptById(place, dialect, id).get(id);
    if (kept === undefined) return null;
    const { path } = kept;
    const found = generationFile(at, path, generation ?? kept.generation);
    if (found === null) return null;
    const { file } = found;
    if (kept.kind === "bytes" && !found.isCompressed) return { plain: file };
    const bytes = readGeneration(at, path, generation ?? kept.generation) ?? Buffer.alloc(0);
    return { bytes: kept.kind === "rows" ? latestRows(bytes, dialect) : bytes, source: file };
  });
  const real = (path: string) => {
    const virtual = generation === null ? at : `${at}/@${generation}`;
    return path.startsWith(virtual) ? `${at}${path.slice(virtual.length)}` : path;
  };
  const { openDirectory } = inner.files;
  const files = {
    ...inner.files,
    openDirectory: (path: string, options: Parameters<typeof openDirectory>[1]) =>
      openDirectory(real(path), { ...options, ...(options.root ? { root: at } : {}) }),
  };
  return { ...inner, files };
}

/** What identifies a line when its message is written again: the dialect's key, else its text. */
export function rowKey(line: string, { program }: Pick<Dialect, "program">): string {
  try {
    const native: unknown = JSON.parse(line);
    if (typeof native !== "object" || native === null) return line;
    const key = program?.lineKey?.(native as Readonly<Record<string, unknown>>) ?? null;
    return key === null ? line : `${KEYED}${key}`;
  } catch {
    return line;
  }
}

/** Begins no line of JSON. */
const KEYED = "key:";

/** A line without a key, where others have one, is no message. */
export function isMessageKey(key: string, { program }: Pick<Dialect, "program">): boolean {
  return program?.lineKey === undefined || key.startsWith(KEYED);
}

/** Of lines with the same key, the last at the place of the first. */
export function latestRows(bytes: Buffer, dialect: Pick<Dialect, "program">): Buffer {
  const lines = new Map<string, string>();
  for (const line of wholeLines(bytes)) lines.set(rowKey(line, dialect), line);
  return Buffer.from([...lines.values()].map((line) => `${line}\n`).join(""));
}

/** The lines that end in LF. */
export function wholeLines(bytes: Buffer): string[] {
  const end = bytes.lastIndexOf(LF);
  return end === -1 ? [] : bytes.subarray(0, end).toString("utf8").split("\n");
}

function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
