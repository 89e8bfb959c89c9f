/**
 * Reader: a read-only dialect for another program's sessions, from its layout and its decoder.
 *
 * A turn begins with a user's message, unless a program wrote it.
 */

import { VerbatimError } from "../core/base/errors.ts";
import type { AgentProgram } from "./agent-program.ts";
import { type Dialect, listedAside, type Understood } from "./dialect.ts";
import { type Convert, convertedHost } from "./files/converted-host.ts";
import { PROGRAMS, type ProgramName } from "./registry.ts";
import { sidecarOpening } from "./shared/checkpoint-opening.ts";

type Given =
  | "tools"
  | "resultViews"
  | "subagents"
  | "layout"
  | "logPath"
  | "idAt"
  | "decode"
  | "nameOf"
  | "about"
  | "asideOf"
  | "isSilent"
  | "isProgramsPrompt"
  | "isOwn"
  | "sessionOf"
  | "compaction"
  | "branching"
  | "remembers"
  | "takingBack"
  | "files"
  | "agentOf"
  | "agentSaidIn";

/** With `convert`, sessions that are not plain logs are presented as such. */
interface Reader extends Pick<Dialect, Given> {
  /** The registry has the rest. */
  readonly program: Omit<AgentProgram, "label" | "roots">;
  readonly convert?: Convert;
}

export function readerDialect<Name extends ProgramName>(
  name: Name,
  { convert, program, ...given }: Reader,
): Dialect<Name> {
  // A listing asks for the mark of the line that it has just decoded: each is decoded once.
  let last: Understood = { entry: null, fault: "" };
  const decode = (value: unknown) => {
    last = given.decode(value);
    return last;
  };
  return {
    name,
    isReadOnly: true,
    program: { ...PROGRAMS[name], ...program },
    ...given,
    ...(convert && { hostFor: (host, root) => convertedHost(host, root, convert) }),
    decode,
    signing: {
      isSidecar: true,
      turnMark(native, id, aside = listedAside(given, native, id)) {
        const entry = last.entry?.native === native ? last.entry : given.decode(native).entry;
        if (entry === null || entry.saidBy || aside !== null) return null;
        if (entry.role === "user") return "opens";
        return entry.role === "assistant" || entry.role === "tool" ? "works" : null;
      },
      opening: sidecarOpening(name),
    },
    express: () => {
      throw readOnly(name);
    },
    complete: () => {
      throw readOnly(name);
    },
  };
}

function readOnly(from: string): VerbatimError<"BAD_SETTING"> {
  const reason = "sessions of other programs are only read; append to a store of your own";
  return new VerbatimError("BAD_SETTING", `nothing is appended: ${reason}`, {
    setting: "dialect",
    from,
    reason,
  });
}
