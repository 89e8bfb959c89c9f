/**
 * Wrap fetch: a `fetch` that records its calls to models. The caller gets the answer of the other
 * fetch itself, as it comes; its bytes are collected while the caller reads them.
 *
 * - The current session is that of `inSession`, else the option; without one, nothing is recorded.
 * - All calls of a session go to it, whatever they are: only what it does not have is appended.
 */

import { AsyncLocalStorage } from "node:async_hooks";
import { badArgument, badOption, checkOptions, type OptionKinds } from "../../core/base/choice.ts";
import type { CaptureSession } from "../../sessions/capture/capture.ts";
import type { Headers as HeaderTexts } from "../wire/body.ts";
import { Call, type CallHead, type CallMessage, CallRoom } from "../wire/call.ts";
import { CallRecorder } from "../wire/call-recorder.ts";
import type { CallSessions } from "../wire/call-sessions.ts";
import { Conversations } from "../wire/conversations.ts";

/** As Node has it. */
export type Fetch = typeof globalThis.fetch;

export interface WrapFetchOptions {
  /** Where calls outside of `inSession` are recorded. Default: they are not recorded. */
  readonly session?: CaptureSession;
  /** A call could not be recorded, and went on. Default: a process warning, once. */
  readonly onProblem?: (cause: unknown) => void;
}

/** A fetch that records, with what it has not written yet. */
export interface RecordingFetch extends Fetch {
  /** Resolves when all calls that have ended are in their sessions. */
  recorded(): Promise<void>;
}

const OPTIONS: OptionKinds<WrapFetchOptions> = { session: "object", onProblem: "function" };

const current = new AsyncLocalStorage<CaptureSession>();

/** Runs `work`: calls that it makes, also later, are recorded in `session`. */
export function inSession<T>(session: CaptureSession, work: () => T): T {
  checkSession(session);
  if (typeof work !== "function") throw badArgument("work", "must be a function");
  return current.run(session, work);
}

/**
 * A fetch for the SDKs of providers, and for your own calls.
 *
 * @example
 * const recording = wrapFetch(fetch, { session });
 * const client = new Anthropic({ fetch: recording });
 */
export function wrapFetch(fetch: Fetch, options: WrapFetchOptions = {}): RecordingFetch {
  if (typeof fetch !== "function") throw badArgument("fetch", "must be a function like fetch");
  checkOptions("wrapFetch", options, OPTIONS);
  const { session, onProblem = warnOnce() } = options;
  if (session !== undefined) checkSession(session);
  const room = new CallRoom();
  const recorders = new WeakMap<CaptureSession, CallRecorder>();
  const open = new Set<Promise<void>>();
  const recorderOf = (to: CaptureSession): CallRecorder => {
    const recorder =
      recorders.get(to) ?? new CallRecorder(new Conversations(), toOne(to), onProblem);
    recorders.set(to, recorder);
    return recorder;
  };
  const wrapped: Fetch = async (input, init) => {
    const to = current.getStore() ?? session;
    if (to === undefined) return fetch(input, init);
    const recorder = recorderOf(to);
    const sink = (message: CallMessage) => {
      const taken = recorder.take(message).finally(() => open.delete(taken));
      open.add(taken);
      return taken;
    };
    const { head, body, send } = await outgoing(fetch, input, init);
    const call = Call.begin(head, sink, room);
    if (call === null) return send();
    if (body !== null) call.request(body);
    call.requestEnd();
    return recordedAnswer(send, call, init?.signal ?? null);
  };
  const recorded = async () => {
    while (open.size > 0) await Promise.all(open);
  };
  return Object.assign(wrapped, { recorded });
}

interface Outgoing {
  readonly head: CallHead;
  readonly body: Uint8Array | null;
  readonly send: () => Promise<Response>;
}

/** What is sent is what the caller gave, unless its body can be read only once. */
async function outgoing(
  fetch: Fetch,
  input: Parameters<Fetch>[0],
  init: RequestInit | undefined,
): Promise<Outgoing> {
  const plain = input instanceof Request ? undefined : plainBody(init?.body);
  if (plain !== undefined) {
    const { method = "GET" } = init ?? {};
    const head = headOf(method, String(input), new Headers(init?.headers));
    return { head, body: plain, send: () => fetch(input, init) };
  }
  const request = new Request(input, init);
  const head = headOf(request.method, request.url, request.headers);
  const body = new Uint8Array(await request.clone().arrayBuffer());
  return { head, body, send: () => fetch(request) };
}

function headOf(method: string, url: string, headers: Headers): CallHead {
  const { pathname, search } = URL.canParse(url) ? new URL(url) : new URL(url, "http://localhost");
  return { method: method.toUpperCase(), target: pathname + search, headers: textsOf(headers) };
}

function textsOf(headers: Headers): HeaderTexts {
  return Object.fromEntries(headers);
}

/** Undefined: it can be read only once. */
function plainBody(body: unknown): Uint8Array | null | undefined {
  if (body === null || body === undefined) return null;
  if (typeof body === "string") return new TextEncoder().encode(body);
  if (body instanceof ArrayBuffer) return new Uint8Array(body.slice(0));
  if (!ArrayBuffer.isView(body)) return undefined;
  return new Uint8Array(body.buffer, body.byteOffset, body.byteLength).slice();
}

async function recordedAnswer(
  send: () => Promise<Response>,
  call: Call,
  signal: AbortSignal | null,
): Promise<Response> {
  let response: Response;
  try {
    response = await send();
  } catch (cause) {
    call.end(signal?.aborted ? "cancelled" : "unreachable");
    throw cause;
  }
  const { "content-encoding": _, ...plain } = textsOf(response.headers); // It is decompressed.
  call.answer(response.status, plain);
  if (response.body === null) {
    call.end("whole");
    return response;
  }
  const { status, statusText } = response;
  const read = new Response(collected(response.body, call, signal), {
    status,
    statusText,
    headers: response.headers,
  });
  Object.defineProperty(read, "url", { value: response.url });
  return read;
}

/** The same bytes, read when the caller reads them. */
function collected(
  body: ReadableStream<Uint8Array>,
  call: Call,
  signal: AbortSignal | null,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (done) {
            call.end("whole");
            return controller.close();
          }
          call.data(value.slice()); // The caller may transfer the other.
          controller.enqueue(value);
        } catch (cause) {
          call.end(signal?.aborted ? "cancelled" : "cut");
          throw cause;
        }
      },
      cancel(reason) {
        call.end("cancelled");
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}

/** All conversations go to one session. */
function toOne(session: CaptureSession): CallSessions {
  return {
    restore: async () => {},
    append: async (_, entries) => {
      for (const entry of entries) await session.append(entry);
    },
    close: async () => {},
  };
}

function checkSession(session: unknown): void {
  if (typeof (session as Partial<CaptureSession> | null)?.append === "function") return;
  throw badOption("session", "must be a session, or have an append that takes one entry");
}

function warnOnce(): (cause: unknown) => void {
  let isWarned = false;
  return (cause) => {
    if (isWarned) return;
    isWarned = true;
    const why = cause instanceof Error ? cause.message : String(cause);
    process.emitWarning(`calls are not recorded, and go on: ${why}`, "VerbatimWarning");
  };
}
