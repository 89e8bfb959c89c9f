/**
 * Node files: the interface of `files.ts` on the real disk.
 *
 * - On Linux every name is opened relative to a directory's descriptor, through
 *   `/proc/self/fd/<n>/<name>`, one segment at a time and never through a symbolic link. A parent
 *   swapped for a link after we looked is not followed: we hold the directory itself, not its path.
 * - Without /proc (macOS) a swap is looked for after opening, and the file is closed again unread.
 *   One look is not enough: the parent may be itself when its path is resolved and a link again
 *   when the file is found. So it is checked LOOKS times. An attacker who swaps it between every
 *   two of these calls is not noticed.
 */

import {
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fdatasync,
  fstatSync,
  fsync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  read,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
  renameSync,
  statfsSync,
  unlinkSync,
  watch,
  writeSync,
} from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { errnoOf, unsafePath, VerbatimError } from "./errors.ts";
import type { Directory, DirectoryOptions, Files, Landing, OpenFile, OpenMode } from "./files.ts";
import { tryLockDescriptor, unlockDescriptor } from "./lock.ts";
import { NETWORK_FILE_SYSTEMS } from "./network-file-systems.ts";

const { O_RDONLY, O_RDWR, O_WRONLY, O_CREAT, O_EXCL, O_APPEND, O_DIRECTORY } = constants;

/** Never follow a link, and never wait for the other end of a pipe. */
const SAFELY = constants.O_NOFOLLOW | constants.O_NONBLOCK;

const FLAGS: Record<OpenMode, number> = {
  read: O_RDONLY | SAFELY,
  append: O_RDWR | O_CREAT | O_APPEND | SAFELY,
  update: O_RDWR | O_CREAT | SAFELY,
  new: O_WRONLY | O_CREAT | O_EXCL | SAFELY,
};

/** How often a file opened by path must be found at its path. */
const LOOKS = 6;

/** Read and write for the owner only. */
const OWN_RIGHTS = 0o600;

const SCRATCH = new Uint8Array(2);

const LF = 0x0a;

class NodeFile implements OpenFile {
  readonly #descriptor: number;
  readonly #hasProc: boolean;

  constructor(descriptor: number, hasProc: boolean) {
    this.#descriptor = descriptor;
    this.#hasProc = hasProc;
  }

