/**
 * File list: the files of a ledger. Those from a snapshot are parsed when they are asked for; whether
 * a log has changed is known without that.
 */

import type { LedgerFile } from "./pack.ts";

/** A file without names; a name or scope that follows from the id is null. */
type FileValues = readonly [
  dialect: string,
  root: string,
  id: string,
  path: string,
  size: number,
  mtimeMs: number,
  reached: LedgerFile["reached"],
  name: string | null,
  parent: string | null,
  project: string | null,
  directory: string | null,
  scope: string | null,
  replays: string | null,
  startedAt: number | null,
  rows: number,
];

/** The lengths of the JSON at the beginning, and padding. */
const HEAD_BYTES = 8;

export class FileList {
  readonly #files: (LedgerFile | undefined)[] = [];
  /** Indexes by path, for each root. */
  readonly #byRoot: Map<string, Map<string, number>>;
  /** Of files from a snapshot. */
  readonly #sizes: Float64Array;
  readonly #times: Float64Array;
  readonly #firsts: Float64Array;
  readonly #ends: Uint32Array;
  readonly #texts: Buffer;
  /** Scopes whose rows other files begin with. */
  readonly replayed: Set<string>;
  #isWhole = false;
  /** Folders with files, for each root; made when they are asked for. */
  readonly #folders = new Map<string, ReadonlySet<string>>();

  private constructor(memory: ArrayBuffer, at: number, count: number) {
    const start = at + HEAD_BYTES;
    this.#sizes = new Float64Array(memory, start, count);
    this.#times = new Float64Array(memory, start + count * 8, count);
    this.#firsts = new Float64Array(memory, start + count * 16, count);
    this.#ends = new Uint32Array(memory, start + count * 24, count);
    const json = start + count * 28;
    const jsonBytes = new Uint32Array(memory, at, 1)[0] ?? 0;
    const text = Buffer.from(memory, json, jsonBytes).toString();
    const { paths, replayed } = JSON.parse(text) as Paths;
    this.#byRoot = new Map();
    let index = 0;
    for (const [root, own] of paths) {
      const indexes = this.#byRoot.get(root) ?? new Map<string, number>();
      this.#byRoot.set(root, indexes);
      for (const path of own) indexes.set(path, index++);
    }
    this.#texts = Buffer.from(memory, json + jsonBytes);
    this.replayed = new Set(replayed);
    this.#files.length = count;
  }

  static empty(): FileList {
    const list = Buffer.from(JSON.stringify({ paths: [], replayed: [] } satisfies Paths));
    const memory = new ArrayBuffer(HEAD_BYTES + list.length);
    new Uint32Array(memory, 0, 1)[0] = list.length;
    new Uint8Array(memory, HEAD_BYTES).set(list);
    return new FileList(memory, 0, 0);
  }

  static over(memory: ArrayBuffer, at: number, count: number): FileList {
    return new FileList(memory, at, count);
  }

  get length(): number {
    return this.#files.length;
  }

  /** All of them. */
  get all(): readonly LedgerFile[] {
    if (!this.#isWhole) for (let index = 0; index < this.length; index++) this.at(index);
    this.#isWhole = true;
    return this.#files as LedgerFile[];
  }

  /** A file of each root. */
  get perRoot(): LedgerFile[] {
    return [...this.#byRoot.values()].flatMap((paths) => {
      const [first] = paths.values();
      return first === undefined ? [] : [this.at(first)];
    });
  }

