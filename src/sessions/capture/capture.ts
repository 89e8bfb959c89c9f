/**
 * Capture: passes one provider stream through. Each event is collected and passed on unchanged;
 * when the message ends, one entry is appended; `result` reports the outcome.
 *
 * - An event is read when the consumer asks for it, not before. The event that ends a message is
 *   passed on after the entry is appended, so a consumer that has seen it can rely on the entry.
 * - What arrived is appended once, whatever happens: the end, an error of the stream, a consumer
 *   that stops. All but the first are marked partial, and so is a message with refused events.
 * - Iterator and `result` fail with the same error: the append's if that failed, else the
 *   provider's own. An unobserved `result` causes no unhandled rejection.
 * - What capture does not understand, or has no room for, fails only `result`: the consumer gets
 *   every event, as without capture. The same holds for bugs of ours.
 */

import { badArgument, badOption, checkOptions, type OptionKinds } from "../../core/base/choice.ts";
import { assert, type Provider, VerbatimError } from "../../core/base/errors.ts";
import { CAPTURE_LIMITS, type CaptureLimits } from "../../core/base/limits.ts";
import type { NewEntry } from "../../core/model/entry.ts";
import { CaptureBudget } from "./budget.ts";
import { assistantEntry, type EventFold } from "./event-fold.ts";
import { CaptureSource, UnknownEvents } from "./source.ts";
import { badStream, incomplete, isObject, unknownEventsError } from "./wire.ts";

/**
 * Where a captured message goes: a session of `openStore`, what an entry point calls one (a
 * `SessionTranscript`, a `Thread`), or any object of yours that appends an entry.
 */
export interface CaptureSession {
  append(entry: NewEntry): Promise<unknown>;
}

export interface CaptureOptions {
  /** Smaller limits than the defaults. */
  readonly limits?: Partial<CaptureLimits>;
}

/** The provider's events, unchanged. Can be iterated over once. */
export interface Capture<Event, Result> extends AsyncIterable<Event> {
  /**
   * The message, once it is appended. Awaiting it without iterating reads the stream to its end; to
   * do both, begin to iterate first.
   */
  readonly result: Promise<Result>;
}

/** A provider's stream, as its entry point describes it. */
export interface ProviderStream<Result> {
  readonly provider: Provider;
  readonly stream: object;
  readonly session: CaptureSession;
  readonly options: CaptureOptions;
  readonly gather: (budget: CaptureBudget) => EventFold<Result>;
}

export function capture<Event, Result>(captured: ProviderStream<Result>): Capture<Event, Result> {
  const { provider, stream, session, options, gather } = captured;
  checkSession(session);
  const { messageBytesMax, eventCharsMax } = limitsOf(options);
  const budget = new CaptureBudget(provider, messageBytesMax);
  return new StreamCapture<Event, Result>(
    new CaptureSource(provider, stream, eventCharsMax),
    gather(budget),
    new UnknownEvents(new CaptureBudget(provider, Math.floor(messageBytesMax / 8), budget)),
    session,
    provider,
  );
}

const OPTIONS: OptionKinds<CaptureOptions> = { limits: "object" };
const LIMITS: OptionKinds<CaptureLimits> = { messageBytesMax: "count", eventCharsMax: "count" };

/** Checked before the stream is touched: events that were read could not be kept. */
function checkSession(session: unknown): void {
  const { append, appendLines, appendAll } = (session ?? {}) as Partial<Record<string, unknown>>;
  // An append with more parameters is of another kind of writer: it takes an id first, or a path.
  const takesEntries = typeof append === "function" && append.length <= 1;
  // A log has appendLines, and no method for entries.
  const isLog = typeof appendLines === "function" && typeof appendAll !== "function";
  if (takesEntries && !isLog) return;
  throw badArgument(
    "session",
    "must be a session, or have an append that takes one entry; see docs/capture.md",
  );
}

function limitsOf(options: unknown): CaptureLimits {
  checkOptions("capture", options, OPTIONS);
  const { limits = {} } = options as CaptureOptions;
  checkOptions("limits", limits, LIMITS);
  const { messageBytesMax = CAPTURE_LIMITS.messageBytesMax } = limits;
  if (messageBytesMax <= CAPTURE_LIMITS.messageBytesMax) {
    return { ...CAPTURE_LIMITS, ...limits };
  }
  const max = CAPTURE_LIMITS.messageBytesMax;
  throw badOption("limits.messageBytesMax", `is over ${max}: such a message cannot be appended`);
}

class StreamCapture<Event, Result> implements Capture<Event, Result> {
  readonly result: Promise<Result>;
  readonly #source: CaptureSource;
  readonly #gathering: EventFold<Result>;
  readonly #unknown: UnknownEvents;
  readonly #session: CaptureSession;
  readonly #provider: Provider;
  readonly #events: AsyncGenerator<Event, void, undefined>;
  #resolve: (result: Result) => void = () => {};
  #reject: (error: unknown) => void = () => {};
  #isSettled = false;
  #hasBegun = false;
  #isStopped = false;
  #reader: "none" | "consumer" | "result" = "none";

  constructor(
    source: CaptureSource,
    gathering: EventFold<Result>,
    unknown: UnknownEvents,
    session: CaptureSession,
    provider: Provider,
  ) {
    this.#source = source;
    this.#gathering = gathering;
    this.#unknown = unknown;
    this.#session = session;
    this.#provider = provider;
    this.#events = this.#run();
    this.result = new AwaitedResult<Result>(
      (resolve, reject) => {
        this.#resolve = resolve;
        this.#reject = reject;
      },
      () => this.#drain(),
    );
  }

