/** Summary lines: folds the entries of a log into its summary, with what its dialect says of each. */

import type { Entry } from "../../core/model/entry.ts";
import { type Dialect, listedAside, type Native } from "../../dialects/dialect.ts";
import { repeatedRows } from "./repeated-rows.ts";
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
    const aside = listedAside(dialect, native, id);
    this.fold.add(entry, aside, dialect.signing.turnMark(native, id, aside));
    const about = dialect.about?.(native, id);
    if (about) this.fold.learn(about);
    this.#agent ??= dialect.agentSaidIn?.(native) ?? null;
  }
}
