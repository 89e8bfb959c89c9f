/** Session signing: how a session is signed, and what its appends need for that. */

import type { Directory } from "../../core/base/files.ts";
import type { Host } from "../../core/base/host.ts";
import type { Dialect } from "../../dialects/dialect.ts";
import type { DerivedFiles } from "../../dialects/facets/files.ts";
import type { WriterFacts } from "../../dialects/facets/writing.ts";
import type { SignedSessionFiles } from "../../trust/signer/session-files.ts";
import type { SignedLog } from "../../trust/signer/signed-log.ts";
import type { Repeat } from "./line-ids.ts";

export interface SessionSigning {
  readonly log: SignedLog<SignedSessionFiles>;
  /** Every append ends with its own checkpoint: requested, or because others may append. */
  readonly isEveryAppend: boolean;
  /** The revision that the next checkpoint states (`DerivedFiles`); 0 if nothing has one. */
  readonly revision: (isLast: boolean) => number;
  /** Resolves when the session's heads are durably pinned. Never rejects. */
  readonly pinned: () => Promise<void>;
  readonly onWarning: (warning: string) => void;
}

export interface SessionAppendsParts {
  readonly host: Host;
  readonly root: string;
  readonly logId: string;
  readonly id: string;
  /** The dialect of the log's own lines: in rye the first line decides. */
  readonly dialect: () => Dialect;
  readonly facts: WriterFacts;
  readonly derived: DerivedFiles | null;
  /** Null when the session is not signed. */
  readonly signing: SessionSigning | null;
  /** Whether acknowledged lines are synced to disk. */
  readonly isDurable: boolean;
  /** Called for each line that is not written again (line-ids.ts, KL2). */
  readonly onKnown: (repeat: Repeat) => void;
  readonly openDirectory: () => Promise<Directory>;
}

/** A failure is only a warning: the lines are in the log, and the next checkpoint covers them. */
export async function warnOnFailure(
  { onWarning }: SessionSigning,
  session: string,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    onWarning(`${session} could not be signed to its end: ${String(error)}`);
  }
}
