/**
 * Recording: what a dialect adds to `verbatim record`: its own options, and which session to append
 * to.
 */

import type { Host } from "../core/base/host.ts";
import type { Native } from "../core/model/entry.ts";
import type { StoreChoices } from "./store-choices.ts";

export interface RecordOption {
  /** As commander names its value: `agentVersion` for `--agent-version <version>`. */
  readonly name: string;
  readonly flags: string;
  readonly summary: string;
  readonly choices?: readonly string[];
}

/** Values by name, and `session`; `no` for a `--no-…` switch. */
export type RecordValues = Readonly<Record<string, string | undefined>>;

export type RecordedSession =
  | { readonly id: string; readonly agent?: string }
  | { readonly isNew: true; readonly agent?: string }
  /** What the user has to add, as one line. */
  | { readonly missing: string };

export interface Recording {
  readonly options?: readonly RecordOption[];
  /** Maps the options to store options. */
  storeOptions?(given: RecordValues): StoreChoices;
  /** Absent: the session of that id, or a new one. */
  session?(
    given: RecordValues,
    store: { readonly host: Host; readonly root: string },
  ): Promise<RecordedSession>;
  /** The first line of a new session if the input does not begin with one. */
  readonly start?: Native;
}

/** For sessions of other programs: the user must give the id. */
export function requireSessionId(dialect: string, id: string): Recording {
  return {
    session: async ({ session }) =>
      session === undefined ? { missing: `${dialect} needs --session: ${id}` } : { id: session },
  };
}
