/**
 * Export: sends a session's spans to a collector, once or live.
 *
 * Reads only, and stores nothing: the caller remembers where an export stopped (`deliveredTo`,
 * passed back as `after`). Without it everything is sent again, with the same ids.
 *
 * - A live export and one at the end send the same spans.
 * - A slow or unreachable collector delays only the export: the log waits.
 */

import { nodeHost } from "../../core/base/node-host.ts";
import { toByteOffset } from "../../core/base/offset.ts";
import type { Entry } from "../../core/model/entry.ts";
import { packageVersion } from "../../core/package-file.ts";
import { isHostedCall } from "../../dialects/verbatim/item.ts";
import { followSession, SessionWindow } from "../../sessions/list/session-window.ts";
import type { Session } from "../../sessions/store/session.ts";
import { endpointOf } from "./endpoint.ts";
import { type DeliverSpans, SpanOutbox } from "./outbox.ts";
import { OtlpSender, RETRIES_MAX, type SenderTools } from "./sender.ts";
import { SessionSpans, type SpansReport } from "./session-spans.ts";
import type { TraceSpan } from "./span.ts";

/** Where spans go: a collector, or a function of the caller. */
export type SpanTarget =
  | {
      /** Such as `http://localhost:4318`; `/v1/traces` is added. */
      readonly url: string;
      /** Sent with each request, and never printed. */
      readonly headers?: Readonly<Record<string, string>>;
      readonly exporter?: undefined;
    }
  | {
      /** Gets the JSON of one ExportTraceServiceRequest. */
      readonly exporter: (body: string) => Promise<void>;
      readonly url?: undefined;
    };

export type ExportOptions = SpanTarget & {
  /** Include the conversation: prompts, answers, inputs and outputs of tools. Default: false. */
  readonly content?: boolean;
  /** `service.name`. Default: verbatim. */
  readonly serviceName?: string;
  /** Leave out spans that had ended at this offset: the `deliveredTo` of an earlier export. */
  readonly after?: number;
  /** Called before a request is sent again. */
  readonly onRetry?: (problem: string, waitMs: number) => void;
};

export type LiveExportOptions = ExportOptions & {
  /** Ends the export, after everything in the log by then was sent. */
  readonly signal?: AbortSignal;
  /** How long spans are collected before they are sent. Default: a second. */
  readonly lingerMs?: number;
};

export interface ExportReport extends SpansReport {
  /** Spans that were sent. */
  readonly spans: number;
  /** Spans that the collector rejected, and its messages. */
  readonly rejectedSpans: number;
  readonly messages: readonly string[];
  /** Lines that are not entries. */
  readonly badLines: number;
  /** Every span that had ended by this offset has been sent. */
  readonly deliveredTo: number;
}

const LINGER_MS = 1_000;

const TOOLS: SenderTools = {
  fetch: (...request) => fetch(...request),
  clock: nodeHost.clock,
  random: Math.random,
  nowMs: Date.now,
};

/**
 * Sends the spans of a session in its current state; open ones are marked. Refuses with LOG_REWOUND
 * an `after` past the log's end.
 */
export async function exportSpans(session: Session, options: ExportOptions): Promise<ExportReport> {
  await checkReached(session, options);
  const pass = new Pass(session, options, outboxFor(options, RETRIES_MAX));
  await pass.catchUp();
  return pass.finish();
}

/**
 * Sends spans as they end, whichever process appends to the session, until the signal; then the
 * open ones. An unreachable collector is retried until it is back. Refuses like `exportSpans`.
 */
export async function exportLive(
  session: Session,
  options: LiveExportOptions,
): Promise<ExportReport> {
  const { signal, lingerMs = LINGER_MS } = options;
  await checkReached(session, options);
  const outbox = outboxFor(options, Number.POSITIVE_INFINITY, signal);
  let after = options.after ?? 0;
  for (;;) {
    const pass = new Pass(session, { ...options, after }, outbox);
    const rewoundTo = await new LivePass(session, pass, outbox, lingerMs).run(signal);
    if (rewoundTo === null) {
      await pass.catchUp(); // The signal may come before the follower's last lines.
      return pass.finish();
    }
    // Undone lines ended nothing: the fold starts over without them.
    after = Math.min(Math.max(after, pass.end), rewoundTo);
  }
}

/** Nothing after the log's end was delivered: it is another log, or was cut. */
async function checkReached(session: Session, { after = 0 }: ExportOptions): Promise<void> {
  if (after === 0) return;
  const window = await SessionWindow.open(nodeHost, session);
  try {
    window.log.checkReached(after);
  } finally {
    window.close();
  }
}

function outboxFor(options: ExportOptions, retriesMax: number, signal?: AbortSignal): SpanOutbox {
  const { serviceName = "verbatim", after = 0 } = options;
  const teller = { serviceName, version: packageVersion() };
  return new SpanOutbox(teller, deliverTo(options, retriesMax, signal), after);
}

