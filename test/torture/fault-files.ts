/**
 * Fault files: implements `core/base/files.ts` on a fault disk, for processes that can be killed.
 *
 * A machine has one disk and many processes. Killing a process closes its files, frees its
 * locks and keeps the page cache; a power cut kills all of them and crashes the disk. A call
 * by a dead process throws or never returns.
 */

import type { Directory, Files, Landing, OpenFile, OpenMode } from "../../src/core/base/files.ts";
import type { Host } from "../../src/core/base/host.ts";
import { DirectoryNode, FileNode } from "./fault-disk.ts";
import type { Random, Scheduler } from "./scheduler.ts";

export const STARTED = "2026-01-01T00:00:00.000Z";

export type Call = "open" | "read" | "write" | "writeAt" | "sync" | "truncate" | "syncDirectory";

/** How one call fails: an error, a short write, or the caller dies during it. */
export type Fault =
  | { readonly errno: "EIO" | "ENOSPC" | "EDQUOT" }
  | { readonly lacks: number; readonly caller: "returns" | "dies" };

/** Called before every call; null lets it succeed. `name` is the name of the file. */
export type FaultPlan = (call: Call, name: string) => Fault | null;

export interface MachineOptions {
  readonly random: Random;
  readonly scheduler: Scheduler;
  readonly pageBytes: number;
  readonly plan: FaultPlan;
  /** Reports the disk as a network file system of this type. */
  readonly networkFileSystem?: string;
}

export class Machine {
  readonly options: MachineOptions;
  readonly #directories = new Map<string, DirectoryNode>();
  readonly #processes = new Set<Process>();
  /** Syncs under way that will fail. One that a killed process began fails for the next one, too. */
  failingSyncs = 0;
  #files = 0;

  constructor(options: MachineOptions) {
    this.options = options;
  }

  /** No call of a spared process fails: for readers that check the disk. */
  startProcess(isSpared = false): Process {
    const process = new Process(this, isSpared);
    this.#processes.add(process);
    return process;
  }

