/**
 * Sender: delivers the sessions of this process to a server, in the background.
 *
 * - An append never waits for the server. Following a session costs one durable note before its
 *   first append (outbox.ts), then two `stat` calls a tick.
 * - While the server cannot be reached, or refuses, the sender waits longer and longer. All that is
 *   not delivered when the process ends is delivered by the next one, or by `verbatim guard send`.
 * - Nothing here keeps the process alive; `close` waits for the server a bounded time.
 */

import { lstatSync } from "node:fs";
import { join } from "node:path";
import { badOption } from "../../../core/base/choice.ts";
import { VerbatimError } from "../../../core/base/errors.ts";
import type { Host } from "../../../core/base/host.ts";
import { userPaths } from "../../../core/base/node-paths.ts";
import { type Follower, Store } from "../../../sessions/store/store.ts";
import { checkStoreOptions, type StoreOptions } from "../../../sessions/store/store-options.ts";
import { sidecarOf } from "../../../trust/session-log.ts";
import { type Remote, remoteOf } from "../remote-url.ts";
import { type OutgoingSession, SessionOutbox } from "./outbox.ts";
import { type DeliveryParts, type DeliveryState, SessionDelivery } from "./session-delivery.ts";

/** How often followed sessions are looked at. */
const TICK_MS = 200;
const RETRY_MS = 1_000;
const RETRY_MS_MAX = 60_000;
const REQUEST_MS = 30_000;
/** How long `close` waits for a server that answers, unless VERBATIM_CLOSE_MS is set. */
const CLOSE_MS = 2_000;

export interface SessionSenderOptions {
  readonly host: Host;
  readonly remote: Remote;
  /** Problems that delay the delivery, each once. No session is lost by them. */
  readonly onWarning: (warning: string) => void;
  readonly fetch?: typeof globalThis.fetch;
  readonly nowMs?: () => number;
  readonly closeMs?: number;
  /** Default: the user's. */
  readonly stateDirectory?: string;
}

/** What happened to sessions that were to be sent. */
export interface SendReport {
  readonly delivered: number;
  /** Not delivered: the session's log, and why. */
  readonly left: readonly { readonly path: string; readonly problem: string }[];
}

interface Followed {
  readonly delivery: SessionDelivery;
  /** The acknowledged end of the log. */
  readonly end: () => number;
  /** Ends of the log and of the sidecar that were delivered. */
  seen: string;
  isClosed: boolean;
  running: Promise<void> | null;
}

export class Sender {
  readonly #options: SessionSenderOptions;
  readonly #parts: DeliveryParts;
  readonly #stopping = new AbortController();
  readonly #followed = new Set<Followed>();
  readonly #told = new Set<string>();
  readonly #timer: NodeJS.Timeout;
  #failures = 0;
  #pausedUntilMs = 0;
  #sendingOthers: Promise<unknown> | null = null;
  #closing: Promise<SendReport> | null = null;

  private constructor(options: SessionSenderOptions, outbox: SessionOutbox) {
    const { host, remote, fetch = globalThis.fetch, nowMs = Date.now } = options;
    this.#options = options;
    const { signal } = this.#stopping;
    const requests = { remote, fetch, nowMs, timeoutMs: REQUEST_MS, signal };
    this.#parts = { host, outbox, requests };
    this.#timer = setInterval(() => this.#tick(), TICK_MS).unref();
  }

  static async open(options: SessionSenderOptions): Promise<Sender> {
    const { host, remote, stateDirectory = userPaths().stateDirectory } = options;
    const closeMs = options.closeMs ?? closeMsIn(process.env);
    return new Sender(
      { ...options, closeMs },
      await SessionOutbox.open(host, stateDirectory, remote),
    );
  }

