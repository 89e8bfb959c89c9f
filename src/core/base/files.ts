/**
 * Files: the interface between the log and the disk.
 *
 * Every read and write of a log goes through these calls, so that a test can lose unsynced pages,
 * tear or reorder them, and fail any call (`test/torture`). `node-files.ts` is the real disk.
 * Failures are thrown as the operating system reports them: an Error whose `code` is an errno name.
 *
 * - A call that changes the page cache is synchronous, a call that waits for the disk is not. A
 *   write to the page cache costs about a microsecond; handing it to another thread costs ten
 *   (docs/decisions/0002-synchronous-writes.md).
 * - No call follows a symbolic link in the last part of a path; with a root, in no part below it.
 * - `write` and `writeAt` are one system call each, and may be short.
 */

/** How a file is opened. All new files are 0600. */
export type OpenMode =
  /** An existing file, to read. */
  | "read"
  /** To read, and to write at the end only; created when missing. */
  | "append"
  /** To read, and to write in place; created when missing. */
  | "update"
  /** To write a file that must not exist yet. */
  | "new";

/** Where a write landed that another program's writes may have displaced. */
export interface Landing {
  readonly start: number;
  /** Whether a line begins there: the other program's last line has its LF. */
  readonly beginsLine: boolean;
}

export interface OpenFile {
  /** Reads into the whole of `into`, from `at`; resolves to the bytes read, 0 at the end. */
  read(into: Uint8Array, at: number): Promise<number>;
  /** Writes the first `length` bytes at the end (`append`, `new`). Returns the bytes written. */
  write(bytes: Uint8Array, length?: number): number;
  /**
   * Where the last `write` landed, which took these bytes: at `from` or after. Asked if the file does
   * not end where it would without other writers.
   */
  landing(taken: Uint8Array, from: number): Landing;
  /** Writes in place (`update`). Returns the bytes written. */
  writeAt(bytes: Uint8Array, at: number): number;
  /** Makes bytes and size durable. After a failure it is unknown which are. */
  sync(): Promise<void>;
  truncate(size: number): void;
  size(): number;
  /** Whether the file has exactly this size; cheaper than `size`. */
  endsAt(size: number): boolean;
  /** Identifies the file, not its path: two handles of one file return the same. */
  identity(): string;
  /** False once the file was deleted or replaced. */
  isLinked(): boolean;
  /** Removes all permissions beyond 0600. Returns the old ones if there were more, else null. */
  narrow(): number | null;
  /** A kernel lock on the whole file, freed with the handle or the process. Never waits. */
  tryLock(kind: "exclusive" | "shared"): boolean;
  unlock(): void;
  close(): void;
}

export interface Directory {
  readonly path: string;
  /** The file system's name if another machine or a program may serve it, else null. */
  readonly networkFileSystem: string | null;
  open(name: string, mode: OpenMode): OpenFile;
  remove(name: string): void;
  /** File names, unsorted. */
  names(): string[];
  /** Atomically replaces `to` by `from`. Durable after `sync`. */
  rename(from: string, to: string): void;
  /** Makes the names in this directory durable. */
  sync(): Promise<void>;
  /**
   * Makes the directories above this one durable: the process that made them may have been killed
   * before it synced them.
   */
  syncAncestors(): Promise<void>;
  /** Calls back some time after `name` may have changed. Only a hint: also poll. */
  watch(name: string, onChange: () => void): () => void;
  close(): void;
}

export interface DirectoryOptions {
  /** Makes missing directories, 0700, each synced in its parent. */
  readonly create: boolean;
  /** The directory must be below this one, with no symbolic link on the way. */
  readonly root?: string | undefined;
}

export interface Files {
  /** Makes a directory and its missing parents. Returns whether it was missing before. */
  makeDirectory(path: string, options: { readonly root?: string | undefined }): Promise<boolean>;
  openDirectory(path: string, options: DirectoryOptions): Promise<Directory>;
}

/** An object under construction: its fields can be set. */
export type Mutable<T> = { -readonly [Field in keyof T]: T[Field] };