  async read(into: Uint8Array, at: number): Promise<number> {
    let filled = 0;
    while (filled < into.length) {
      const count = await readOnce(this.#descriptor, into, filled, at + filled);
      if (count === 0) break;
      filled += count;
    }
    return filled;
  }

  write(bytes: Uint8Array, length = bytes.length): number {
    return writeSync(this.#descriptor, bytes, 0, length, null);
  }

  landing(taken: Uint8Array, from: number): Landing {
    const end = this.#hasProc ? writtenTo(this.#descriptor) : this.#find(taken, from);
    const start = end - taken.length;
    const beginsLine =
      start === 0 ||
      (readSync(this.#descriptor, SCRATCH, 0, 1, start - 1) === 1 && SCRATCH[0] === LF);
    return { start, beginsLine };
  }

  /** The end of these bytes in the file, which has them after `from`. */
  #find(taken: Uint8Array, from: number): number {
    const rest = Buffer.allocUnsafe(this.size() - from);
    const length = readSync(this.#descriptor, rest, 0, rest.length, from);
    const at = rest.subarray(0, length).indexOf(taken);
    if (at === -1) throw new Error("written bytes are not in the file");
    return from + at + taken.length;
  }

  writeAt(bytes: Uint8Array, at: number): number {
    return writeSync(this.#descriptor, bytes, 0, bytes.length, at);
  }

  sync(): Promise<void> {
    return settled((done) => fdatasync(this.#descriptor, done));
  }

  truncate(size: number): void {
    ftruncateSync(this.#descriptor, size);
  }

  size(): number {
    return fstatSync(this.#descriptor).size;
  }

  endsAt(size: number): boolean {
    // Asks for two bytes where one must be: half the cost of fstat, which returns an object.
    if (size === 0) return readSync(this.#descriptor, SCRATCH, 0, 1, 0) === 0;
    return readSync(this.#descriptor, SCRATCH, 0, 2, size - 1) === 1;
  }

  identity(): string {
    const { dev, ino } = fstatSync(this.#descriptor, { bigint: true });
    return `${dev}:${ino}`;
  }

  isLinked(): boolean {
    return fstatSync(this.#descriptor).nlink > 0;
  }

  narrow(): number | null {
    const rights = fstatSync(this.#descriptor).mode & 0o777;
    if ((rights & ~OWN_RIGHTS) === 0) return null;
    fchmodSync(this.#descriptor, rights & OWN_RIGHTS);
    return rights;
  }

  tryLock(kind: "exclusive" | "shared"): boolean {
    return tryLockDescriptor(this.#descriptor, kind);
  }

  unlock(): void {
    unlockDescriptor(this.#descriptor);
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}

class NodeDirectory implements Directory {
  readonly path: string;
  readonly #descriptor: number;
  /** Prefix of names in this directory: through the descriptor, or by path. */
  readonly #reach: string;
  readonly #hasProc: boolean;
  /** When opened by path below a root: where the directory must still be after opening a file. */
  readonly #mustBeAt: string | null;

  constructor(path: string, descriptor: number, byDescriptor: boolean, mustBeAt: string | null) {
    this.path = path;
    this.#descriptor = descriptor;
    this.#hasProc = byDescriptor;
    this.#reach = byDescriptor ? `/proc/self/fd/${descriptor}` : path;
    this.#mustBeAt = byDescriptor ? null : mustBeAt;
  }

  get networkFileSystem(): string | null {
    return NETWORK_FILE_SYSTEMS.get(statfsSync(this.#reach).type) ?? null;
  }

  open(name: string, mode: OpenMode): OpenFile {
    const path = join(this.path, name);
    const reached = `${this.#reach}/${name}`;
    let descriptor: number;
    try {
      descriptor = openSync(reached, FLAGS[mode], OWN_RIGHTS);
    } catch (cause) {
      const isTaken = errnoOf(cause) === "EEXIST"; // By anything, not only a file.
      throw !isTaken && isSymbolicLink(reached) ? unsafePath(path, this.path, cause) : cause;
    }
    try {
      this.#refuseUnlessInPlace(descriptor, path);
    } catch (cause) {
      closeSync(descriptor);
      throw cause;
    }
    return new NodeFile(descriptor, this.#hasProc);
  }

  remove(name: string): void {
    unlinkSync(`${this.#reach}/${name}`);
  }

  names(): string[] {
    return readdirSync(this.#reach);
  }

  rename(from: string, to: string): void {
    renameSync(`${this.#reach}/${from}`, `${this.#reach}/${to}`);
  }

  /** Returns whether it was missing before. */
  makeDirectory(name: string): Promise<boolean> {
    return makeDirectory(`${this.#reach}/${name}`, this.#descriptor);
  }

  sync(): Promise<void> {
    return settled((done) => fsync(this.#descriptor, done));
  }

  async syncAncestors(): Promise<void> {
    for (let path = dirname(this.path); ; path = dirname(path)) {
      let descriptor: number;
      try {
        descriptor = openSync(path, O_RDONLY | O_DIRECTORY);
      } catch (cause) {
        if (!["EACCES", "EPERM"].includes(errnoOf(cause))) throw cause;
        return; // Not readable, so not made by us or by a process like ours.
      }
      try {
        await settled((done) => fsync(descriptor, done));
      } finally {
        closeSync(descriptor);
      }
      if (path === dirname(path)) return;
    }
  }

  watch(name: string, onChange: () => void): () => void {
    try {
      const watcher = watch(join(this.path, name), onChange);
      watcher.on("error", () => watcher.close()); // Only a hint is lost: callers also poll.
      return () => watcher.close();
    } catch {
      return () => {}; // The system has no watches left; callers poll.
    }
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  #refuseUnlessInPlace(descriptor: number, path: string): void {
    const opened = fstatSync(descriptor);
    // A directory can be opened for reading, and a pipe or device would be taken for a log.
    if (!opened.isFile()) throw unsafePath(path, this.path, new Error("not a regular file"));
    if (this.#mustBeAt === null) return;
    for (let look = 0; look < LOOKS; look++) {
      const stats = realpathSync(this.path) === this.#mustBeAt ? lstatSync(path) : null;
      if (opened.ino === stats?.ino && opened.dev === stats.dev) continue;
      throw unsafePath(path, this.#mustBeAt, new Error("the directory was moved while opening"));
    }
  }
}

export interface NodeFilesOptions {
  /** Whether to use `/proc/self/fd`. Detected by default; tests set it. */
  readonly byDescriptor?: boolean;
}

export function createNodeFiles(options: NodeFilesOptions = {}): Files {
  const byDescriptor = options.byDescriptor ?? hasDescriptorPaths();

  return { makeDirectory: makeOne, openDirectory };

  async function makeOne(path: string, { root }: { root?: string | undefined }): Promise<boolean> {
    const parent = await openDirectory(dirname(path), { create: true, root });
    try {
      return await parent.makeDirectory(basename(path));
    } finally {
      parent.close();
    }
  }

  async function openDirectory(
    path: string,
    { create, root }: DirectoryOptions,
  ): Promise<NodeDirectory> {
    if (process.platform === "win32") {
      throw new VerbatimError(
        "UNSUPPORTED_PLATFORM",
        "Verbatim does not run on Windows; use Linux, or WSL",
        { platform: process.platform },
      );
    }
    const top = resolve(root ?? path);
    const below = relative(top, resolve(path));
    if (below === ".." || below.startsWith(`..${sep}`)) throw unsafePath(path, top);
    if (create) await makeDirectories(top);
    const topPath = realpathSync(top);
    let descriptor = openSync(topPath, O_RDONLY | O_DIRECTORY);
    let at = topPath;
    for (const segment of below.split(sep).filter(Boolean)) {
      const parent = descriptor;
      try {
        const reach = byDescriptor ? `/proc/self/fd/${parent}` : at;
        if (create) await makeDirectory(`${reach}/${segment}`, parent);
        descriptor = openSync(`${reach}/${segment}`, O_RDONLY | O_DIRECTORY | SAFELY);
      } catch (cause) {
        const link = isSymbolicLink(join(at, segment));
        throw link ? unsafePath(join(at, segment), topPath, cause) : cause;
      } finally {
        closeSync(parent);
      }
      at = join(at, segment);
    }
    return new NodeDirectory(at, descriptor, byDescriptor, root === undefined ? null : at);
  }
}

function hasDescriptorPaths(): boolean {
  try {
    return existsSync("/proc/self/fd");
  } catch {
    return false; // Deno throws without its option -A.
  }
}

/** Makes one directory, durable in its parent. Returns whether it was missing before. */
async function makeDirectory(path: string, parentDescriptor: number): Promise<boolean> {
  try {
    mkdirSync(path, 0o700);
  } catch (cause) {
    if (errnoOf(cause) !== "EEXIST") throw cause;
    return false;
  }
  await settled((done) => fsync(parentDescriptor, done));
  return true;
}

/** Makes a directory and its missing parents. For the caller's own path, so links are followed. */
async function makeDirectories(path: string): Promise<void> {
  if (existsSync(path)) return;
  const parent = dirname(path);
  await makeDirectories(parent);
  const descriptor = openSync(parent, O_RDONLY | O_DIRECTORY);
  try {
    await makeDirectory(path, descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function isSymbolicLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false; // Not there, so not a link; the caller reports the first error.
  }
}

/**
 * The descriptor's position: after a write to the end of a file, that write's end, however many
 * other programs write there too.
 */
function writtenTo(descriptor: number): number {
  const [, position] =
    /^pos:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, "latin1")) ?? [];
  if (position === undefined) throw new Error("/proc does not say where the file is written");
  return Number(position);
}

function readOnce(fd: number, into: Uint8Array, offset: number, at: number): Promise<number> {
  return new Promise((resolve, reject) => {
    read(fd, into, offset, into.length - offset, at, (error, count) => {
      if (error) reject(error);
      else resolve(count);
    });
  });
}

function settled(start: (done: (error?: Error | null) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    start((error) => (error ? reject(error) : resolve()));
  });
}
