/**
 * Live entries: a session's entries as Server-Sent Events, existing and new ones of any process.
 *
 * - An event's id is the offset after its line. A client that reconnects with the last id
 *   (`Last-Event-ID`) continues there: nothing is missing or sent twice.
 * - Lines that a writer rolled back after they were sent are reported as `rewound`; their
 *   replacement follows.
 * - The next line is read when the last one was sent, so that a slow reader holds one line. A
 *   reader with more than the limit waiting is disconnected, and can reconnect.
 */

import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { repeat } from "../../core/base/time.ts";
import { followSession, type WindowEntry } from "../../sessions/list/session-window.ts";
import type { Session } from "../../sessions/store/session.ts";
import type { Admission } from "../auth/gate.ts";
import type { SessionContext } from "../context.ts";
import { badRequest } from "../http/answer.ts";
import { Query } from "./query.ts";
import type { ServedSession } from "./service.ts";
import { checkOffset } from "./session-reads.ts";
import { type EntryForm, entryFormOf, entryJson, sessionHeaders } from "./wire.ts";

export const EVENT_PARAMETERS = ["offset", "native", "exact"] as const;

const KEEP_ALIVE_MS = 15_000;

export async function liveEntries(
  context: SessionContext,
  served: ServedSession,
  request: IncomingMessage,
  response: ServerResponse,
  pass: Admission | null,
): Promise<void> {
  const { sessions } = context;
  const query = new Query(request.url ?? "/", EVENT_PARAMETERS);
  const form = entryFormOf(query);
  const from = await checkOffset(sessions, served, offsetOf(query, request));
  const feed = new LiveFeed(context, response, form, pass, served);
  feed.begin(from, request.method === "HEAD");
  try {
    await followSession(served.session, from, feed, feed.signal);
  } catch (cause) {
    feed.cut();
    throw cause;
  }
}

function offsetOf(query: Query, request: IncomingMessage): number | "end" {
  const resumed = request.headers["last-event-id"];
  if (resumed !== undefined && resumed !== "") {
    const text = String(resumed);
    const offset = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
    if (Number.isSafeInteger(offset)) return offset;
    throw badRequest("Last-Event-ID", "is not an event id of this server");
  }
  return query.text("offset") === "end" ? "end" : (query.offset("offset") ?? 0);
}

class LiveFeed {
  readonly #context: SessionContext;
  readonly #response: ServerResponse;
  readonly #form: EntryForm;
  readonly #session: Session;
  readonly #over = new AbortController();
  readonly #cleanup: (() => void)[] = [];

  constructor(
    context: SessionContext,
    response: ServerResponse,
    form: EntryForm,
    pass: Admission | null,
    served: ServedSession,
  ) {
    this.#context = context;
    this.#response = response;
    this.#form = form;
    this.#session = served.session;
    this.#cleanup.push(context.sessions.followers.add(() => {}, null));
    this.#cleanup.push(context.sessions.follow(served));
    try {
      this.#cleanup.push(context.readers.add(() => this.#end(), pass));
    } catch (cause) {
      this.#finish();
      throw cause;
    }
    response.on("close", () => this.#finish());
    if (response.destroyed) this.#finish(); // It left before we listened.
  }

  get signal(): AbortSignal {
    return this.#over.signal;
  }

  begin(from: number, isHeadOnly: boolean): void {
    if (this.signal.aborted) return; // There would be nothing to stop the timer.
    const { settings, readers, time } = this.#context;
    const headers = sessionHeaders();
    headers.push("Content-Type", "text/event-stream", "X-Accel-Buffering", "no");
    this.#response.writeHead(200, headers);
    // An id alone is not an event; a client that reconnects before the first one continues from it.
    if (!isHeadOnly) this.#response.write(`id: ${from}\n\n`);
    if (isHeadOnly || readers.isStopping) {
      this.#end();
      return;
    }
    this.#cleanup.push(
      time.setTimer(settings.eventStreamMs, () => this.#end()),
      repeat(time, KEEP_ALIVE_MS, () => this.#keepAlive()),
    );
  }

  async entry(entry: WindowEntry): Promise<void> {
    if (this.#sendEntry(entry)) return;
    await once(this.#response, "drain", { signal: this.signal }).catch(() => {}); // Or it left.
  }

  badLine(line: WindowEntry): void {
    // A session with only such lines would fill the memory.
    if (this.#response.writableLength <= this.#context.settings.readerBufferBytesMax) {
      this.#sendEntry(line);
    } else {
      this.cut();
    }
  }

  rewound(to: number): void {
    this.#send(`id: ${to}\nevent: rewound\ndata: {"to":${to}}\n\n`);
  }

  cut(): void {
    this.#finish();
    this.#response.destroy();
  }

  #sendEntry(entry: WindowEntry): boolean {
    const data = entryJson(entry, this.#form, this.#session); // JSON has no line ends.
    return this.#send(`id: ${entry.end}\nevent: entry\ndata: ${data}\n\n`);
  }

  /** Whether the connection takes more. */
  #send(text: string): boolean {
    return this.signal.aborted || this.#response.write(text);
  }

  /** A comment line, so that no proxy closes a silent connection. */
  #keepAlive(): void {
    if (this.#response.writableLength === 0) this.#send(":\n\n");
  }

  #end(): void {
    if (this.signal.aborted) return;
    this.#finish();
    this.#response.end();
  }

  #finish(): void {
    if (this.signal.aborted) return;
    this.#over.abort();
    for (const work of this.#cleanup.splice(0)) work();
  }
}