function deliverTo(options: ExportOptions, retriesMax: number, signal?: AbortSignal): DeliverSpans {
  const { exporter, onRetry } = options;
  if (exporter) {
    return async (body) => {
      await exporter(body);
      return { rejectedSpans: 0, message: null };
    };
  }
  const endpoint = endpointOf(options.url, options.headers);
  const sender = new OtlpSender(endpoint, TOOLS, { retriesMax, ...(onRetry && { onRetry }) });
  return (body) => sender.send(body, signal);
}

/** One reading of a session from its start. */
class Pass {
  readonly #session: Session;
  readonly #spans: SessionSpans;
  readonly #outbox: SpanOutbox;
  readonly #after: number;
  #badLines = 0;
  /** End of the last line read. */
  end = 0;

  constructor(session: Session, { content = false, after = 0 }: ExportOptions, outbox: SpanOutbox) {
    const { dialect, id } = session;
    this.#session = session;
    this.#spans = new SessionSpans({
      session: { dialect: dialect.name, id },
      agent: agentOf(dialect.name, id),
      content,
      isAside: ({ native }) => (dialect.reading.asideOf?.(native, id) ?? null) !== null,
      isHosted: ({ native }, callId) => dialect.name === "sdk" && isHostedCall(native, callId),
    });
    this.#outbox = outbox;
    this.#after = after;
  }

  async add(entry: Entry, { start, end }: { start: number; end: number }): Promise<void> {
    await this.#send(this.#spans.add(Object.assign(entry, { start, end })));
    this.end = end;
    this.#outbox.note(end);
  }

  addBadLine(end: number): void {
    this.#badLines++;
    this.end = end;
  }

  /** Reads the rest of the log. */
  async catchUp(): Promise<void> {
    const from = toByteOffset(this.end);
    const onBadLine = (_: unknown, end: number) => this.addBadLine(end);
    for await (const entry of this.#session.entries({ from, onBadLine })) {
      await this.add(entry, entry);
    }
  }

  async finish(): Promise<ExportReport> {
    await this.#send(this.#spans.finish());
    await this.#outbox.flush();
    const { spans, rejectedSpans, messages, deliveredTo } = this.#outbox;
    const badLines = this.#badLines;
    return { ...this.#spans.report, spans, rejectedSpans, messages, badLines, deliveredTo };
  }

  async #send(spans: readonly TraceSpan[]): Promise<void> {
    for (const span of spans) {
      if (span.completedAt === null || span.completedAt > this.#after) await this.#outbox.add(span);
    }
  }
}

/** Follows a session, and sends collected spans after a pause. */
class LivePass {
  readonly #session: Session;
  readonly #pass: Pass;
  readonly #outbox: SpanOutbox;
  readonly #lingerMs: number;
  readonly #over = new AbortController();
  #isLingering = false;
  #failure: unknown = null;

  constructor(session: Session, pass: Pass, outbox: SpanOutbox, lingerMs: number) {
    this.#session = session;
    this.#pass = pass;
    this.#outbox = outbox;
    this.#lingerMs = lingerMs;
  }

  /** Resolves to null on the signal, or to the offset that the log was rewound to. */
  async run(signal: AbortSignal | undefined): Promise<number | null> {
    let rewoundTo: number | null = null;
    const over = this.#over;
    const either = signal ? AbortSignal.any([signal, over.signal]) : over.signal;
    const follower = {
      entry: async ({ entry, start, end }: { entry: Entry | null; start: number; end: number }) => {
        if (rewoundTo !== null) return;
        if (entry) await this.#pass.add(entry, { start, end });
        else this.#pass.addBadLine(end);
        if (!this.#outbox.isEmpty) void this.#linger(either);
      },
      badLine: ({ end }: { end: number }) => this.#pass.addBadLine(end),
      rewound: (to: number) => {
        rewoundTo = to;
        over.abort();
      },
    };
    try {
      await followSession(this.#session, 0, follower, either);
    } finally {
      over.abort();
    }
    if (this.#failure !== null) throw this.#failure;
    return rewoundTo;
  }

  async #linger(signal: AbortSignal): Promise<void> {
    if (this.#isLingering) return;
    this.#isLingering = true;
    try {
      await nodeHost.clock.sleep(this.#lingerMs, signal);
      this.#isLingering = false; // Spans that come during this request wait again.
      await this.#outbox.flush();
    } catch (cause) {
      if (signal.aborted) return; // The end of the export sends what is left.
      this.#failure = cause;
      this.#over.abort();
    }
  }
}

/** The session's agent, where its id has it. */
function agentOf(dialect: string, id: string): string | null {
  if (dialect === "homeagent") return id.slice(0, id.indexOf("/"));
  if (dialect === "rye") return id.slice(id.lastIndexOf("/") + 1).replace(/-\d+$/, "");
  return null;
}
