/** Dialect: rye's threads, as a `Dialect` for the store. The root is the project's directory. */

import type { Native, Role } from "../../core/model/entry.ts";
import type { TurnMark } from "../../core/model/turns.ts";
import { envelopeText } from "../../trust/proof/checkpoint.ts";
import type { CheckpointOpening } from "../../trust/signer/counted-turns.ts";
import type { WrittenDialect } from "../dialect.ts";
import type { TurnRules } from "../facets/turns.ts";
import type { WriterFacts } from "../facets/writing.ts";
import { openingWith } from "../shared/checkpoint-opening.ts";
import { getObject, getString, withoutKeys } from "../shared/fields.ts";
import { requireAgent } from "../shared/new-ids.ts";
import type { ToolTable } from "../tool-table.ts";
import { decode, roleOf } from "./decode.ts";
import { completeNative, type Envelope, readEnvelope } from "./envelope.ts";
import { express } from "./express.ts";
import { recording } from "./files/recording.ts";
import { readPrinted, renderEvent } from "./markdown.ts";
import type { RyeOptions } from "./options.ts";
import {
  idAt,
  LOG_NAME,
  logPath,
  META_NAME,
  newThreadId,
  projectOf,
  THREADS_PATH,
  threadSegments,
} from "./thread-id.ts";
import { isoFormat } from "./time.ts";
import { BLOCK_TYPE, isSilentType, meaningOf } from "./vocabulary.ts";

const tools: ToolTable = {
  rye_execute: { kind: "other", verb: "Execute", subject: ["item_id"] },
  rye_load: { kind: "other", verb: "Load", subject: ["item_id"] },
  rye_search: "search",
  rye_sign: { kind: "other", verb: "Sign", subject: ["item_id"] },
  directive_return: { kind: "other", verb: "Returns" },
};

/** Events that begin a call of the model. */
const STEPS: ReadonlySet<string> = new Set(["step_start", "cognition_in"]);

/**
 * How checkpoints are stored in a thread, and where its turns begin and end.
 *
 * The runner calls the model at `step_start`, or at `cognition_in` in the other vocabulary. Threads
 * with only messages have neither: there a turn ends before the user's next message
 * (core/model/turns.ts). A checkpoint line is spelt as in docs/formats/checkpoint.md.
 */
function ryeTurns(envelope: Envelope): TurnRules {
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
  return openingWith({
    ts,
    type: "checkpoint",
    thread_id: facts.id,
    directive: envelopeText(directive),
  });
}

function payloadOpening(facts: WriterFacts): CheckpointOpening {
  return openingWith({ timestamp: isoFormat(facts.nowMs), thread_id: facts.id });
}

export type { Envelope };

/**
 * The dialect that writes lines in the given envelope; it reads both. Returns the same object for
 * the same envelope: new functions for each session would have to be optimised by the engine each
 * time.
 */
export function ryeDialect({
  envelope = "flat",
  isThreadsRoot,
}: RyeOptions = {}): WrittenDialect<"rye"> {
  const dialect = BY_ENVELOPE[envelope];
  if (!isThreadsRoot) return dialect;
  const logPath = (id: string) => [...threadSegments(id), LOG_NAME];
  return { ...dialect, naming: { ...dialect.naming, logPath } };
}

const BY_ENVELOPE: Readonly<Record<Envelope, WrittenDialect<"rye">>> = {
  flat: makeDialect("flat"),
  payload: makeDialect("payload"),
};

/** The dialect with the envelope of the thread-transcripts document. */
export const rye = BY_ENVELOPE.flat;

/** A new start event that names the parent, and the rest of the lines. */
function forkStart(parent: string, natives: readonly Native[]) {
  const [first = {}] = natives;
  const { event } = readEnvelope(first);
  const isStart = event?.meaning === "thread_start";
  const data = isStart && event ? withoutKeys(event.data, ["type", "event_type"]) : {};
  const start = { ...data, type: "thread_start", parent_thread_id: parent };
  return { start, rest: isStart ? natives.slice(1) : natives };
}

function makeDialect(envelope: Envelope): WrittenDialect<"rye"> {
  return {
    name: "rye",
    naming: {
      layout: { under: THREADS_PATH, logName: LOG_NAME, idAt },
      logPath,
      idAt,
      agentOf: (id) => id.replace(/-\d+$/, ""),
      projectOf,
    },
    reading: {
      decode,
      sessionOf: (value: unknown) => readEnvelope(value).event?.threadId ?? null,
      agentSaidIn: (native) => readEnvelope(native).event?.directive ?? null,
      isSilent: (native: Native) => isSilentType(readEnvelope(native).event?.type ?? ""),
      tools,
      document(value, options, line) {
        const { event, fault } = readPrinted(value, line);
        return event ? { text: renderEvent(event, options), fault: null } : { text: null, fault };
      },
    },
    turns: ryeTurns(envelope),
    writing: {
      newIds: {
        make: (agent, nowMs) => newThreadId(requireAgent(agent), nowMs),
        isOfSecond: true,
        claimsDirectory: true,
      },
      express,
      complete: (native: Native, facts: WriterFacts) =>
        completeNative(native, {
          envelope,
          threadId: facts.id,
          defaultDirective: facts.agent,
          nowMs: facts.nowMs,
        }),
      forkStart,
      start: { says: ["parent"], line: ({ parent = "" }) => forkStart(parent, []).start },
      hasStart: true,
      recording,
    },
    files: {
      load: async () => (await import("./files/rye-files.ts")).ryeFiles,
      signedFileName: META_NAME,
      hasStanding: true,
    },
    withOptions: ryeDialect,
    // All lines of a file have the envelope of its first line.
    adopt: (first, options: RyeOptions) => {
      const { event } = readEnvelope(first);
      return event ? ryeDialect({ ...options, envelope: event.envelope }) : ryeDialect(options);
    },
  };
}
