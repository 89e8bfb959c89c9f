/**
 * Dialect: the interface of an on-disk layout, in facets. A dialect that only reads has two, `naming`
 * and `reading`; `reader.ts` makes one of them.
 *
 *   naming    id <-> path of a session's log below the store's root
 *   reading   line -> entry: what a line means
 *   turns     where turns begin, which lines still count, how checkpoints are stored
 *   writing   entry -> lines: how an entry is written, and what the writer adds to each line
 *   files     what is on the disk besides plain logs
 *   program   the program whose history the sessions are
 *
 * All but `files` is pure: no files, no clock, no randomness. `registry.ts` lists the dialects.
 */

import { VerbatimError } from "../core/base/errors.ts";
import type { FileAccess } from "./facets/files.ts";
import type { Naming } from "./facets/naming.ts";
import type { AgentProgram } from "./facets/program.ts";
import type { Reading } from "./facets/reading.ts";
import type { TurnRules } from "./facets/turns.ts";
import type { StoreChoices, Writing } from "./facets/writing.ts";

export interface Dialect<Name extends string = string> {
  readonly name: Name;
  readonly naming: Naming;
  readonly reading: Reading;
  readonly turns: TurnRules;
  /** Absent: a store reads these sessions and never writes to them. */
  readonly writing?: Writing;
  /** Where users append instead, if there is no `writing`. Absent: in a store of their own. */
  readonly writtenElsewhere?: string;
  /** Absent if there are only logs. */
  readonly files?: FileAccess;
  /** Absent: sessions are written by users of this package. */
  readonly program?: AgentProgram;
  /** The dialect configured with a store's options. Absent: options change no line or path. */
  withOptions?(options: StoreChoices): Dialect;
  /** The same for an existing session, by its first line. */
  adopt?(first: unknown, options: StoreChoices): Dialect;
}

export interface WrittenDialect<Name extends string = string> extends Dialect<Name> {
  readonly writing: Writing;
}

/** How lines are written; throws BAD_SETTING for a dialect that is only read. */
export function writingOf({ name, writing, writtenElsewhere }: Dialect): Writing {
  if (writing) return writing;
  const reason =
    writtenElsewhere ?? "sessions of other programs are only read; append to a store of your own";
  throw new VerbatimError("BAD_SETTING", `nothing is appended: ${reason}`, {
    setting: "dialect",
    from: name,
    reason,
  });
}
