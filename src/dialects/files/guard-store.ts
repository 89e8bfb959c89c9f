/**
 * Guard store: reads what the guard wrote (docs/formats/guard.md): its places, journals and
 * generations. `src/guard` writes it.
 */

import { createHash } from "node:crypto";
import {
  closeSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  type Stats,
} from "node:fs";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { dataDirectory } from "../../core/base/node-paths.ts";

export const JOURNAL = "journal.jsonl";
/** A generation that is larger is not read from its compressed copy. */
export const INFLATED_BYTES_MAX = 1024 * 1024 * 1024;
const GUARDED_ROOT = /^[a-z0-9-]+@[0-9a-f]{8}$/;

export type GuardedForm = "bytes" | "rows";

/** One session in a guarded root, by the journal. */
export interface GuardRecord {
  readonly path: string;
  readonly id: string;
  /** The newest generation that began. */
  readonly generation: number;
  readonly kind: GuardedForm;
  readonly mode: number | null;
  /** The newest generation is closed; the next has not begun. */
  readonly isClosed: boolean;
  /** When the guard noticed that the source is gone; null: it is there. */
  readonly deletedAt: string | null;
  /** Closed generations that hold lines which later ones lack. */
  readonly losses: readonly Loss[];
  /** The hash of the newest generation when it was last known to be at rest. */
  readonly sha256: string | null;
  /** The user removed the copy, and wants none. */
  readonly isRemoved: boolean;
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
  readonly sessions: ReadonlyMap<string, GuardRecord>;
  /** Sessions of which the user removed the copy. */
  readonly removed: ReadonlyMap<string, GuardRecord>;
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
  const sessions = new Map<string, GuardRecord>();
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
  if (first === null) return null;
  const removed = new Map([...sessions].filter(([, { isRemoved }]) => isRemoved));
  for (const path of removed.keys()) sessions.delete(path);
  return { directory, ...first, sessions, removed };
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
export function applyEvent(sessions: Map<string, GuardRecord>, event: JournalEvent): void {
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
    const fresh = { deletedAt: null, isClosed: false, sha256: null, losses, isRemoved: false };
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
  } else if (event.event === "removed" || event.event === "restored") {
    sessions.set(path, { ...known, isRemoved: event.event === "removed" });
  } else if (event.event === "released") {
    sessions.delete(path); // Its next copy is generation 1.
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

/** The length of a generation, uncompressed; 0: there is none. */
export function generationBytes(root: string, path: string, generation: number): number {
  const found = generationFile(root, path, generation);
  if (!found?.isCompressed) return found?.stats.size ?? 0;
  const file = openSync(found.file, "r");
  try {
    const length = Buffer.alloc(4); // The last field of gzip, modulo 4 GiB.
    readSync(file, length, 0, 4, found.stats.size - 4);
    return length.readUInt32LE();
  } finally {
    closeSync(file);
  }
}

/** All bytes of a generation, uncompressed. */
export function readGeneration(root: string, path: string, generation: number): Buffer | null {
  const found = generationFile(root, path, generation);
  if (found === null) return null;
  const bytes = readFileSync(found.file);
  return found.isCompressed ? gunzipSync(bytes, { maxOutputLength: INFLATED_BYTES_MAX }) : bytes;
}

export function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
