/**
 * Signing: how checkpoints are stored in a thread, and where its turns begin and end.
 *
 * The runner calls the model at `step_start`, or at `cognition_in` in the other vocabulary. Threads
 * with only messages have neither: there a turn ends before the user's next message
 * (model/turns.ts). A checkpoint line is spelt as in docs/formats/checkpoint.md.
 */

import type { Role } from "../../model/entry.ts";
import type { TurnMark } from "../../model/turns.ts";
import { asciiJson, envelopeText } from "../../proof/checkpoint.ts";
import type { CheckpointOpening, Native, Signing, WriterFacts } from "../dialect.ts";
import { getObject, getString } from "../fields.ts";
import { roleOf } from "./decode.ts";
import type { Envelope } from "./envelope.ts";
import { isoFormat } from "./time.ts";
import { BLOCK_TYPE, meaningOf } from "./vocabulary.ts";

/** Events that begin a call of the model. */
const STEPS: ReadonlySet<string> = new Set(["step_start", "cognition_in"]);

export function ryeSigning(envelope: Envelope): Signing {
  return { turnMark, opening: envelope === "flat" ? flatOpening : payloadOpening };
}

/**
 * The turn mark of an event in either envelope. Runs for each event, so it reads little more than
 * the type.
 */
function turnMark(native: Native): TurnMark {
  const payloadType = getString(native, "event_type");
  const type = payloadType ?? getString(native, "type");
  if (type === null) return null;
  if (STEPS.has(type)) return "step";
  switch (meaningOf(type)) {
    case "thread_complete":
    case "thread_error":
      return "ends";
    case "user_message":
      return markOfRole(saidBy(native, payloadType !== null));
    case null:
      return type === BLOCK_TYPE ? markOfRole(saidBy(native, payloadType !== null)) : null;
    case "thread_start":
    case "hook_triggered": // A hook may run before the model has done anything.
      return null;
    case "step_finish":
      return "finishes";
    default:
      return "works";
  }
}

function saidBy(native: Native, isPayload: boolean): Role {
  return roleOf(isPayload ? getObject(native, "payload") : native);
}

function markOfRole(role: Role): TurnMark {
  if (role === "user") return "opens";
  return role === "system" ? null : "works";
}

function flatOpening(facts: WriterFacts, after: { readonly native: Native | null }) {
  const ts = isoFormat(facts.nowMs);
  // The thread's directive, from the line before, which is flat too.
  const directive = (after.native && getString(after.native, "directive")) ?? facts.agent ?? "";
  return opened({
    ...{ ts, type: "checkpoint", thread_id: facts.id },
    directive: envelopeText(directive),
  });
}

function payloadOpening(facts: WriterFacts): CheckpointOpening {
  return opened({ timestamp: isoFormat(facts.nowMs), thread_id: facts.id });
}

function opened(fields: Native): CheckpointOpening {
  return { text: `${asciiJson(fields).slice(0, -1)},`, id: null };
}