  [Symbol.asyncIterator](): AsyncIterator<Event, void, undefined> {
    assert(this.#reader !== "result", "`result` was awaited first, and is reading the events");
    this.#reader = "consumer";
    return {
      next: () => this.#next(),
      return: async () => {
        this.#isStopped = true;
        // A generator that never ran would end silently, without settling `result`.
        if (!this.#hasBegun) await this.#next();
        return this.#events.return();
      },
    };
  }

  #next(): Promise<IteratorResult<Event, void>> {
    this.#hasBegun = true;
    return this.#events.next();
  }

  /** Reads to the end for `result`, unless a consumer has begun to iterate by then. */
  #drain(): void {
    queueMicrotask(async () => {
      if (this.#reader !== "none") return;
      this.#reader = "result";
      try {
        while (!(await this.#next()).done);
      } catch {
        // `result` has the error.
      }
    });
  }

  async *#run(): AsyncGenerator<Event, void, undefined> {
    try {
      while (!this.#isStopped) {
        const step = await this.#source.next();
        if (step === null) return await this.#end();
        const failure = await this.#take(step.event);
        yield step.event as Event;
        if (failure) throw failure;
      }
    } catch (error) {
      await this.#settle({ error });
      throw error;
    } finally {
      try {
        // Not settled by now: the consumer stopped, perhaps because it had all that it wanted.
        const isWhole = this.#gathering.isWhole();
        await this.#settle(isWhole ? null : { error: incomplete(this.#provider, "stopped") });
      } finally {
        await this.#source.cancel();
      }
    }
  }

  /** Collects an event; if it ends the message, that is appended before this resolves. */
  async #take(event: unknown): Promise<Error | null> {
    if (this.#isSettled) return null;
    const ending = this.#gathered(event);
    if (ending === null || ending === "unknown") return null;
    const error = ending === "whole" ? null : ending;
    await this.#settle(error && { error });
    // A message that is too large does not end the stream.
    return error?.code === "STREAM_TOO_LARGE" ? null : error;
  }

  /** Collects an event. What cannot be collected is kept as unknown, and fails only `result`. */
  #gathered(event: unknown): ReturnType<EventFold<Result>["take"]> {
    try {
      if (!isObject(event)) throw badStream(this.#provider, "an event is not an object");
      const ending = this.#gathering.take(event);
      if (ending === "unknown") this.#unknown.pass();
      return ending;
    } catch (cause) {
      const isOurs = cause instanceof VerbatimError;
      if (isOurs && cause.code === "STREAM_TOO_LARGE") return cause;
      const why = isOurs ? cause : badStream(this.#provider, "an event cannot be read", cause);
      this.#unknown.refuse(event, why);
      return null;
    }
  }

  async #end(): Promise<void> {
    if (this.#isSettled) return;
    if (this.#gathering.isWhole()) return this.#settle(null);
    const error = (await this.#source.whyOver()) ?? null;
    if (error !== null) throw error;
    const missing = incomplete(this.#provider, "ended");
    // The end may have been among the unknown events.
    if (this.#unknown.count === 0) throw missing;
    const isForeign = this.#unknown.why === null && this.#gathering.entry(true) === null;
    if (isForeign) throw unknownEventsError(this.#provider);
    await this.#settle({ error: this.#unknown.why ?? missing });
  }

  /** Appends what arrived and settles `result`; the first call counts. Null: it is complete. */
  async #settle(ended: { readonly error: unknown } | null): Promise<void> {
    if (this.#isSettled) return;
    this.#isSettled = true;
    const { why } = this.#unknown;
    const failure = ended ?? (why && { error: why });
    const made = this.#made(failure !== null);
    try {
      if (made.entry) await this.#session.append(made.entry);
    } catch (error) {
      this.#reject(error);
      throw error;
    }
    if (made.error !== null) this.#reject(made.error);
    else if (failure !== null || made.result === null) this.#reject(failure?.error);
    else this.#resolve(made.result);
  }

  /** The collected message. A bug of ours fails only `result`. */
  #made(isPartial: boolean): CapturedAnswer<Result> {
    const parts = this.#unknown.parts();
    try {
      const gathered = this.#gathering.entry(isPartial);
      const result = isPartial ? null : this.#gathering.result();
      if (parts.length === 0) return { entry: gathered, result, error: null };
      const whole = gathered ?? assistantEntry(NOTHING_SAID, true);
      return {
        entry: { ...whole, parts: [...(whole.parts ?? []), ...parts] },
        result,
        error: null,
      };
    } catch (cause) {
      const error = badStream(this.#provider, "the message cannot be put together", cause);
      return { entry: assistantEntry({ ...NOTHING_SAID, parts }, true), result: null, error };
    }
  }
}

interface CapturedAnswer<Result> {
  readonly entry: NewEntry | null;
  readonly result: Result | null;
  readonly error: Error | null;
}

const NOTHING_SAID = { parts: [], model: null, messageId: null, stopReason: null, usage: null };

/** A promise that knows whether it is awaited. */
class AwaitedResult<T> extends Promise<T> {
  /** `then` and the others return plain promises. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  readonly #onAwaited: () => void;

  constructor(executor: ConstructorParameters<typeof Promise<T>>[0], onAwaited: () => void) {
    super(executor);
    this.#onAwaited = onAwaited;
    void super.then(undefined, () => {}); // Not `catch`, which would count as awaiting.
  }

  // biome-ignore lint/suspicious/noThenProperty: being a promise is what it is for.
  override then<A = T, B = never>(
    onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.#onAwaited();
    return super.then(onFulfilled, onRejected);
  }
}
