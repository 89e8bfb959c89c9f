/** Scanner: what counts the responses of one file in its bytes. */

import type { RowSet } from "../row-set.ts";

/** How the rows of a program's files tell what was used. */
export type RowShape = "messages" | "totals";

export interface Scanner {
  /** Where rows are put. */
  readonly set: RowSet;
  /** Fields of a row that say where the session belongs; null: none was seen. */
  readonly about: Readonly<Record<string, unknown>> | null;
  /** What the rows after these depend on, as JSON. */
  readonly state: unknown;
  /** Begins a file, or continues one with the state that it had. */
  begin(state: unknown): void;
  /** Counts whole lines: `from` to `to` of `bytes`, at `offset` of the file. */
  scan(bytes: Buffer, from: number, to: number, offset: number): void;
}