  at(index: number): LedgerFile {
    const cachedFile = this.#files[index];
    if (cachedFile !== undefined) return cachedFile;
    const from = index === 0 ? 0 : (this.#ends[index - 1] ?? 0);
    const values = JSON.parse(this.#texts.toString("utf8", from, this.#ends[index])) as FileValues;
    const file = fileOf(values, index, this.#firsts[index] ?? Number.NaN);
    this.#files[index] = file;
    return file;
  }

  indexOf(root: string, path: string): number | undefined {
    return this.#byRoot.get(root)?.get(path);
  }

  /** Whether the log of a file has this size and time. */
  isSame(root: string, path: string, size: number, mtimeMs: number): boolean {
    const index = this.indexOf(root, path);
    if (index === undefined) return false;
    const file = this.#files[index];
    if (file !== undefined) return file.size === size && file.mtimeMs === mtimeMs;
    return this.#sizes[index] === size && this.#times[index] === mtimeMs;
  }

  /** Files whose logs changed at this time or later. */
  changedSince(ms: number): LedgerFile[] {
    const files: LedgerFile[] = [];
    for (let index = 0; index < this.length; index++) {
      if ((this.#files[index]?.mtimeMs ?? this.#times[index] ?? 0) >= ms)
        files.push(this.at(index));
    }
    return files;
  }

  /** Whether a file is directly in this folder. */
  hasFolder(root: string, folder: string): boolean {
    if (!this.#folders.has(root)) {
      const paths = [...(this.#byRoot.get(root)?.keys() ?? [])];
      this.#folders.set(root, new Set(paths.map((path) => path.slice(0, path.lastIndexOf("/")))));
    }
    return this.#folders.get(root)?.has(folder) ?? false;
  }

  /** Puts a file at its place; its index is the next one if it is new. */
  put(file: LedgerFile): void {
    const { root, path, index, replays } = file;
    const indexes = this.#byRoot.get(root) ?? new Map<string, number>();
    this.#byRoot.set(root, indexes.set(path, index));
    this.#files[index] = file;
    if (replays !== null) this.replayed.add(replays);
  }

  toBytes(): Buffer {
    const files = this.all;
    const paths: Paths["paths"] = [];
    for (const { root, path } of files) {
      const last = paths.at(-1);
      if (last?.[0] === root) last[1].push(path);
      else paths.push([root, [path]]);
    }
    const json = Buffer.from(JSON.stringify({ paths, replayed: [...this.replayed] }));
    const numbers = (pick: (file: LedgerFile) => number) =>
      Buffer.from(Float64Array.from(files, pick).buffer);
    const texts = files.map((file) => Buffer.from(JSON.stringify(valuesOf(file))));
    let end = 0;
    const ends = Uint32Array.from(texts, ({ length }) => {
      end += length;
      return end;
    });
    return Buffer.concat([
      Buffer.from(Uint32Array.of(json.length, 0).buffer),
      numbers(({ size }) => size),
      numbers(({ mtimeMs }) => mtimeMs),
      numbers(({ firstAt }) => firstAt),
      Buffer.from(ends.buffer),
      json,
      ...texts,
    ]);
  }
}

interface Paths {
  /** In the order of the files. */
  readonly paths: [root: string, paths: string[]][];
  readonly replayed: string[];
}

/** Field by field, without copies: there are thousands of files. */
function fileOf(values: FileValues, index: number, firstAt: number): LedgerFile {
  const id = values[2];
  const name = values[7] ?? lastOf(id);
  return {
    dialect: values[0],
    root: values[1],
    id,
    path: values[3],
    size: values[4],
    mtimeMs: values[5],
    reached: values[6],
    name,
    parent: values[8],
    project: values[9],
    directory: values[10],
    scope: values[11] ?? name,
    replays: values[12],
    startedAt: values[13],
    rows: values[14],
    firstAt,
    index,
  };
}

function valuesOf(file: LedgerFile): FileValues {
  const { dialect, root, id, path, size, mtimeMs, reached, parent } = file;
  const name = file.name === lastOf(id) ? null : file.name;
  const scope = file.scope === file.name ? null : file.scope;
  const { project, directory, replays, startedAt, rows } = file;
  return [
    ...([dialect, root, id, path, size, mtimeMs, reached, name, parent] as const),
    ...([project, directory, scope, replays, startedAt, rows] as const),
  ];
}

function lastOf(id: string): string {
  return id.slice(id.lastIndexOf("/") + 1);
}
