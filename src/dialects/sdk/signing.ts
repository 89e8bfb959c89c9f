/**
 * Signing: checkpoints are in a sidecar file, so the log has only the frameworks' lines. A turn
 * begins with the user's first message after the model or a tool.
 */

import type { TurnMark } from "../../model/turns.ts";
import { asciiJson } from "../../proof/checkpoint.ts";
import type { Native, Signing, WriterFacts } from "../dialect.ts";
import { getObject, getString } from "../fields.ts";

export const signing = signingAs("sdk");

/** `name`: of the dialect; the name of a signed session begins with it. */
export function signingAs(name: string): Signing {
  const opening = ({ nowMs, id }: WriterFacts) => {
    const fields = { timestamp: new Date(nowMs).toISOString(), thread_id: `${name}:${id}` };
    return { text: `${asciiJson(fields).slice(0, -1)},`, id: null };
  };
  return { isSidecar: true, turnMark, opening };
}

function turnMark(native: Native): TurnMark {
  const { type } = native;
  if (type !== "item" && type !== "message" && type !== "entry") return null;
  const said = getObject(native, type);
  if (type === "entry" && said.kind !== "message") return markOfKind(said.kind);
  const role = getString(said, "role");
  if (role === "user") return "opens";
  return role === "system" || role === "developer" ? null : "works";
}

/** Turn mark of a neutral entry that is not a message. */
function markOfKind(kind: unknown): TurnMark {
  if (kind === "turn_start") return "step";
  if (kind === "turn_end") return "finishes";
  return kind === "end" ? "ends" : null;
}
