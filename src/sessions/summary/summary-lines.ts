/** Summary lines: folds the entries of a log into its summary, with what its dialect says of each. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { VerbatimError } from "../../core/base/errors.ts";
import type { Entry, Native } from "../../core/model/entry.ts";
import type { Dialect } from "../../dialects/dialect.ts";
import { listedAside } from "../../dialects/facets/reading.ts";
import { SummaryFold, type SummaryState } from "./summary.ts";

/** The lines so far as JSON, to continue later. */
export interface SummaryLinesState {
  readonly fold: SummaryState;
  readonly agent: string | null;
}

export class SummaryLines {
  readonly fold: SummaryFold;
  readonly #dialect: Dialect;
  readonly #id: string;
  readonly #isRepeated: (row: Native) => boolean;
  #agent: string | null;

  /** `root` is the store's. */
  constructor(dialect: Dialect, root: string, id: string, state?: SummaryLinesState) {
    this.#dialect = dialect;
    this.#id = id;
    this.#isRepeated = repeatedRows(dialect, root, id);
    this.fold = new SummaryFold(state?.fold);
    this.#agent = state?.agent ?? null;
  }

  /** The agent that the lines name. */
  get agent(): string | null {
    return this.#agent;
  }

  state(): SummaryLinesState {
    return { fold: this.fold.state(), agent: this.#agent };
  }

  add(read: Entry): void {
    const [dialect, id] = [this.#dialect, this.#id];
    const { native } = read;
    const entry = this.#isRepeated(native) ? { ...read, usage: null, parts: [] } : read;
    const aside = listedAside(dialect.reading, native, id);
    this.fold.add(entry, aside, dialect.turns.turnMark(native, id, aside));
    const about = dialect.reading.about?.(native, id);
    if (about) this.fold.learn(about);
    this.#agent ??= dialect.reading.agentSaidIn?.(native) ?? null;
  }
}

/**
 * Whether a row of session `id` is a subagent's, and the subagent has a log of its own with the same
 * rows. They count there, and are found there.
 */
export function repeatedRows(dialect: Dialect, root: string, id: string): (row: Native) => boolean {
  const { subagents } = dialect.reading;
  const answers = new Map<string, boolean>();
  const isThere = (name: string) => {
    const isKnown = answers.get(name) ?? existsSync(pathOf(dialect, root, name) ?? "");
    answers.set(name, isKnown);
    return isKnown;
  };
  return (row) => subagents?.ownLogsOf?.(row, id).some(isThere) ?? false;
}

/** Null: a row may name anything, also what is no id. */
function pathOf(dialect: Dialect, root: string, id: string): string | null {
  try {
    return join(root, ...dialect.naming.logPath(id));
  } catch (cause) {
    if (cause instanceof VerbatimError && cause.code === "BAD_ID") return null;
    throw cause;
  }
}
