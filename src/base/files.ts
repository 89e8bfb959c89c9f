/**
 * Files: the one seam between the log and the disk.
 *
 * Everything that reads or writes a log goes through these few calls, so that a test can
 * lose un-synced pages, tear or reorder them, and fail any call (`src/torture`).
 * `node-files.ts` is the real one. Failures are thrown as the operating system gives them:
 * an Error whose `code` is an errno name.
 *
 * F1  A call that changes the page cache is synchronous, a call that waits for the disk is
 *     not. A write to the page cache costs about a microsecond; handing it to another
 *     thread costs ten (docs/decisions/0002-synchronous-writes.md).
 * F2  No call follows a symbolic link in its last part; with a root, in no part below it.
 * F3  `write` and `writeAt` are one system call each, and may be short.
 */

/** How a file is opened. All new files are 0600. */
export type OpenMode =
  /** An existing file, to read. */
  | "read"
  /** To read, and to write at the end only; made when missing. */
  | "append"
  /** To read, and to write in place; made when missing. */
  | "update"
  /** To write a file that must not exist yet. */
  | "new";

export interface OpenFile {
  /** Reads into the whole of `into`, from `at`; resolves to the bytes read, 0 at the end. */
  read(into: Uint8Array, at: number): Promise<number>;
  /** Writes the first `length` bytes at the end (`append`, `new`). Returns how many it took. */
  write(bytes: Uint8Array, length?: number): number;
  /** Writes in place (`update`). Returns how many bytes it took. */
  writeAt(bytes: Uint8Array, at: number): number;
  /** Makes bytes and size durable. A failure says nothing about which were. */
  sync(): Promise<void>;
  truncate(size: number): void;
  size(): number;
  /** Whether the file has exactly this size; cheaper than asking for it. */
  endsAt(size: number): boolean;
  /** Names the file itself, not its path: two handles of one file agree. */
  identity(): string;
  /** Whether the file still has a name: false once it was deleted or replaced. */
  isLinked(): boolean;
  /** Takes away all rights beyond 0600. Returns those it had when these were more, else null. */
  narrow(): number | null;
  /** A kernel lock on the whole file, freed with the handle or the process. Never waits. */
  tryLock(kind: "exclusive" | "shared"): boolean;
  unlock(): void;
  close(): void;
}

export interface Directory {
  readonly path: string;
  /** The file system's name when it is one whose durability is another machine's, else null. */
  readonly networkFileSystem: string | null;
  open(name: string, mode: OpenMode): OpenFile;
  remove(name: string): void;
  /** What is in it, in no order. */
  names(): string[];
  /** Puts `from` in the place of `to`, whole or not at all. Durable after `sync`. */
  rename(from: string, to: string): void;
  /** Makes the names in this directory durable. */
  sync(): Promise<void>;
  /**
   * Makes the directories above this one durable: whoever made them may have been killed before
   * it came to that.
   */
  syncAncestors(): Promise<void>;
  /** Calls back, some time, after `name` may have changed. A hint; whoever watches also polls. */
  watch(name: string, onChange: () => void): () => void;
  close(): void;
}

export interface DirectoryOptions {
  /** Makes missing directories, 0700, each synced in its parent. */
  readonly create: boolean;
  /** The directory must lie below this one, with no symbolic link on the way. */
  readonly root?: string | undefined;
}

export interface Files {
  /** Makes one directory, and those above it that are missing; whether it was not there before. */
  makeDirectory(path: string, options: { readonly root?: string | undefined }): Promise<boolean>;
  openDirectory(path: string, options: DirectoryOptions): Promise<Directory>;
}
