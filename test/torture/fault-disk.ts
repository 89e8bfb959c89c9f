/**
 * Fault disk: a disk and its page cache that do everything a real one is allowed to do.
 *
 * Reads see the cache; a power cut leaves the platter. Until a write is synced, each page may
 * have reached the platter or not, completely or in part, in any order. The file may have any
 * size it had since the last sync; bytes within it that never arrived are zeros. Names behave the
 * same way: one made or removed since the directory's last sync may be there or not.
 *
 * After a failed sync the pages it did not write read back as written, count as clean,
 * and are gone after the crash. The next sync of every handle that was open reports the
 * failure once; a handle opened later never reports it. (Linux does this since 4.13.)
 */

import type { Random } from "./scheduler.ts";

const SECTOR_BYTES = 16;

/** One file: its bytes in the cache, its bytes on the platter, and which pages differ. */
export class FileNode {
  readonly id: number;
  readonly #pageBytes: number;
  #cache: Buffer = Buffer.alloc(0);
  #platter: Buffer = Buffer.alloc(0);
  /** Pages that differ from the platter, each with the number of its last write. */
  readonly #dirty = new Map<number, number>();
  /** Where reads see a wrong bit. Nothing wrong is ever stored: a sync would make it durable. */
  #flippedAt: number | null = null;
  #writes = 0;
  #failedSyncs = 0;
  #syncsBegun = 0;
  #newestSync = 0;
  #syncsInFlight = 0;
  /** Sizes that the file may have after a crash: every one since the last sync. */
  #sizes: { readonly size: number; readonly write: number }[] = [{ size: 0, write: 0 }];

  constructor(id: number, pageBytes: number) {
    this.id = id;
    this.#pageBytes = pageBytes;
  }

  get size(): number {
    return this.#cache.length;
  }

  get failedSyncs(): number {
    return this.#failedSyncs;
  }

  read(into: Uint8Array, at: number): number {
    if (at >= this.size) return 0;
    const length = this.#cache.copy(into, 0, at, Math.min(at + into.length, this.size));
    const flipped = this.#flippedAt === null ? -1 : this.#flippedAt - at;
    if (flipped >= 0 && flipped < length) into[flipped] = (into[flipped] ?? 0) ^ 4;
    return length;
  }

  /** From now on reads see a flipped bit in this byte; null: no longer. */
  flip(at: number | null): void {
    this.#flippedAt = at;
  }

  write(bytes: Uint8Array, at: number): void {
    this.#cache = withBytes(this.#cache, bytes, at);
    this.#touch(at, at + bytes.length);
  }

  truncate(size: number): void {
    const before = this.size;
    this.#cache = resized(this.#cache, size);
    this.#touch(size, Math.max(before, size));
  }

  /** Begins a sync of everything written so far. The returned function ends it, or fails it. */
  beginSync(): (failure: Random | null) => void {
    const begun = ++this.#syncsBegun;
    const upTo = this.#writes;
    const pages = new Map(this.#dirty);
    const bytes = Buffer.from(this.#cache);
    this.#syncsInFlight++;
    return (failure) => {
      // A later sync has done all of this, or the power was cut.
      if (begun < this.#newestSync) return;
      this.#syncsInFlight--;
      this.#newestSync = begun;
      for (const [page, write] of pages) {
        if (failure === null || failure.chance(0.3)) this.#writeOut(page, bytes);
        if (this.#dirty.get(page) === write) this.#dirty.delete(page);
      }
      if (failure) {
        this.#failedSyncs++;
        return;
      }
      this.#platter = resized(this.#platter, bytes.length);
      const later = this.#sizes.filter(({ write }) => write > upTo);
      this.#sizes = [{ size: bytes.length, write: upTo }, ...later];
    };
  }

  /** The kernel writes some dirty pages without being asked. */
  writeBack(random: Random): void {
    if (this.#syncsInFlight > 0) return; // The sync is writing them.
    for (const page of [...this.#dirty.keys()]) {
      if (!random.chance(0.5)) continue;
      this.#writeOut(page, this.#cache);
      this.#dirty.delete(page);
    }
    if (random.chance(0.5)) {
      this.#platter = resized(this.#platter, this.size);
      this.#sizes = [{ size: this.size, write: this.#writes }];
    }
  }

  /** The power is cut: the cache becomes what the platter holds. */
  crash(random: Random): void {
    const from = this.#cache;
    for (const page of this.#dirty.keys()) {
      const fate = random.below(3);
      if (fate === 0) this.#writeOut(page, from);
      if (fate === 1)
        this.#writeOut(page, from, SECTOR_BYTES * random.below(this.#pageBytes / SECTOR_BYTES));
    }
    this.#platter = resized(this.#platter, random.pick(this.#sizes).size);
    this.#cache = Buffer.from(this.#platter);
    this.#dirty.clear();
    this.#sizes = [{ size: this.size, write: this.#writes }];
    this.#newestSync = ++this.#syncsBegun;
    this.#syncsInFlight = 0;
  }

  /** Writes a page, or its first bytes, to the platter. Does not decide the size of the file. */
  #writeOut(page: number, from: Buffer, bytes = this.#pageBytes): void {
    const at = page * this.#pageBytes;
    const arrived = from.subarray(at, Math.min(at + bytes, from.length));
    if (arrived.length === 0) return;
    // In place: no other code holds the platter, and a sync may write a thousand pages to it.
    this.#platter = resized(this.#platter, Math.max(this.#platter.length, at + arrived.length));
    this.#platter.set(arrived, at);
  }

  #touch(from: number, to: number): void {
    this.#writes++;
    const last = Math.floor(Math.max(from, to - 1) / this.#pageBytes);
    for (let page = Math.floor(from / this.#pageBytes); page <= last; page++) {
      this.#dirty.set(page, this.#writes);
    }
    this.#sizes.push({ size: this.size, write: this.#writes });
  }
}

/** One directory: the names it shows, and the names the platter has. */
export class DirectoryNode {
  #names = new Map<string, FileNode>();
  #platter = new Map<string, FileNode>();

  get(name: string): FileNode | undefined {
    return this.#names.get(name);
  }

  set(name: string, file: FileNode): void {
    this.#names.set(name, file);
  }

  delete(name: string): void {
    this.#names.delete(name);
  }

  has(file: FileNode): boolean {
    return [...this.#names.values()].includes(file);
  }

  names(): string[] {
    return [...this.#names.keys()];
  }

  files(): FileNode[] {
    return [...new Set([...this.#names.values(), ...this.#platter.values()])];
  }

  beginSync(): () => void {
    const names = new Map(this.#names);
    return () => {
      this.#platter = names;
    };
  }

  crash(random: Random): void {
    for (const name of new Set([...this.#names.keys(), ...this.#platter.keys()])) {
      const [shown, stored] = [this.#names.get(name), this.#platter.get(name)];
      if (shown === stored || random.chance(0.5)) continue;
      if (shown) this.#platter.set(name, shown);
      else this.#platter.delete(name);
    }
    this.#names = new Map(this.#platter);
    for (const file of this.#names.values()) file.crash(random);
  }
}

function resized(bytes: Buffer, size: number): Buffer {
  if (size <= bytes.length) return bytes.subarray(0, size);
  const larger = Buffer.alloc(size);
  bytes.copy(larger);
  return larger;
}

function withBytes(into: Buffer, bytes: Uint8Array, at: number): Buffer {
  // Always a copy: a sync in progress still reads the old buffer.
  const result = Buffer.alloc(Math.max(into.length, at + bytes.length));
  into.copy(result);
  result.set(bytes, at);
  return result;
}
