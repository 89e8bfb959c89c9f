/** Session shapes: responses of the sessions API. `/v1/openapi.json` describes the same. */

import type { Entry, Role } from "../model/entry.ts";
import type { Summary } from "../model/summary.ts";

/** A session in the list. */
export interface SessionItem extends Summary {
  /** The id for all other calls. */
  readonly id: string;
  /** The session's own id, in its store. */
  readonly session: string;
  readonly dialect: "verbatim" | "rye" | "homeagent" | "entire" | "claude" | "sdk" | "streams";
  /** The store's directory on the server. */
  readonly root: string;
  readonly bytes: number;
  readonly modifiedAt: string;
  readonly isLive: boolean;
  /** False while a long session grows: the summary is older. */
  readonly isCurrent: boolean;
  /** Its head is pinned on the server and its log is missing: the verdict is `rollback`. */
  readonly isMissing: boolean;
}

export interface SessionPage {
  readonly sessions: readonly SessionItem[];
  /** The cursor of the next page; null after the last. */
  readonly next: string | null;
  /** False while sessions are read for the first time: some are not listed yet. */
  readonly isComplete: boolean;
  /** Sessions that cannot be read, and are not listed. */
  readonly unreadable: number;
}

interface Ends {
  readonly end: number;
  /** Bytes after the end: left by a crash, or being written. */
  readonly tornBytes: number;
  readonly unfinishedBytes: number;
}

export interface SessionHead extends SessionItem, Ends {}

/** A line of a session: its entry, or why it is not one. */
export interface EntryItem {
  readonly start: number;
  /** The offset after the line: where to continue. */
  readonly end: number;
  readonly bytes: number;
  readonly kind: Entry["kind"];
  readonly role: Role | null;
  readonly at: string | null;
  readonly fault: string | null;
  /** Without `native` if requested so. */
  readonly entry: (Omit<Entry, "native"> & Partial<Pick<Entry, "native">>) | null;
}

export interface EntryPage extends Ends {
  readonly entries: readonly EntryItem[];
  /** Where the page begins, and where the next one does. */
  readonly from: number;
  readonly next: number;
  readonly isAtStart: boolean;
  readonly isAtEnd: boolean;
}

export interface SessionBytes {
  readonly bytes: Uint8Array;
  readonly from: number;
  readonly to: number;
  readonly end: number;
}

export interface CheckpointItem {
  /** Its line, unchanged, without the LF. */
  readonly line: string;
  readonly start: number;
  readonly end: number;
  readonly seq: number;
  readonly kind: "genesis" | "recovery" | "rotate" | "link" | "turn" | "batch" | "final";
  readonly keyId: string;
  /** The bytes of the log that its `hash` is over. */
  readonly covers: { readonly from: 0; readonly to: number };
}

/** A key that signed, as known to the server's user. */
export interface CheckpointKey {
  /** SHA-256 of the key, in hex, for comparing keys. */
  readonly keyId: string;
  /** Ed25519, raw, in base64url; null when the server does not have it. */
  readonly publicKey: string | null;
  readonly owner: string | null;
  /** Why it is not trusted there; null when it is. */
  readonly refusal: string | null;
}

export interface CheckpointPage extends Ends {
  readonly from: number;
  readonly to: number;
  readonly place: "log" | "sidecar";
  readonly genesis: CheckpointItem | null;
  readonly checkpoints: readonly CheckpointItem[];
  /** Lines of the sidecar that are not checkpoints: it was tampered with. */
  readonly foreignLines: number;
  /** Lines of the sidecar that are checkpoints of a version which the server does not know. */
  readonly newerLines: number;
  readonly keys: readonly CheckpointKey[];
  readonly isCovered: boolean;
  readonly isComplete: boolean;
}

/** The common part of a report; docs/formats/checkpoint.md has the rest. */
export interface SessionVerdict {
  readonly schema: "verbatim.verify/1";
  readonly verdict: string;
  readonly session: string | null;
  readonly deep: boolean;
  readonly findings: readonly {
    readonly code: string;
    /** The verdict that this finding alone leads to; null for none. */
    readonly verdict: string | null;
    readonly message: string;
  }[];
  readonly [more: string]: unknown;
}

export interface SessionUsage {
  readonly id: string;
  readonly session: string;
  readonly model: string | null;
  readonly createdAt: string | null;
  readonly updatedAt: string | null;
  readonly turns: number;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly totalTokens: number | null;
  readonly spend: number | null;
  readonly isCurrent: boolean;
}
