/**
 * Signing: how checkpoints stand in a thread, and where its turns begin and end.
 *
 * A turn begins where the runner calls the model: `step_start`, or `cognition_in` in the other
 * vocabulary. The line of a checkpoint is spelt as docs/formats/checkpoint.md has it.
 */

import { asciiJson, envelopeText } from "../../proof/checkpoint.ts";
import type { CheckpointOpening, Native, Signing, TurnMark, WriterFacts } from "../dialect.ts";
import { getString } from "../fields.ts";
import type { Envelope } from "./envelope.ts";
import { isoFormat } from "./time.ts";
import { meaningOf } from "./vocabulary.ts";

/** What begins a call of the model. */
const STEPS: ReadonlySet<string> = new Set(["step_start", "cognition_in"]);

export function ryeSigning(envelope: Envelope): Signing {
  return { turnMark, opening: envelope === "flat" ? flatOpening : payloadOpening };
}

/** Of an event as it is written. On the path of each one, so only its type is looked at. */
function turnMark(native: Native): TurnMark {
  const type = getString(native, "event_type") ?? getString(native, "type");
  if (type === null) return null;
  if (STEPS.has(type)) return "step";
  switch (meaningOf(type)) {
    case "thread_complete":
    case "thread_error":
      return "ends";
    case "thread_start":
    case "user_message":
    case null:
      return null;
    case "step_finish":
      return "finishes";
    default:
      return "works";
  }
}

function flatOpening(facts: WriterFacts, after: { readonly native: Native | null }) {
  const ts = isoFormat(facts.nowMs);
  // Whose thread it is, as the line before has it, which is flat, too.
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
