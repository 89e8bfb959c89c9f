/**
 * Signing: checkpoints lie beside a session's log, which is the frameworks' lines alone. A turn begins
 * with what the user says after the model or a tool has spoken.
 */

import type { TurnMark } from "../../model/turns.ts";
import { asciiJson } from "../../proof/checkpoint.ts";
import type { Native, Signing, WriterFacts } from "../dialect.ts";
import { getObject, getString } from "../fields.ts";

export const signing = signingAs("sdk");

/** `name`: of the dialect, with which the name of a signed session begins. */
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

/** Of an entry in neutral words that is no message. */
function markOfKind(kind: unknown): TurnMark {
  if (kind === "turn_start") return "step";
  if (kind === "turn_end") return "finishes";
  return kind === "end" ? "ends" : null;
}
