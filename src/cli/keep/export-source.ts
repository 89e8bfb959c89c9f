/** Export source: what the writer of a format gets of a session. */

import type { Session } from "../../sessions/store/session.ts";
import type { Run } from "../command/command.ts";
import type { BadLines } from "../look/reading.ts";

/** A session that is exported, and what is reported about it. */
export interface ExportSource {
  readonly session: Session;
  readonly run: Run;
  readonly badLines: BadLines;
  /** That nothing of it is understood. */
  readonly notice: string | null;
  /** Only the last entries; null: all. */
  readonly last: number | null;
  /** It is the first of the file, or of stdout. */
  readonly isFirst: boolean;
  /** Others are in the same file, or on stdout. */
  readonly isOneOfMany: boolean;
}
