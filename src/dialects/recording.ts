/** Recording: what a dialect tells `verbatim record`: its own options, and which session to append to. */

import type { Host } from "../base/host.ts";
import type { Native, StoreChoices } from "./native.ts";

export interface RecordOption {
  /** As commander names its value: `agentVersion` for `--agent-version <version>`. */
  readonly name: string;
  readonly flags: string;
  readonly summary: string;
  readonly choices?: readonly string[];
}

/** Values by name, and `session`; `no` for a switch `--no-…` that was given. */
export type RecordGiven = Readonly<Record<string, string | undefined>>;

export type RecordedSession =
  | { readonly id: string; readonly agent?: string }
  | { readonly isNew: true; readonly agent?: string }
  /** What the person has to say, as one line. */
  | { readonly missing: string };

export interface Recording {
  readonly options?: readonly RecordOption[];
  /** What the options mean to the store. */
  storeOptions?(given: RecordGiven): StoreChoices;
  /** Absent: the session of that id, or a new one. */
  session?(
    given: RecordGiven,
    store: { readonly host: Host; readonly root: string },
  ): Promise<RecordedSession>;
  /** The first line of a new session whose input does not begin with one. */
  readonly start?: Native;
}

/** Sessions of other programs' making, which say what they are called. */
export function mustBeNamed(dialect: string, id: string): Recording {
  return {
    session: async ({ session }) =>
      session === undefined ? { missing: `${dialect} needs --session: ${id}` } : { id: session },
  };
}
