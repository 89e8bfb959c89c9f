/**
 * SSE recording: turns a provider's responses on stdin, as server-sent events, into entries.
 *
 * Each response becomes one entry, appended when its message has ended. An incomplete response is
 * kept as partial and reported with its number; the next one is still recorded.
 */

import type { Readable } from "node:stream";
import { VerbatimError } from "../../core/base/errors.ts";
import type { Native } from "../../core/model/entry.ts";
import { captureAnthropic } from "../../sessions/capture/anthropic.ts";
import type { CaptureSession } from "../../sessions/capture/capture.ts";
import { captureOpenAI } from "../../sessions/capture/openai.ts";
import { Responses } from "../../sessions/capture/responses.ts";
import type { Session } from "../../sessions/store/session.ts";
import type { Io } from "../command/command.ts";
import { chunksOf } from "./input-lines.ts";
import type { RecordOutcome } from "./record-input.ts";

export type SseSource = "anthropic-sse" | "openai-sse";

export interface SseRecordingOptions {
  readonly from: SseSource;
  readonly input: Readable;
  readonly signal: AbortSignal;
  /** Prints `{"offset":N}` for every entry, once it is durable. */
  readonly isAcknowledging: boolean;
  /** Written before the first entry; null if the log has it. */
  readonly start: Native | null;
  readonly io: Io;
}

/** Errors of a response, not of the log: the next one can be recorded. */
const FAULTS: readonly string[] = [
  "BAD_STREAM",
  "PROVIDER_ERROR",
  "STREAM_INCOMPLETE",
  "STREAM_TOO_LARGE",
  "INVALID_ENTRY",
];

export async function recordResponses(
  session: Session,
  options: SseRecordingOptions,
): Promise<RecordOutcome> {
  const { from, input, signal, io } = options;
  const isAnthropic = from === "anthropic-sse";
  const responses = new Responses(isAnthropic ? "anthropic" : "openai", chunksOf(input, signal));
  const sink = entrySink(session, options);
  let outcome: RecordOutcome = "recorded";
  let count = 0;
  for (let isMore = true; isMore; ) {
    try {
      const events = await responses.next();
      isMore = events !== null;
      if (events === null) continue;
      count++;
      const captured = isAnthropic ? captureAnthropic(events, sink) : captureOpenAI(events, sink);
      for await (const _ of captured); // To its end: the rest belongs to the next response.
      await captured.result;
    } catch (error) {
      const isFault = error instanceof VerbatimError && FAULTS.includes(error.code);
      io.err(`response ${count}: ${error instanceof Error ? error.message : String(error)}`);
      if (!isFault) return "failed";
      outcome = "malformed";
    }
  }
  if (count > 0) return outcome;
  io.err(`stdin has no event that --from ${from} reads; nothing is recorded`);
  return "malformed";
}

/** A session as capture needs it; writes the start before the first entry and acknowledges each. */
function entrySink(session: Session, options: SseRecordingOptions): CaptureSession {
  let { start } = options;
  return {
    append: async (entry) => {
      if (start) await session.appendNative(start);
      start = null;
      const offset = await session.append(entry);
      if (options.isAcknowledging) options.io.out(JSON.stringify({ offset }));
    },
  };
}
