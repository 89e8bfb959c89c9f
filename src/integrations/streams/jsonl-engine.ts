/**
 * JSONL engine: the engine of the JSONL-logger document, over the local store.
 *
 * Bytes go to `logs/`, one line per message; their positions go to `streams.db`. Beyond the
 * document, the store guarantees that an append is durable when it resolves, and that a read
 * returns what was appended or fails.
 *
 * One append is one message, even if it is a JSON array. No message is kept in memory: every read
 * reads the file.
 */

import {
  badArgument,
  badOption,
  checkBytes,
  checkKind,
  checkOptions,
  checkStretch,
  notByNew,
  type OptionKinds,
  requireChoice,
} from "../../core/base/choice.ts";
import { VerbatimError } from "../../core/base/errors.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import { encodeLine } from "../../core/log/json.ts";
import type { StoredRange } from "../../core/log/log-file.ts";
import { asOneMessage } from "../../streams/files/json-messages.ts";
import { LocalStore, openLocalStore } from "../../streams/files/local-store.ts";
import type { LocalStoreOptions } from "../../streams/files/local-store-options.ts";
import { formatOffset, type OffsetToken, parseOffset } from "../../streams/files/offset-token.ts";
import type { Lifetime, StreamHead, StreamMessage } from "../../streams/files/stream-store.ts";
import type { StreamSigner } from "../../streams/signing/stream-signing.ts";

/**
 * One message: its bytes without the newline, the offset after it, and when it was appended. It is
 * also a pointer: `readAt` returns the bytes at its position again.
 */
export interface JsonlMessage extends StreamMessage, StoredRange {}

type StoreChoices = Pick<
  LocalStoreOptions,
  "openFilesMax" | "writeBackBytes" | "writeBackMs" | "keepDeletedMs" | "now" | "onRebuild"
>;

export interface StreamsOptions extends StoreChoices {
  /** The data directory. */
  readonly root: string;
  /**
   * Signs every stream that is appended to, some time after the append and at the latest when the
   * engine closes. Creates the user's key if there is none. Default: false.
   */
  readonly sign?: boolean;
  /** Called for streams that could not be signed. Default: a process warning. */
  readonly onWarning?: (warning: string) => void;
}

const OPTIONS: OptionKinds<Omit<StreamsOptions, "root">> = {
  openFilesMax: "count",
  writeBackBytes: "count",
  writeBackMs: "count",
  keepDeletedMs: "count",
  now: "function",
  onRebuild: "function",
  sign: "boolean",
  onWarning: "function",
};

export interface CreateStreamOptions {
  /** Default: `application/json`, one value per line. Any other type is stored as raw bytes. */
  readonly contentType?: string;
  readonly lifetime?: Lifetime;
}

const CREATE_OPTIONS: OptionKinds<CreateStreamOptions> = { contentType: "text", lifetime: "any" };
const LISTED_TOGETHER = 1000;
const NOTHING = new Uint8Array(0);

function notAppended(path: string, outcome: string): VerbatimError<"STREAM_CONFLICT"> {
  return new VerbatimError(
    "STREAM_CONFLICT",
    `nothing was appended to ${path}: it is ${outcome}; append to another stream`,
    { stream: path, reason: outcome },
  );
}

/** The journal is read at every opening: an invalid time in it would prevent opening the store. */
function checkLifetime(lifetime: Lifetime): void {
  requireChoice("lifetime.kind", lifetime?.kind, ["forever", "ttl", "until"]);
  if (lifetime.kind === "ttl" && !(Number.isFinite(lifetime.seconds) && lifetime.seconds >= 0)) {
    throw badOption("lifetime.seconds", "is no number of seconds; give one from 0 on");
  }
  if (lifetime.kind !== "until") return;
  if (!Number.isFinite(lifetime.atMs)) {
    throw badOption("lifetime.atMs", "is no time; give milliseconds since 1970");
  }
  if (typeof lifetime.text !== "string") {
    throw badOption("lifetime.text", "is no text; give the time as you would read it again");
  }
}

/** The engine of the JSONL-logger document. Opened by `openStreams`. */
export class JsonlEngine {
  readonly #store: LocalStore;

