/** Session signing: how a session is signed, and what its appends need besides. */

import type { Directory } from "../base/files.ts";
import type { Host } from "../base/host.ts";
import type { Beside } from "../dialects/beside.ts";
import type { Dialect, WriterFacts } from "../dialects/dialect.ts";
import type { SessionFiles } from "../signing/writing/session-files.ts";
import type { SignedLog } from "../signing/writing/signed-log.ts";
import type { Repeat } from "./known-lines.ts";

export interface SessionSigning {
  readonly log: SignedLog<SessionFiles>;
  /** Every append ends with a checkpoint of its own: asked for, or others may append too. */
  readonly isEveryAppend: boolean;
  /** thread.json's revision; 0 where there is none. */
  readonly rev: () => number;
  /** The same, once the last entry is written there, too. Default: as `rev`. */
  readonly revAhead?: () => number;
  /** Resolves when its heads are pinned durably. Never rejects. */
  readonly pinned: () => Promise<void>;
  readonly onWarning: (warning: string) => void;
}

export interface SessionAppendsParts {
  readonly host: Host;
  readonly root: string;
  readonly logId: string;
  readonly id: string;
  /** As the log's own lines have it: in rye its first line decides. */
  readonly dialect: () => Dialect;
  readonly facts: WriterFacts;
  readonly beside: Beside | null;
  /** Null when the session is not signed. */
  readonly signing: SessionSigning | null;
  /** What the log acknowledges is on the disk. */
  readonly isDurable: boolean;
  /** Called for each line that is not written again (known-lines.ts, KL2). */
  readonly onKnown: (repeat: Repeat) => void;
  readonly openDirectory: () => Promise<Directory>;
}
