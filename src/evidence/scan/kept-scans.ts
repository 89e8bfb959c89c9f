/**
 * Kept scans: what earlier scans found, and how far they came, so that the next one reads only what
 * is new. A cache: safe to delete. Format: docs/formats/scan.md.
 *
 * It holds masked values only (SCN1). One that is damaged, of other rules, or that others could have
 * written is not used. The last process to write it wins; the others' sessions are scanned again.
 */

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
import type { SessionFind, UnscannedEntry } from "./scan-session.ts";

export interface KeptScan {
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
  readonly sessions: Readonly<Record<string, KeptScan>>;
}

const BYTES_MAX = 256 * 2 ** 20;
const OTHERS_MAY_WRITE = 0o022;

export class KeptScans {
  readonly #path: string;
  readonly #rules: string;
  readonly #scans: Map<string, KeptScan>;
  #isChanged = false;

  /** `rules` changes when the same bytes may give other finds. */
  constructor(path: string, rules: string, isIgnored = false) {
    this.#path = path;
    this.#rules = rules;
    this.#scans = isIgnored ? new Map() : read(path, rules);
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
    const file: KeptFile = { rules: this.#rules, sessions };
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

function read(path: string, rules: string): Map<string, KeptScan> {
  try {
    const { size, mode, uid } = lstatSync(path);
    const isOurs = uid === process.getuid?.() && (mode & OTHERS_MAY_WRITE) === 0;
    if (!isOurs || size > BYTES_MAX) return new Map();
    const file = JSON.parse(readFileSync(path, "utf8")) as KeptFile;
    if (file.rules !== rules) return new Map();
    return new Map(Object.entries(file.sessions).filter(([, scan]) => isScan(scan)));
  } catch {
    return new Map(); // Missing or damaged.
  }
}

function isScan({ size, mtimeMs, scannedTo, lines, mark, finds, unscanned }: KeptScan): boolean {
  const numbers = [size, mtimeMs, scannedTo, lines];
  const isWhole = numbers.every((each) => Number.isFinite(each)) && typeof mark === "string";
  return isWhole && Array.isArray(finds) && Array.isArray(unscanned);
}
