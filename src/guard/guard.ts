/**
 * Guard: keeps copies of the sessions of every program that is found on this machine.
 *
 * `once` looks at all of them. `follow` also copies changes as they come: the system's watches tell
 * which file changed, and a scan every minute finds what they missed.
 */

import { type FSWatcher, realpathSync, watch } from "node:fs";
import { dirname, join } from "node:path";
import { errnoOf } from "../core/base/errors.ts";
import type { Host } from "../core/base/host.ts";
import { surroundings } from "../core/base/node-paths.ts";
import { guardDirectory } from "../dialects/files/guard-store.ts";
import { programOf, READ_DIALECT_NAMES } from "../dialects/registry.ts";
import { type GuardPass, RootGuard } from "./root-guard.ts";
import type { GuardSigning } from "./signatures.ts";

/** How often all sessions are looked at while the system reports changes, and while it does not. */
const SCAN_MS = 60_000;
const POLL_MS = 20_000;
/** Changes of a file within this time are copied together. */
const GATHER_MS = 300;
/** At least so much time is between scans that changes ask for. */
const RESCAN_MS = 2000;
const COLD_MS = 3_600_000;

export interface GuardOptions {
  readonly host: Host;
  /** The guard's store. Default: the user's. */
  readonly directory?: string;
  /** Only this agent. */
  readonly agent?: string | undefined;
  readonly signing?: GuardSigning | null;
  readonly nowMs?: () => number;
  readonly scanMs?: number;
  readonly pollMs?: number;
  /** Each event of the journal, with its `agent`. */
  readonly onEvent?: (event: Readonly<Record<string, unknown>>) => void;
  readonly onWarning: (warning: string) => void;
}

/**
 * Directories of programs that exist, by their real paths. `onHidden` gets those that may exist, and
 * are not ours to look at.
 */
export function programRoots(
  agent?: string,
  onHidden: (path: string, errno: string) => void = () => {},
): { dialect: string; root: string }[] {
  const names = READ_DIALECT_NAMES.filter((name) => agent === undefined || name === agent);
  return names.flatMap((dialect) => {
    const roots = programOf(dialect)?.roots(surroundings()) ?? [];
    const real = roots.flatMap((root) => realPath(root, onHidden) ?? []);
    return [...new Set(real)].map((root) => ({ dialect, root }));
  });
}

function realPath(path: string, onHidden: (path: string, errno: string) => void): string | null {
  try {
    return realpathSync(path);
  } catch (cause) {
    const errno = String(errnoOf(cause));
    if (!MISSING.includes(errno)) onHidden(path, errno);
    return null;
  }
}

const MISSING: readonly string[] = ["ENOENT", "ENOTDIR"];

export class Guard {
  readonly #options: GuardOptions;
  readonly #roots = new Map<string, RootGuard>();
  /** Directories that were reported. */
  readonly #hidden = new Set<string>();

  constructor(options: GuardOptions) {
    this.#options = options;
  }

