/** Limits: every limit has a name and a default, and tests at the limit and one past it. */

const MIB = 1024 * 1024;

/** Limits of a log. */
export interface LogLimits {
  /** The longest line, LF not counted. */
  readonly lineBytesMax: number;
  /** The most that one `appendLines` accepts and one write carries, LFs counted. */
  readonly batchBytesMax: number;
  /** The most that waits in memory; past it `append` refuses with QUEUE_FULL. */
  readonly queueBytesMax: number;
}

export const LOG_LIMITS: LogLimits = {
  lineBytesMax: 16 * MIB,
  batchBytesMax: 16 * MIB + 1,
  queueBytesMax: 64 * MIB,
};

/**
 * How much of a log's end is rewritten on opening when it is unknown how far it was synced. A
 * `disk` writer never has more than one batch unsynced, so this must hold a batch.
 */
export const DOUBTFUL_BYTES = LOG_LIMITS.batchBytesMax;

/** The longest segment of an id, in bytes of UTF-8: file systems stop at 255, and we add endings. */
export const ID_SEGMENT_BYTES_MAX = 200;

/** Bad lines that a reader's report lists; further ones are only counted. */
export const BAD_LINES_LISTED_MAX = 100;

/** Limits for capturing one message of a provider. */
export interface CaptureLimits {
  /** The message as JSON, plus CAPTURED_BLOCK_BYTES for each block: it must fit one append. */
  readonly messageBytesMax: number;
  /** One event of the stream, in characters. The last one may repeat the message and request. */
  readonly eventCharsMax: number;
}

export const CAPTURE_LIMITS: CaptureLimits = {
  messageBytesMax: 12 * MIB,
  eventCharsMax: 32 * MIB,
};

/** Added for each block: some dialects write a line around it. */
export const CAPTURED_BLOCK_BYTES = 4096;

/** Nesting depth of a captured value. JSON.stringify fails at some thousands (Node 20). */
export const CAPTURED_DEPTH_MAX = 500;

/** The longest id, model or stop reason of a message, in characters. */
export const CAPTURED_NAME_CHARS_MAX = 1024;

/** The longest path of a stream, in bytes of UTF-8. */
export const STREAM_PATH_BYTES_MAX = 4096;

/**
 * Messages in one append to a JSON stream. Each is an index row, so a body of millions would block
 * every other stream for seconds.
 */
export const APPEND_MESSAGES_MAX = 131_072;

/** Nesting depth of a message in a JSON stream. Far deeper ones take seconds to parse. */
export const MESSAGE_DEPTH_MAX = 1000;

/** Stream files open at once; a store option overrides it. */
export const OPEN_LOG_FILES_MAX = 256;

/** Limits of subscriptions and of requests about them. */
export const SUBSCRIPTION_LIMITS = {
  subscriptionsMax: 1000,
  idCharsMax: 256,
  patternCharsMax: 1024,
  descriptionCharsMax: 1024,
  urlCharsMax: 2048,
  workerCharsMax: 256,
  /** Streams, or acks, that one request names. */
  streamsPerRequestMax: 1000,
  /** Streams that a subscription names one by one, all requests together. */
  explicitStreamsMax: 10_000,
  /** Streams named by one wake; the next wake names the rest. */
  wakeStreamsMax: 1000,
  requestBytesMax: 4 * MIB,
  /** Concurrent webhook requests. */
  deliveriesMax: 64,
  /** Time for a webhook to respond, and how much of its response is read. */
  deliveryMsMax: 30_000,
  deliveryAnswerBytesMax: 64 * 1024,
} as const;

/** Limits for resuming a session; no provider accepts a larger request. */
export const RESUME_LIMITS = {
  /** Characters of texts, thinking, images and call inputs together. */
  charsMax: 256 * MIB,
  /** Parts of entries, plus lines that are not entries. */
  partsMax: 1_000_000,
  /** Calls in one message: OpenAI's chat API refuses more. */
  messageCallsMax: 128,
} as const;

/** Limits of a bundle (docs/formats/bundle.md). */
export const BUNDLE_LIMITS = {
  /** Without the manifest. */
  membersMax: 4096,
  /** The most that eleven octal digits can say. */
  memberBytesMax: 0o77777777777,
  memberNameMax: 100,
  manifestBytesMax: 2 * MIB,
} as const;

/** Nesting depth of a value in an entry: a captured one plus the entry's own levels. */
export const ENTRY_DEPTH_MAX = CAPTURED_DEPTH_MAX + 20;

/** Values in one entry: the longest line cannot hold more, since each takes two bytes or more. */
export const ENTRY_VALUES_MAX = LOG_LIMITS.lineBytesMax / 2;
