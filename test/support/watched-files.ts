/**
 * Watched files: the real disk, with a test in between that sees every call, blocks it, fails it or
 * cuts it short. Lost pages are simulated by the fault file system (src/torture).
 */

import { basename } from "node:path";
import type {
  Directory,
  DirectoryOptions,
  Files,
  Landing,
  OpenFile,
  OpenMode,
} from "../../src/core/base/files.ts";
import type { Host } from "../../src/core/base/host.ts";
import { createNodeFiles } from "../../src/core/base/node-files.ts";
import { nodeHost } from "../../src/core/base/node-host.ts";

export interface FileCall {
  readonly call:
    | ("open" | "read" | "write" | "writeAt" | "sync" | "truncate" | "close")
    | ("remove" | "rename" | "syncDirectory" | "syncAncestors");
  /** The name of the file, or of the directory for a call on the directory itself. */
  readonly name: string;
  /** Where a read or a write in place starts, or the size a file is cut to. */
  readonly at: number;
  readonly bytes: number;
  readonly mode: OpenMode | null;
}

type Hold = undefined | Promise<void>;

export class WatchedFiles implements Files {
  readonly calls: FileCall[] = [];
  /** Runs before each call. Throws to fail it; a promise blocks a read or a sync. */
  before: (call: FileCall) => Hold = () => undefined;
  /** How many bytes of a write the disk accepts. */
  takes: (call: FileCall) => number = ({ bytes }) => bytes;
  /** Runs before each look at a file's size or position. */
  beforeLook: (name: string) => void = () => {};
  networkFileSystem: string | null = null;
  /** Whether watching a file reports changes. */
  hasWatches = true;
  readonly #files = createNodeFiles();
  readonly #awaited: { fits: (call: FileCall) => boolean; left: number; done: () => void }[] = [];

  /** This disk in an otherwise real machine. */
  get host(): Host {
    return { ...nodeHost, files: this };
  }

  /** The calls of one kind on one file, so far. */
  made(call: FileCall["call"], name: string): FileCall[] {
    return this.calls.filter((made) => made.call === call && made.name === name);
  }

  /** Resolves when a matching call is made for the `times`-th time from now. */
  next(fits: (call: FileCall) => boolean, times = 1): Promise<void> {
    return new Promise((done) => this.#awaited.push({ fits, left: times, done }));
  }

  makeDirectory(path: string, options: { root?: string | undefined }): Promise<boolean> {
    return this.#files.makeDirectory(path, options);
  }

  async openDirectory(path: string, options: DirectoryOptions): Promise<Directory> {
    return new WatchedDirectory(await this.#files.openDirectory(path, options), this);
  }

  /** Records a call that is about to be made, and lets the test interfere. */
  tell(call: FileCall): Hold {
    this.calls.push(call);
    for (const awaited of this.#awaited) {
      if (awaited.fits(call) && --awaited.left === 0) awaited.done();
    }
    return this.before(call);
  }
}

class WatchedDirectory implements Directory {
  readonly #directory: Directory;
  readonly #watched: WatchedFiles;

  constructor(directory: Directory, watched: WatchedFiles) {
    this.#directory = directory;
    this.#watched = watched;
  }

  get path(): string {
    return this.#directory.path;
  }

  get networkFileSystem(): string | null {
    return this.#watched.networkFileSystem ?? this.#directory.networkFileSystem;
  }

  open(name: string, mode: OpenMode): OpenFile {
    this.#watched.tell({ call: "open", name, at: 0, bytes: 0, mode });
    return new WatchedFile(this.#directory.open(name, mode), name, this.#watched);
  }

  remove(name: string): void {
    this.#watched.tell({ call: "remove", name, at: 0, bytes: 0, mode: null });
    this.#directory.remove(name);
  }

  names(): string[] {
    return this.#directory.names();
  }

  rename(from: string, to: string): void {
    this.#watched.tell({ call: "rename", name: from, at: 0, bytes: 0, mode: null });
    this.#directory.rename(from, to);
  }

  async sync(): Promise<void> {
    const name = basename(this.path);
    await this.#watched.tell({ call: "syncDirectory", name, at: 0, bytes: 0, mode: null });
    return this.#directory.sync();
  }

  async syncAncestors(): Promise<void> {
    const name = basename(this.path);
    await this.#watched.tell({ call: "syncAncestors", name, at: 0, bytes: 0, mode: null });
    return this.#directory.syncAncestors();
  }

  watch(name: string, onChange: () => void): () => void {
    return this.#watched.hasWatches ? this.#directory.watch(name, onChange) : () => {};
  }

  close(): void {
    this.#directory.close();
  }
}

class WatchedFile implements OpenFile {
  readonly #file: OpenFile;
  readonly #name: string;
  readonly #watched: WatchedFiles;

  constructor(file: OpenFile, name: string, watched: WatchedFiles) {
    this.#file = file;
    this.#name = name;
    this.#watched = watched;
  }

  async read(into: Uint8Array, at: number): Promise<number> {
    await this.#tell("read", at, into.length);
    return this.#file.read(into, at);
  }

  write(bytes: Uint8Array, length = bytes.length): number {
    this.#tell("write", 0, length);
    return this.#file.write(bytes, this.#takes("write", 0, length));
  }

  landing(taken: Uint8Array, from: number): Landing {
    this.#watched.beforeLook(this.#name);
    return this.#file.landing(taken, from);
  }

  writeAt(bytes: Uint8Array, at: number): number {
    this.#tell("writeAt", at, bytes.length);
    return this.#file.writeAt(bytes.subarray(0, this.#takes("writeAt", at, bytes.length)), at);
  }

  async sync(): Promise<void> {
    await this.#tell("sync", 0, 0);
    return this.#file.sync();
  }

  truncate(size: number): void {
    this.#tell("truncate", size, 0);
    this.#file.truncate(size);
  }

  size(): number {
    this.#watched.beforeLook(this.#name);
    return this.#file.size();
  }

  identity(): string {
    return this.#file.identity();
  }

  endsAt(size: number): boolean {
    this.#watched.beforeLook(this.#name);
    return this.#file.endsAt(size);
  }

  isLinked(): boolean {
    return this.#file.isLinked();
  }

  narrow(): number | null {
    return this.#file.narrow();
  }

  tryLock(kind: "exclusive" | "shared"): boolean {
    return this.#file.tryLock(kind);
  }

  unlock(): void {
    this.#file.unlock();
  }

  close(): void {
    this.#tell("close", 0, 0);
    this.#file.close();
  }

  #tell(call: FileCall["call"], at: number, bytes: number): Hold {
    return this.#watched.tell({ call, name: this.#name, at, bytes, mode: null });
  }

  #takes(call: FileCall["call"], at: number, bytes: number): number {
    return this.#watched.takes({ call, name: this.#name, at, bytes, mode: null });
  }
}