  /** Looks at every session once and copies what changed. */
  async once(): Promise<GuardPass> {
    const hidden = await this.#openRoots();
    let all: GuardPass = { sessions: 0, copied: 0, bytes: 0, failed: hidden, unwanted: 0 };
    for (const root of this.#roots.values()) all = sum(all, await this.#scan(root));
    return all;
  }

  async compressCold(): Promise<void> {
    for (const root of this.#roots.values()) await root.compressCold();
  }

  /** Copies changes until aborted. */
  async follow(signal: AbortSignal): Promise<void> {
    const { host, scanMs = SCAN_MS, pollMs = POLL_MS } = this.#options;
    const followed = new Map<string, Followed>();
    let coldAt = host.clock.monotonicMs() + COLD_MS;
    try {
      while (!signal.aborted) {
        await this.#openRoots();
        for (const [key, root] of this.#roots) {
          if (followed.has(key)) continue;
          followed.set(key, new Followed(root, this.#options, () => this.#scan(root)));
        }
        for (const each of followed.values()) await each.scan();
        if (host.clock.monotonicMs() >= coldAt) {
          await this.compressCold();
          coldAt += COLD_MS;
        }
        const isPolling = [...followed.values()].some(({ hasRunOut }) => hasRunOut);
        await host.clock.sleep(isPolling ? pollMs : scanMs, signal).catch(() => {});
      }
    } finally {
      for (const each of followed.values()) await each.close();
    }
  }

  async close(): Promise<void> {
    for (const root of this.#roots.values()) await root.close();
    this.#roots.clear();
    await this.#options.signing?.close();
  }

  /** Programs may be installed while we run. Returns how many cannot be looked at. */
  async #openRoots(): Promise<number> {
    const { host, agent, signing = null, nowMs = Date.now, onWarning } = this.#options;
    const { directory = guardDirectory(), onEvent = () => {} } = this.#options;
    const hidden = new Map<string, string>();
    for (const { dialect, root } of programRoots(agent, (...each) => hidden.set(...each))) {
      const key = `${dialect}\0${root}`;
      if (this.#roots.has(key)) continue;
      const parts = { host, dialect, root, directory, nowMs, signing, onEvent, onWarning };
      this.#roots.set(key, await RootGuard.open(parts));
    }
    for (const [path, errno] of hidden) {
      if (this.#hidden.has(path)) continue;
      this.#hidden.add(path);
      onWarning(`${path} is not guarded: it cannot be looked at (${errno})`);
    }
    return hidden.size;
  }

  /** A root that cannot be read is reported, and the others are guarded. */
  async #scan(root: RootGuard): Promise<GuardPass> {
    try {
      return await root.scan();
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : errnoOf(cause);
      this.#options.onWarning(`${root.root} is not guarded now: ${reason}`);
      return { sessions: 0, copied: 0, bytes: 0, failed: 1, unwanted: 0 };
    }
  }
}

/** A root that is being followed. */
class Followed {
  readonly #root: RootGuard;
  readonly #options: GuardOptions;
  readonly #scan: () => Promise<GuardPass>;
  readonly #watching: RootWatch;
  readonly #changed = new Set<string>();
  #timer: NodeJS.Timeout | null = null;
  #work: Promise<void> = Promise.resolve();
  #mustScan = false;
  #scannedAt = Number.NEGATIVE_INFINITY;

  constructor(root: RootGuard, options: GuardOptions, scan: () => Promise<GuardPass>) {
    this.#root = root;
    this.#options = options;
    this.#scan = scan;
    const onRunOut = (errno: string) =>
      options.onWarning(
        `the system has no more file watches (${errno}): changes in ${root.root} are looked for ` +
          `every ${(options.pollMs ?? POLL_MS) / 1000} s; raise fs.inotify.max_user_watches`,
      );
    this.#watching = new RootWatch(root.root, (path) => this.#noticed(path), onRunOut);
  }

  get hasRunOut(): boolean {
    return this.#watching.hasRunOut;
  }

  async scan(): Promise<void> {
    this.#mustScan = false;
    this.#scannedAt = this.#options.host.clock.monotonicMs();
    do await this.#scan();
    while (this.#watching.watch(this.#root.directories));
  }

  async close(): Promise<void> {
    this.#watching.close();
    if (this.#timer) clearTimeout(this.#timer);
    await this.#work;
  }

  #noticed(path: string | null): void {
    if (path === null) this.#mustScan = true;
    else this.#changed.add(path);
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.#work = this.#work.then(() => this.#lookAtChanged());
    }, GATHER_MS).unref();
  }

  async #lookAtChanged(): Promise<void> {
    const changed = [...this.#changed];
    this.#changed.clear();
    for (const path of changed) {
      const isKnown = await this.#root.look(path).catch(() => false);
      if (!isKnown) this.#mustScan = true;
    }
    const { clock } = this.#options.host;
    if (!this.#mustScan || clock.monotonicMs() - this.#scannedAt < RESCAN_MS) {
      if (this.#mustScan) this.#later();
      return;
    }
    await this.scan();
  }

  /** A scan is due, but the last one was just now. */
  #later(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.#noticed(null);
    }, RESCAN_MS).unref();
  }
}

function sum(a: GuardPass, b: GuardPass): GuardPass {
  return {
    sessions: a.sessions + b.sessions,
    copied: a.copied + b.copied,
    bytes: a.bytes + b.bytes,
    failed: a.failed + b.failed,
    unwanted: a.unwanted + b.unwanted,
  };
}

const RUN_OUT: ReadonlySet<string> = new Set(["ENOSPC", "EMFILE", "ENFILE"]);

/**
 * Which directories of a root changed, by the system's watches. They are hints: the guard also polls.
 * When the system has no watches left, all are given up, and only polling remains.
 */
class RootWatch {
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
