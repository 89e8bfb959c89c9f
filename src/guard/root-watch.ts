/**
 * Root watch: which directories of a root changed, by the system's watches. They are hints: callers
 * also poll. When the system has no watches left, all are given up, and only polling remains.
 */

import { type FSWatcher, watch } from "node:fs";
import { dirname, join } from "node:path";
import { errnoOf } from "../core/base/errors.ts";

const RUN_OUT: ReadonlySet<string> = new Set(["ENOSPC", "EMFILE", "ENFILE"]);

export class RootWatch {
  readonly #root: string;
  readonly #onChange: (path: string | null) => void;
  readonly #onRunOut: (errno: string) => void;
  readonly #watch: typeof watch;
  readonly #watchers = new Map<string, FSWatcher>();
  #hasRunOut = false;

  /** `onChange`: a path below the root may have changed; null: unknown which. */
  constructor(
    root: string,
    onChange: (path: string | null) => void,
    onRunOut: (errno: string) => void,
    watchWith = watch,
  ) {
    this.#root = root;
    this.#onChange = onChange;
    this.#onRunOut = onRunOut;
    this.#watch = watchWith;
  }

  get hasRunOut(): boolean {
    return this.#hasRunOut;
  }

  /**
   * Watches these directories, below the root, and those above them. Returns whether some were not
   * watched before: what changed in them until now was not noticed.
   */
  watch(directories: Iterable<string>): boolean {
    const before = this.#watchers.size;
    this.#add(".");
    for (const each of directories) {
      for (let at = each; at !== "." && !this.#watchers.has(at); at = dirname(at)) this.#add(at);
    }
    return this.#watchers.size > before;
  }

  close(): void {
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  #add(directory: string): void {
    if (this.#hasRunOut || this.#watchers.has(directory)) return;
    const drop = (cause: unknown) => this.#drop(directory, errnoOf(cause));
    try {
      const path = join(this.#root, directory);
      const watcher = this.#watch(path, { persistent: false }, (_, name) => {
        this.#onChange(name === null ? null : directory === "." ? name : `${directory}/${name}`);
      });
      watcher.on("error", drop);
      this.#watchers.set(directory, watcher);
    } catch (cause) {
      drop(cause);
    }
  }

  /** A deleted directory is watched again when it is back and a scan finds it. */
  #drop(directory: string, errno: string): void {
    this.#watchers.get(directory)?.close();
    this.#watchers.delete(directory);
    if (!RUN_OUT.has(errno) || this.#hasRunOut) return;
    this.#hasRunOut = true;
    this.close();
    this.#onRunOut(errno);
  }
}
