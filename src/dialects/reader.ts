/**
 * Reader: a read-only dialect for another program's sessions, from its layout and its decoder.
 *
 * A turn begins with a user's message, unless a program wrote it.
 */

import { VerbatimError } from "../base/errors.ts";
import { sidecarOpening } from "./checkpoint-opening.ts";
import type { Dialect } from "./dialect.ts";

type Given =
  | "program"
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
  | "hostFor"
  | "agentOf"
  | "agentSaidIn";

export function readerDialect<Name extends string>(
  name: Name,
  given: Pick<Dialect, Given>,
): Dialect<Name> {
  return {
    name,
    isReadOnly: true,
    ...given,
    signing: {
      isSidecar: true,
      turnMark(native, id) {
        const { role, saidBy } = given.decode(native).entry ?? {};
        if (saidBy || given.asideOf?.(native, id) || given.isProgramsPrompt?.(native)) return null;
        if (role === "user") return "opens";
        return role === "assistant" || role === "tool" ? "works" : null;
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
