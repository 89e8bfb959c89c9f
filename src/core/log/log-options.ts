/** Log options: the options of opening a log to append. */

import { checkChoice, checkKind, checkOptions, type OptionKinds } from "../base/choice.ts";
import type { LogLimits } from "../base/limits.ts";
import type { Companion } from "./companion.ts";

/** `disk` survives a power cut. `os` survives a crash of this process, not of the machine. */
export type Durability = "disk" | "os";

/** `exclusive` holds the log while open; `shared` takes turns with other processes, per append. */
export type LogMode = "exclusive" | "shared";

export interface LogOptions {
  readonly durability?: Durability;
  readonly mode?: LogMode;
  /** How long to wait for another writer. Default: 0 for `exclusive`, 30 s for `shared`. */
  readonly lockWaitMs?: number;
  /**
   * The locks of the file system reach every writer of the log: allows `shared` on network file
   * systems and FUSE. Default: whether the environment has `VERBATIM_TRUST_LOCKS=1`.
   */
  readonly trustsLocks?: boolean;
  /** Takes `path` as an id below this directory, and never leaves it, whatever links are there. */
  readonly root?: string;
  readonly limits?: Partial<LogLimits>;
  /** Aborts waiting for the lock on opening. */
  readonly signal?: AbortSignal;
  /**
   * Called when others could read the log: it is made 0600 on opening. Default: a process warning.
   */
  readonly onWarning?: (warning: string) => void;
}

/** The options inside the package. */
export interface WriterOptions extends LogOptions {
  readonly companion?: Companion;
}

const DURABILITIES: readonly Durability[] = ["disk", "os"];
const MODES: readonly LogMode[] = ["exclusive", "shared"];
const SHARED_WAIT_MS = 30_000;

const OPTIONS: OptionKinds<LogOptions> = {
  durability: "any",
  mode: "any",
  lockWaitMs: "count",
  trustsLocks: "boolean",
  root: "text",
  limits: "object",
  signal: "object",
  onWarning: "function",
};

const LIMITS: OptionKinds<LogLimits> = {
  lineBytesMax: "count",
  batchBytesMax: "count",
  queueBytesMax: "count",
};

/** Checks the arguments of opening a log; refuses with BAD_SETTING. `of` names the caller. */
export function checkLogOpening(of: string, path: unknown, options: unknown): void {
  checkKind("path", path, "string");
  checkOptions(of, options, OPTIONS);
  const { limits } = options as LogOptions;
  if (limits !== undefined) checkOptions("limits", limits, LIMITS);
}

/** Refuses an unknown value: taken for another it could mean no sync. */
export function checkLogChoices(options: Pick<LogOptions, "durability" | "mode">): void {
  checkChoice("durability", options.durability, DURABILITIES);
  checkChoice("mode", options.mode, MODES);
}

/** The chosen options, with defaults. */
export function logChoices(options: LogOptions): {
  readonly durability: Durability;
  readonly mode: LogMode;
  readonly lockWaitMs: number;
} {
  checkLogChoices(options);
  const { durability = "disk", mode = "exclusive" } = options;
  const { lockWaitMs = mode === "shared" ? SHARED_WAIT_MS : 0 } = options;
  return { durability, mode, lockWaitMs };
}