  powerCut(): void {
    for (const process of this.#processes) process.kill();
    this.#processes.clear();
    for (const directory of this.#directories.values()) directory.crash(this.options.random);
  }

  /** The kernel writes some dirty pages without being asked. */
  writeBack(): void {
    for (const directory of this.#directories.values()) {
      for (const file of directory.files()) file.writeBack(this.options.random);
    }
  }

  /** What a process would read from a file now; null when there is no file. */
  contents(directory: string, name: string): Buffer | null {
    const file = this.#directories.get(directory)?.get(name);
    if (!file) return null;
    const bytes = Buffer.alloc(file.size);
    file.read(bytes, 0);
    return bytes;
  }

  /** From now on reads of a file see a flipped bit in this byte; null: no longer. */
  flip(directory: string, name: string, at: number | null): void {
    this.#directories.get(directory)?.get(name)?.flip(at);
  }

  names(directory: string): string[] {
    return this.#directories.get(directory)?.names() ?? [];
  }

  makeDirectory(path: string): boolean {
    const isNew = !this.#directories.has(path);
    this.directoryAt(path, true);
    return isNew;
  }

  /** Directories are durable once made; only names of files can be lost. */
  directoryAt(path: string, create: boolean): DirectoryNode {
    const found = this.#directories.get(path);
    if (found) return found;
    if (!create) throw failure("ENOENT");
    const made = new DirectoryNode();
    this.#directories.set(path, made);
    return made;
  }

  newFile(): FileNode {
    return new FileNode(++this.#files, this.options.pageBytes);
  }

  isNamed(file: FileNode): boolean {
    return [...this.#directories.values()].some((directory) => directory.has(file));
  }

  /** Whether another open file holds a lock that excludes this one. */
  isLockedAgainst(asking: FaultFile, kind: "exclusive" | "shared"): boolean {
    for (const process of this.#processes) {
      for (const other of process.openFiles) {
        if (other === asking || other.node !== asking.node || other.lock === null) continue;
        if (kind === "exclusive" || other.lock === "exclusive") return true;
      }
    }
    return false;
  }
}

export class Process implements Files {
  readonly machine: Machine;
  readonly openFiles = new Set<FaultFile>();
  readonly #isSpared: boolean;
  #isAlive = true;

  constructor(machine: Machine, isSpared: boolean) {
    this.machine = machine;
    this.#isSpared = isSpared;
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  get host(): Host {
    const clock = this.machine.options.scheduler;
    return { files: this, clock, process: { pid: 1, started: STARTED } };
  }

  kill(): void {
    this.#isAlive = false;
    this.openFiles.clear();
  }

  /**
   * A callback that runs only while the process is alive. A promise that was resolved before a
   * kill may call back after it; a real process would not be there to receive it.
   */
  whileAlive<A extends unknown[]>(callback: (...args: A) => void): (...args: A) => void {
    return (...args) => {
      if (this.#isAlive) callback(...args);
    };
  }

  async makeDirectory(path: string): Promise<boolean> {
    this.mustLive();
    return this.machine.makeDirectory(path);
  }

  async openDirectory(path: string, { create }: { create: boolean }): Promise<Directory> {
    this.mustLive();
    return new FaultDirectory(this, path, this.machine.directoryAt(path, create));
  }

  mustLive(): void {
    if (!this.#isAlive) throw failure("EDEAD");
  }

  /** Fails this call if it is planned to. A short write is returned, for the caller to do. */
  plan(call: Call, name: string): Fault | null {
    this.mustLive();
    const fault = this.#isSpared ? null : this.machine.options.plan(call, name);
    if (fault && "errno" in fault && call !== "sync" && call !== "syncDirectory") {
      throw failure(fault.errno);
    }
    return fault;
  }

  /** A call never returns to a process that died during it. */
  async returned(): Promise<void> {
    if (!this.#isAlive) await new Promise(() => {});
  }
}

class FaultDirectory implements Directory {
  readonly path: string;
  readonly #process: Process;
  readonly #node: DirectoryNode;

  constructor(process: Process, path: string, node: DirectoryNode) {
    this.#process = process;
    this.path = path;
    this.#node = node;
  }

  get networkFileSystem(): string | null {
    return this.#process.machine.options.networkFileSystem ?? null;
  }

  open(name: string, mode: OpenMode): OpenFile {
    this.#process.plan("open", name);
    let node = this.#node.get(name);
    if (node && mode === "new") throw failure("EEXIST");
    if (!node && mode === "read") throw failure("ENOENT");
    if (!node) {
      node = this.#process.machine.newFile();
      this.#node.set(name, node);
    }
    const file = new FaultFile(this.#process, name, node);
    this.#process.openFiles.add(file);
    return file;
  }

  remove(name: string): void {
    this.#process.mustLive();
    this.#node.delete(name);
  }

  names(): string[] {
    this.#process.mustLive();
    return this.#node.names();
  }

  rename(from: string, to: string): void {
    this.#process.mustLive();
    const node = this.#node.get(from);
    if (!node) throw failure("ENOENT");
    this.#node.set(to, node);
    this.#node.delete(from);
  }

  async sync(): Promise<void> {
    const fault = this.#process.plan("syncDirectory", ".");
    const finish = this.#node.beginSync();
    await this.#process.machine.options.scheduler.turn();
    await this.#process.returned();
    if (fault && "errno" in fault) throw failure(fault.errno);
    finish();
  }

  async syncAncestors(): Promise<void> {} // Directories are durable once made.

  watch(): () => void {
    return () => {}; // Every caller also polls.
  }

  close(): void {}
}

export class FaultFile implements OpenFile {
  readonly node: FileNode;
  lock: "exclusive" | "shared" | null = null;
  readonly #process: Process;
  readonly #name: string;
  #failedSyncsReported: number;

  constructor(process: Process, name: string, node: FileNode) {
    this.#process = process;
    this.#name = name;
    this.node = node;
    this.#failedSyncsReported = node.failedSyncs;
  }

  async read(into: Uint8Array, at: number): Promise<number> {
    this.#process.plan("read", this.#name);
    return this.node.read(into, at);
  }

  write(bytes: Uint8Array, length = bytes.length): number {
    return this.#write("write", bytes.subarray(0, length), this.node.size);
  }

  landing(taken: Uint8Array): Landing {
    return { start: this.node.size - taken.length, beginsLine: true }; // All writers here take turns.
  }

  writeAt(bytes: Uint8Array, at: number): number {
    return this.#write("writeAt", bytes, at);
  }

  async sync(): Promise<void> {
    const fault = this.#process.plan("sync", this.#name);
    const { machine } = this.#process;
    const { random, scheduler } = machine.options;
    const finish = this.node.beginSync();
    if (fault) machine.failingSyncs++;
    await scheduler.turn();
    finish(fault ? random : null); // Also for a caller that has died: the kernel continues.
    if (fault) machine.failingSyncs--;
    await this.#process.returned();
    if (this.#failedSyncsReported === this.node.failedSyncs) return;
    this.#failedSyncsReported = this.node.failedSyncs;
    throw failure(fault && "errno" in fault ? fault.errno : "EIO");
  }

  truncate(size: number): void {
    this.#process.plan("truncate", this.#name);
    this.node.truncate(size);
  }

  size(): number {
    this.#process.mustLive();
    return this.node.size;
  }

  endsAt(size: number): boolean {
    return this.size() === size;
  }

  identity(): string {
    return String(this.node.id);
  }

  isLinked(): boolean {
    return this.#process.machine.isNamed(this.node);
  }

  narrow(): null {
    return null; // There are no other users here.
  }

  tryLock(kind: "exclusive" | "shared"): boolean {
    this.#process.mustLive();
    if (this.#process.machine.isLockedAgainst(this, kind)) return false;
    this.lock = kind;
    return true;
  }

  unlock(): void {
    this.lock = null;
  }

  close(): void {
    this.#process.openFiles.delete(this);
  }

  #write(call: "write" | "writeAt", bytes: Uint8Array, at: number): number {
    const fault = this.#process.plan(call, this.#name);
    if (!fault || "errno" in fault) {
      this.node.write(bytes, at);
      return bytes.length;
    }
    const taken = Math.max(0, bytes.length - fault.lacks);
    if (taken > 0) this.node.write(bytes.subarray(0, taken), at);
    this.node.writeBack(this.#process.machine.options.random); // Before it can be rolled back.
    if (fault.caller === "returns") return taken;
    this.#process.kill();
    throw failure("EDEAD");
  }
}

function failure(errno: string): Error {
  return Object.assign(new Error(`${errno} (planned)`), { code: errno });
}
