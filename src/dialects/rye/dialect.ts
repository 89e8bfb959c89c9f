/**
 * Dialect: rye's threads, as the store asks for them. The root is the project's directory.
 *
 *   <project>/.ai/threads/<id>/transcript.jsonl
 *
 * An id is `/`-joined segments, so a directory may hold a thread and also be above others.
 *
 * D1  No id can make a path that is one of another thread's own files.
 */

import { VerbatimError } from "../../base/errors.ts";
import { idSegments } from "../../base/ids.ts";
import type { Dialect, Native, WriterFacts } from "../dialect.ts";
import { decode } from "./decode.ts";
import { completeNative, type Envelope } from "./envelope.ts";
import { express } from "./express.ts";
import { ryeSigning } from "./signing.ts";

export type { Envelope };

/** Where threads lie below the project. */
export const THREADS_PATH: readonly string[] = [".ai", "threads"];
export const LOG_NAME = "transcript.jsonl";
export const MARKDOWN_NAME = "transcript.md";
export const META_NAME = "thread.json";
export const REGISTRY_NAME = "registry.db";

const PLAIN_SEGMENT = /^[A-Za-z0-9._-]+$/;
/** D1, with what stands beside those files; in any case, since some file systems see none. */
const OWN_NAME = /^(transcript\.jsonl|transcript\.md|thread\.json|registry\.db)/i;

/**
 * The dialect, writing lines in the given envelope; it reads both. Always the same object for the
 * same envelope: functions made anew for each session would be slow anew in each.
 */
export function ryeDialect({ envelope = "flat" }: { readonly envelope?: Envelope } = {}): Dialect {
  return DIALECTS[envelope];
}

const DIALECTS: Readonly<Record<Envelope, Dialect>> = {
  flat: makeDialect("flat"),
  payload: makeDialect("payload"),
};

/** The dialect with the envelope of the thread-transcripts document. */
export const rye: Dialect = DIALECTS.flat;

function makeDialect(envelope: Envelope): Dialect {
  return {
    name: "rye",
    signing: ryeSigning(envelope),
    logPath: (id) => [...THREADS_PATH, ...threadSegments(id), LOG_NAME],
    idAt,
    decode,
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

/** The segments of a thread's id, which are those of its directory; refuses with BAD_ID. */
export function threadSegments(id: string): readonly string[] {
  const segments = idSegments(id);
  for (const segment of segments) {
    if (!PLAIN_SEGMENT.test(segment)) refuseId(id, "a segment holds more than A-Z a-z 0-9 . _ -");
    if (OWN_NAME.test(segment)) refuseId(id, "a segment is named like a thread's own files");
  }
  return segments;
}

/** `{directive}-{epoch_seconds}`; refuses with BAD_ID when the directive makes no id. */
export function newThreadId(directive: string, nowMs: number): string {
  const id = `${directive}-${Math.floor(nowMs / 1000)}`;
  threadSegments(id);
  return id;
}

/** Ids that need no closer look, which is nearly all: `{directive}-{epoch_seconds}` and the like. */
const ORDINARY_ID = /^\w(?:[\w-]*\w)?$/;

function idAt(path: readonly string[]): string | null {
  const [first, second, only, log] = path;
  if (path.length === 4 && only !== undefined && only.length <= 100 && log === LOG_NAME) {
    const isThread = first === THREADS_PATH[0] && second === THREADS_PATH[1];
    if (isThread && ORDINARY_ID.test(only)) return only;
  }
  const inner = path.slice(THREADS_PATH.length, -1);
  const isLog = path.at(-1) === LOG_NAME && THREADS_PATH.every((name, at) => path[at] === name);
  if (!isLog || inner.length === 0 || inner.some((segment) => segment.includes("/"))) return null;
  const id = inner.join("/");
  try {
    threadSegments(id);
    return id;
  } catch {
    return null; // No thread can have such a directory; the path is somebody else's.
  }
}

function refuseId(id: string, reason: string): never {
  throw new VerbatimError(
    "BAD_ID",
    `the thread id ${JSON.stringify(id)} is refused: ${reason}; choose another directive or id`,
    { id, reason },
  );
}
