/** Summary lines: folds the entries of a log into its summary, with what its dialect says of each. */

import { SummaryFold, type SummaryState } from "../../catalog/summary.ts";
import type { Entry } from "../../model/entry.ts";
import { type Dialect, listedAside } from "../dialect.ts";

/** The lines so far as JSON, to continue later. */
export interface SummaryLinesState {
  readonly fold: SummaryState;
  readonly agent: string | null;
}

export class SummaryLines {
  readonly fold: SummaryFold;
  readonly #dialect: Dialect;
  readonly #id: string;
  #agent: string | null;

  constructor(dialect: Dialect, id: string, state?: SummaryLinesState) {
    [this.#dialect, this.#id] = [dialect, id];
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

  add(entry: Entry): void {
    const [dialect, id] = [this.#dialect, this.#id];
    const { native } = entry;
    const aside = listedAside(dialect, native, id);
    this.fold.add(entry, aside, dialect.signing.turnMark(native, id, aside));
    const about = dialect.about?.(native, id);
    if (about) this.fold.learn(about);
    this.#agent ??= dialect.agentSaidIn?.(native) ?? null;
  }
}