  /**
   * Sends a session that this process writes. Resolves when it is noted durably that it is to be
   * sent. Call what it resolves to once the session is closed.
   */
  async follow(session: OutgoingSession, end: () => number): Promise<() => void> {
    await this.#parts.outbox.add(session);
    const delivery = new SessionDelivery(this.#parts, session);
    const followed: Followed = { delivery, end, seen: "", isClosed: false, running: null };
    this.#followed.add(followed);
    return () => {
      followed.isClosed = true;
    };
  }

  /** Sends, in the background, what earlier processes left. */
  sendOthers(): void {
    const all = async () => {
      const sessions = await this.waiting();
      await this.send(sessions.filter((each) => !this.#isFollowed(each)));
    };
    this.#sendingOthers ??= all().catch((cause) => this.#failed(cause));
  }

  /** The sessions that wait to be sent, of all processes. */
  waiting(): Promise<OutgoingSession[]> {
    return this.#parts.outbox.waiting();
  }

  /** Whether these many bytes of its log and sidecar are known to be on the server. */
  async hasDelivered(session: OutgoingSession, log: number, sidecar: number): Promise<boolean> {
    const record = await this.#parts.outbox.record(session);
    return record.log.offset === log && log > 0 && record.sidecar.offset === sidecar;
  }

  /** As which user and machine it sends: `ada@desk`. */
  get name(): string {
    const { user, machine } = this.#parts.outbox.sender;
    return `${user}@${machine}`;
  }

  /** Sends sessions that this process does not write, one after the other. */
  async send(
    sessions: readonly OutgoingSession[],
    onProgress: (done: number, total: number) => void = () => {},
  ): Promise<SendReport> {
    const report = new Report();
    for (const [done, session] of sessions.entries()) {
      onProgress(done, sessions.length);
      if (report.broken !== null) await this.#parts.outbox.add(session);
      await report.add(session, () => this.#last(new SessionDelivery(this.#parts, session)));
    }
    return report;
  }

  /** Delivers what is left, as far as the server takes it in time; then nothing more is sent. */
  close(): Promise<SendReport> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<SendReport> {
    clearInterval(this.#timer);
    const { closeMs = CLOSE_MS } = this.#options;
    const inTime = new DOMException("the process ends", "TimeoutError");
    const late = setTimeout(() => this.#stopping.abort(inTime), closeMs);
    const report = new Report();
    try {
      for (const { delivery, end, running } of this.#followed) {
        await running;
        await report.add(delivery.session, () => this.#last(delivery, end()));
      }
      await this.#sendingOthers;
    } finally {
      clearTimeout(late);
      this.#stopping.abort(inTime);
      this.#parts.outbox.close();
    }
    return report;
  }

  #isFollowed({ root, file }: OutgoingSession): boolean {
    return [...this.#followed].some(({ delivery: { session } }) => {
      return session.root === root && session.file === file;
    });
  }

  #tick(): void {
    if (this.#parts.requests.nowMs() < this.#pausedUntilMs) return;
    for (const followed of this.#followed) {
      const { delivery, end, running, isClosed } = followed;
      const seen = `${end()} ${sidecarSize(delivery.session)}`;
      if (running !== null || (seen === followed.seen && !isClosed)) continue;
      followed.running = this.#run(followed, seen).finally(() => {
        followed.running = null;
      });
    }
  }

  async #run(followed: Followed, seen: string): Promise<void> {
    const { delivery, end, isClosed } = followed;
    try {
      const outcome = isClosed ? await this.#last(delivery, end()) : await delivery.run(end());
      if (outcome === "busy") return;
      followed.seen = seen;
      if (isClosed) this.#followed.delete(followed);
      if (this.#failures === 0) return;
      this.#failures = 0; // The server is back.
      this.#sendingOthers = null;
      this.sendOthers();
    } catch (cause) {
      if (!isOfServer(cause)) this.#followed.delete(followed);
      this.#failed(cause);
    }
  }

  /** Delivers a session that this process appends nothing more to. */
  async #last(delivery: SessionDelivery, end?: number): Promise<DeliveryState> {
    const outcome = await delivery.run(end);
    if (outcome === "delivered") this.#parts.outbox.remove(delivery.session);
    return outcome;
  }

  #failed(cause: unknown): void {
    if (isOfServer(cause)) {
      const waitMs = Math.min(RETRY_MS_MAX, RETRY_MS * 2 ** this.#failures++);
      this.#pausedUntilMs = this.#parts.requests.nowMs() + waitMs;
    }
    const message = messageOf(cause);
    if (this.#told.has(message) || this.#stopping.signal.aborted) return;
    this.#told.add(message);
    this.#options.onWarning(`not sent now, and kept here: ${message}`);
  }
}

/** Counts what was delivered. After a failure of the server, it is not asked again. */
class Report implements SendReport {
  delivered = 0;
  readonly left: { path: string; problem: string }[] = [];
  broken: string | null = null;

  async add({ root, file }: OutgoingSession, deliver: () => Promise<DeliveryState>): Promise<void> {
    const path = join(root, file);
    if (this.broken !== null) {
      this.left.push({ path, problem: this.broken });
      return;
    }
    try {
      if ((await deliver()) === "delivered") this.delivered++;
      else this.left.push({ path, problem: "another process is at work on it" });
    } catch (cause) {
      const problem = messageOf(cause);
      if (isOfServer(cause)) this.broken = problem;
      this.left.push({ path, problem });
    }
  }
}

/** For commands and programs whose server is slow, or far away. Throws BAD_SETTING. */
function closeMsIn({ VERBATIM_CLOSE_MS: text = String(CLOSE_MS) }: NodeJS.ProcessEnv): number {
  if (/^\d{1,8}$/.test(text)) return Number(text);
  throw badOption("VERBATIM_CLOSE_MS", "must be a whole number of milliseconds, such as 10000");
}

/** Whether the other sessions would fail as well. */
function isOfServer(cause: unknown): boolean {
  return cause instanceof VerbatimError && cause.code === "DELIVERY_FAILED";
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

function sidecarSize({ root, file }: OutgoingSession): number {
  try {
    return lstatSync(sidecarOf(join(root, file)), { throwIfNoEntry: false })?.size ?? 0;
  } catch {
    return 0; // Delivering it reports the error.
  }
}

type Warn = (warning: string) => void;

/** Throws BAD_SETTING. Closing the store waits a bounded time for the server. */
export async function openFollowedStore(host: Host, options: StoreOptions): Promise<Store> {
  checkStoreOptions(options);
  const warn: Warn = (warning) => process.emitWarning(warning, "VerbatimWarning");
  const { remote = "", onWarning = warn } = options;
  const sender = await Sender.open({ host, remote: remoteOf(remote, "remote"), onWarning });
  sender.sendOthers();
  return Store.open(host, options, followerOf(sender, onWarning));
}

/** A session that cannot be followed is recorded all the same. */
export function followerOf(sender: Sender, onWarning: Warn): Follower {
  return {
    async follow({ dialect, root, logId, path }, end) {
      const files = { path: logId, file: logId };
      try {
        return await sender.follow(
          { dialect: dialect.name, root, ...files, generation: null },
          end,
        );
      } catch (cause) {
        const reason = cause instanceof Error ? cause.message : String(cause);
        onWarning(`${path} is recorded, but not sent: ${reason}`);
        return () => {};
      }
    },
    close: () => sender.close(),
  };
}
