/**
 * Capture: the way of one stream through us. Each event is taken in and passed on as it is; when
 * the message has ended, one entry is appended; `result` tells how it went.
 *
 * CA1  An event is read when the consumer asks for it, and not before. The event that ends a
 *      message is passed on after the entry is appended: who has seen it can rely on the entry.
 * CA2  What arrived is appended once, whatever happens: the end, an error of the stream, an event
 *      that is none, a consumer that stops. All but the first are marked partial.
 * CA3  Iterator and `result` fail with the same error: the append's if that failed, else the
 *      provider's own. A `result` that nobody looks at fails in silence.
 */

import { assert } from "../base/assert.ts";
import { badArgument, badOption, checkOptions, type OptionKinds } from "../base/choice.ts";
import type { Provider } from "../base/errors.ts";
import { CAPTURE_LIMITS, type CaptureLimits } from "../base/limits.ts";
import type { NewEntry } from "../model/entry.ts";
import { Budget } from "./budget.ts";
import type { Gathering } from "./gathering.ts";
import { Source } from "./source.ts";
import { badStream, incomplete, isObject } from "./wire.ts";

/**
 * Where a captured message goes: a session of `openStore`, what an entry point calls one (a
 * `SessionTranscript`, a `Thread`), or anything of your own that appends an entry.
 */
export interface CaptureSession {
  append(entry: NewEntry): Promise<unknown>;
}

export interface CaptureOptions {
  /** Smaller limits than the usual ones. */
  readonly limits?: Partial<CaptureLimits>;
}

/** The provider's events, unchanged, to be iterated over once. */
export interface Capture<Event, Result> extends AsyncIterable<Event> {
  /**
   * The message, once it is appended. Awaiting it without iterating reads the stream to its end;
   * who does both begins to iterate first.
   */
  readonly result: Promise<Result>;
}

/** A provider's stream, as its door describes it. */
export interface Captured<Result> {
  readonly provider: Provider;
  readonly stream: object;
  readonly session: CaptureSession;
  readonly options: CaptureOptions;
  readonly gather: (budget: Budget) => Gathering<Result>;
}

export function capture<Event, Result>(captured: Captured<Result>): Capture<Event, Result> {
  const { provider, stream, session, options, gather } = captured;
  checkSession(session);
  const { messageBytesMax, eventCharsMax } = limitsOf(options);
  return new StreamCapture<Event, Result>(
    new Source(provider, stream, eventCharsMax),
    gather(new Budget(provider, messageBytesMax)),
    session,
    provider,
  );
}

const OPTIONS: OptionKinds<CaptureOptions> = { limits: "object" };
const LIMITS: OptionKinds<CaptureLimits> = { messageBytesMax: "count", eventCharsMax: "count" };

/** Refused before the stream is touched: what is read from it could not be kept (CA2). */
function checkSession(session: unknown): void {
  const { append, appendLines } = (session ?? {}) as Partial<Record<string, unknown>>;
  // More than an entry is what writers of other things take: an id first, or a path.
  const takesEntries = typeof append === "function" && append.length <= 1;
  if (takesEntries && typeof appendLines !== "function") return;
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
  readonly #source: Source;
  readonly #gathering: Gathering<Result>;
  readonly #session: CaptureSession;
  readonly #provider: Provider;
  readonly #events: AsyncGenerator<Event, void, undefined>;
  #resolve: (result: Result) => void = () => {};
  #reject: (error: unknown) => void = () => {};
  #isSettled = false;
  #hasBegun = false;
  #isStopped = false;
  #reader: "nobody" | "consumer" | "result" = "nobody";

  constructor(
    source: Source,
    gathering: Gathering<Result>,
    session: CaptureSession,
    provider: Provider,
  ) {
    this.#source = source;
    this.#gathering = gathering;
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
        // A generator that never ran would end without a word, and nobody would be told.
        if (!this.#hasBegun) await this.#next();
        return this.#events.return();
      },
    };
  }

  #next(): Promise<IteratorResult<Event, void>> {
    this.#hasBegun = true;
    return this.#events.next();
  }

  /** Reads to the end for the sake of `result`, unless somebody has begun to iterate by then. */
  #drain(): void {
    queueMicrotask(async () => {
      if (this.#reader !== "nobody") return;
      this.#reader = "result";
      try {
        while (!(await this.#next()).done);
      } catch {
        // CA3: `result` has the error.
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

  /** Takes an event in; when the message ends with it, it is appended before this resolves. */
  async #take(event: unknown): Promise<Error | null> {
    if (this.#isSettled) return null;
    if (!isObject(event)) throw badStream(this.#provider, "an event is no object");
    const ending = this.#gathering.take(event);
    if (ending === null) return null;
    const error = ending === "whole" ? null : ending;
    await this.#settle(error && { error });
    return error;
  }

  async #end(): Promise<void> {
    if (this.#isSettled) return;
    if (this.#gathering.isWhole()) return this.#settle(null);
    throw (await this.#source.whyOver()) ?? incomplete(this.#provider, "ended");
  }

  /** CA2: appends what arrived and settles `result`; the first call counts. Null: it is whole. */
  async #settle(failure: { readonly error: unknown } | null): Promise<void> {
    if (this.#isSettled) return;
    this.#isSettled = true;
    try {
      const entry = this.#gathering.entry(failure !== null);
      if (entry) await this.#session.append(entry);
    } catch (error) {
      this.#reject(error);
      throw error;
    }
    if (failure === null) this.#resolve(this.#gathering.result());
    else this.#reject(failure.error);
  }
}

/** A promise that knows when somebody waits for it. */
class AwaitedResult<T> extends Promise<T> {
  /** What `then` and the others make are plain promises. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  readonly #onAwaited: () => void;

  constructor(executor: ConstructorParameters<typeof Promise<T>>[0], onAwaited: () => void) {
    super(executor);
    this.#onAwaited = onAwaited;
    void super.then(undefined, () => {}); // CA3. Not `catch`, which would count as waiting.
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