  private constructor(store: LocalStore) {
    if (!(store instanceof LocalStore)) {
      throw notByNew("JsonlEngine", "await openStreams({ root })");
    }
    this.#store = store;
  }

  /** The same as `openStreams({ root, … })`. */
  static async open(
    root: string,
    options: Omit<StreamsOptions, "root"> = {},
  ): Promise<JsonlEngine> {
    checkKind("root", root, "text");
    checkOptions("JsonlEngine.open", options, OPTIONS);
    const { sign = false, onWarning = processWarning, ...choices } = options;
    const signing = sign ? await loadSigning(onWarning) : undefined;
    return new JsonlEngine(await openLocalStore({ ...choices, dataDirectory: root, signing }));
  }

  /** Creates a stream; an existing one with the same options is left as it is. */
  async createStream(path: string, options: CreateStreamOptions = {}): Promise<StreamHead> {
    checkOptions("createStream", options, CREATE_OPTIONS);
    const { contentType = "application/json", lifetime } = options;
    if (lifetime !== undefined) checkLifetime(lifetime);
    const body = new Uint8Array();
    const request = { contentType, lifetime, body, isClosed: false };
    return (await this.#store.create(path, request)).head;
  }

  /** Null if there is none, or it was deleted. */
  async getStream(path: string): Promise<StreamHead | null> {
    try {
      return await this.#head(path);
    } catch (cause) {
      const isAbsence =
        cause instanceof VerbatimError &&
        (cause.code === "STREAM_NOT_FOUND" || cause.code === "STREAM_GONE");
      if (isAbsence) return null;
      throw cause;
    }
  }

  /** All streams, in order of path. */
  async listStreams(): Promise<StreamHead[]> {
    const heads: StreamHead[] = [];
    for (let after: string | undefined; ; after = heads.at(-1)?.path) {
      const page = await this.#store.list({ after, limit: LISTED_TOGETHER });
      heads.push(...page);
      if (page.length < LISTED_TOGETHER) return heads;
    }
  }

  /** Appends one message. Resolves, once durable, to the offset after it. */
  async append(path: string, data: Uint8Array): Promise<OffsetToken> {
    checkBytes("append", data);
    const { isJson } = await this.#head(path);
    const body = isJson ? asOneMessage(data, path) : data;
    const appended = await this.#store.append(path, { body, close: false });
    if (appended.outcome === "appended") return appended.head.end;
    throw notAppended(path, appended.outcome);
  }

  /**
   * Appends JSON values atomically, each as a message, and closes the stream after them if
   * requested. Resolves once durable; resolves to false, with nothing changed, if the stream was
   * already closed.
   */
  async appendAll(
    path: string,
    messages: readonly unknown[],
    options: { readonly closes?: boolean } = {},
  ): Promise<boolean> {
    if (!Array.isArray(messages)) throw badArgument("appendAll", "takes its messages as a list");
    checkOptions("appendAll", options, { closes: "boolean" });
    const { closes = false } = options;
    if (messages.length === 0 && !closes) return !(await this.#head(path)).isClosed;
    checkKind("path", path, "text");
    const body = messages.length === 0 ? NOTHING : asJsonArray(messages);
    const { outcome } = await this.#store.append(path, { body, close: closes });
    if (outcome === "appended") return true;
    // Closing a closed stream changes nothing either.
    if (outcome === "closed" || outcome === "duplicate") return false;
    throw notAppended(path, outcome);
  }

  /** The messages after an offset; without one, all messages. */
  async read(path: string, afterOffset?: OffsetToken): Promise<JsonlMessage[]> {
    const messages: JsonlMessage[] = [];
    for await (const message of this.messages(path, afterOffset)) messages.push(message);
    return messages;
  }

  /**
   * The same one by one, in constant memory. A damaged message throws STREAM_DAMAGED, unless
   * `onDamaged` is set: then it receives the offset after the damage, and reading continues.
   */
  async *messages(
    path: string,
    afterOffset?: OffsetToken,
    onDamaged?: (offset: OffsetToken) => void,
  ): AsyncGenerator<JsonlMessage> {
    const lfBytes = (await this.#head(path)).isJson ? 1 : 0;
    const from = afterOffset ?? "start";
    checkKind("afterOffset", from, "text");
    const found = this.#store.messages(path, from, onDamaged);
    for await (const { data, offset, timestamp } of found) {
      const { length } = data;
      yield { data, offset, timestamp, bytePos: placeOf(offset) - lfBytes - length, length };
    }
  }

  /** The `length` bytes at `bytePos` of the stream, as in a message's pointer. */
  async readAt(path: string, bytePos: number, length: number): Promise<Uint8Array> {
    checkStretch(bytePos, length);
    const { start } = await this.#head(path);
    const readSeq = parseOffset(start)?.readSeq ?? 0;
    const parts: Uint8Array[] = [];
    let at = bytePos;
    while (at < bytePos + length) {
      const from = formatOffset(readSeq, at);
      const { bytes, head } = await this.#store.read(path, from, bytePos + length - at);
      if (bytes.length === 0) throw outOfRange({ bytePos, length }, head);
      parts.push(bytes);
      at += bytes.length;
    }
    return Buffer.concat(parts).subarray(0, length);
  }

  /**
   * The messages after an offset and then new ones, until the stream is closed, or `signal` ends
   * the wait, without an error.
   */
  async *follow(
    path: string,
    options: { readonly after?: OffsetToken | undefined; readonly signal?: AbortSignal } = {},
  ): AsyncGenerator<JsonlMessage> {
    checkOptions("follow", options, { after: "text", signal: "object" });
    let { after } = options;
    const { signal = new AbortController().signal } = options;
    checkKind("path", path, "text");
    let wake = () => {};
    signal.addEventListener("abort", () => wake(), { once: true });
    const unwatch = this.#store.watch(path, () => wake());
    try {
      while (!signal.aborted) {
        // Watch before reading, and check for closed before the last read: nothing is missed.
        const change = new Promise<void>((resolve) => {
          wake = resolve;
        });
        const { isClosed } = await this.#store.head(path);
        for await (const message of this.messages(path, after)) {
          yield message;
          after = message.offset;
          if (signal.aborted) return;
        }
        if (isClosed) return;
        if (!signal.aborted) await change;
      }
    } finally {
      unwatch();
    }
  }

  /** Offset of the next message. */
  async getCurrentOffset(path: string): Promise<OffsetToken> {
    return (await this.#head(path)).end;
  }

  async messageCount(path: string): Promise<number> {
    checkKind("path", path, "text");
    return this.#store.messageCount(path);
  }

  /**
   * Deletes a stream. Its bytes are kept for a while; a stream created again at its path is a new
   * one.
   */
  async deleteStream(path: string): Promise<void> {
    checkKind("path", path, "text");
    return this.#store.remove(path);
  }

  /** Finishes accepted work, then closes every file. */
  close(): Promise<void> {
    return this.#store.close();
  }

  #head(path: string): Promise<StreamHead> {
    checkKind("path", path, "text");
    return this.#store.head(path);
  }
}

/** Serialised one by one: inside an array, JSON writes null for values without JSON. */
function asJsonArray(messages: readonly unknown[]): Uint8Array {
  return Buffer.from(`[${messages.map((message) => encodeLine(message)).join(",")}]`);
}

/** Loaded on demand: most engines sign nothing. */
async function loadSigning(onWarning: (warning: string) => void): Promise<StreamSigner> {
  const { loadStreamSigner } = await import("../../streams/signing/signing-user.ts");
  return loadStreamSigner(nodeHost, onWarning);
}

function processWarning(warning: string): void {
  process.emitWarning(warning, "VerbatimWarning");
}

function placeOf(offset: OffsetToken): number {
  return parseOffset(offset)?.byteOffset ?? 0;
}

function outOfRange({ bytePos, length }: StoredRange, head: StreamHead): VerbatimError {
  const end = placeOf(head.end);
  return new VerbatimError(
    "OUT_OF_RANGE",
    `${length} bytes at ${bytePos} are not all in ${head.path}, which ends at ${end}`,
    { path: head.path, offset: bytePos, length, end },
  );
}
