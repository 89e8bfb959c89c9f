/**
 * Reader: a read-only dialect for another program's sessions, from its naming and its reading.
 *
 * A turn begins with a user's message, unless a program wrote it.
 */

import type { Dialect } from "./dialect.ts";
import type { FileAccess } from "./facets/files.ts";
import type { Naming } from "./facets/naming.ts";
import type { ProgramHabits } from "./facets/program.ts";
import { type DecodedValue, listedAside, type Reading } from "./facets/reading.ts";
import type { TurnRules } from "./facets/turns.ts";
import { type Convert, convertedHost } from "./files/converted-host.ts";
import { type AgentName, PROGRAMS } from "./registry.ts";
import { sidecarOpening } from "./shared/checkpoint-opening.ts";

interface Reader {
  readonly naming: Naming;
  readonly reading: Reading;
  /** Which lines still count, if that is not all of them. */
  readonly turns?: Pick<TurnRules, "compaction" | "takingBack" | "branching">;
  /** With `convert`, sessions that are not plain logs are presented as such. */
  readonly files?: Pick<FileAccess, "load"> & { readonly convert?: Convert };
  /** Absent: files only grow, no command continues a session, and all are kept. */
  readonly program?: ProgramHabits;
}

export function readerDialect<Name extends AgentName>(
  name: Name,
  { naming, reading, turns, files: { convert, ...files } = {}, program }: Reader,
): Dialect<Name> {
  // A listing asks for the mark of the line that it has just decoded: each is decoded once.
  let last: DecodedValue = { entry: null, fault: "" };
  const decode = (value: unknown) => {
    last = reading.decode(value);
    return last;
  };
  return {
    name,
    naming,
    reading: { ...reading, decode },
    turns: {
      isSidecar: true,
      turnMark(native, id, aside = listedAside(reading, native, id)) {
        const entry = last.entry?.native === native ? last.entry : reading.decode(native).entry;
        if (entry === null || entry.saidBy || aside !== null) return null;
        if (entry.role === "user") return "opens";
        return entry.role === "assistant" || entry.role === "tool" ? "works" : null;
      },
      opening: sidecarOpening(name),
      ...turns,
    },
    files: {
      ...files,
      ...(convert && { hostFor: (host, root) => convertedHost(host, root, convert) }),
    },
    program: { ...PROGRAMS[name], changes: "grows", ...program },
  };
}
