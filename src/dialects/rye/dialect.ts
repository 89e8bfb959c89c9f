/** Dialect: rye's threads, as a `Dialect` for the store. The root is the project's directory. */

import type { Dialect, Native, WriterFacts } from "../dialect.ts";
import { without } from "../fields.ts";
import { named } from "../new-ids.ts";
import { decode } from "./decode.ts";
import { completeNative, type Envelope, readEnvelope } from "./envelope.ts";
import { express } from "./express.ts";
import { recording } from "./files/recording.ts";
import { renderEvent } from "./markdown.ts";
import { OPTIONS, type RyeOptions } from "./options.ts";
import { ryeSigning } from "./signing.ts";
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
import { isSilentType } from "./vocabulary.ts";

export type { Envelope };

/**
 * The dialect that writes lines in the given envelope; it reads both. Returns the same object for
 * the same envelope: new functions for each session would have to be optimised by the engine each
 * time.
 */
export function ryeDialect({ envelope = "flat", isThreadsRoot }: RyeOptions = {}): Dialect<"rye"> {
  const dialect = BY_ENVELOPE[envelope];
  if (!isThreadsRoot) return dialect;
  return { ...dialect, logPath: (id) => [...threadSegments(id), LOG_NAME] };
}

const BY_ENVELOPE: Readonly<Record<Envelope, Dialect<"rye">>> = {
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
  const data = isStart && event ? without(event.data, ["type", "event_type"]) : {};
  const start = { ...data, type: "thread_start", parent_thread_id: parent };
  return { start, rest: isStart ? natives.slice(1) : natives };
}

function makeDialect(envelope: Envelope): Dialect<"rye"> {
  return {
    name: "rye",
    layout: { under: THREADS_PATH, logName: LOG_NAME, idAt },
    newIds: {
      make: (agent, nowMs) => newThreadId(named(agent), nowMs),
      isOfSecond: true,
      claimsDirectory: true,
    },
    agentOf: (id) => id.replace(/-\d+$/, ""),
    agentSaidIn: (native) => readEnvelope(native).event?.directive ?? null,
    options: OPTIONS,
    withOptions: ryeDialect,
    // All lines of a file have the envelope of its first line.
    adopt: (first, options: RyeOptions) => {
      const { event } = readEnvelope(first);
      return event ? ryeDialect({ ...options, envelope: event.envelope }) : ryeDialect(options);
    },
    projectOf,
    forkStart,
    hasStart: true,
    recording,
    document(value, options) {
      const { event, fault } = readEnvelope(value);
      return event ? { text: renderEvent(event, options), fault: null } : { text: null, fault };
    },
    hasStanding: true,
    signedFileName: META_NAME,
    files: async () => (await import("./files/rye-files.ts")).ryeFiles,
    signing: ryeSigning(envelope),
    logPath,
    idAt,
    decode,
    sessionOf: (value: unknown) => readEnvelope(value).event?.threadId ?? null,
    isSilent: (native: Native) => isSilentType(readEnvelope(native).event?.type ?? ""),
    express,
    complete: (native: Native, facts: WriterFacts) =>
      completeNative(native, {
        envelope,
        threadId: facts.id,
        defaultDirective: facts.agent,
        nowMs: facts.nowMs,
      }),
  };
}
