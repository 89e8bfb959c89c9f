/** Limits: everything has one, with a name and a default. Each has a test at the edge and one past it. */

const MIB = 1024 * 1024;

/** What a log takes and holds at most. */
export interface LogLimits {
  /** The longest line, LF not counted. */
  readonly lineBytesMax: number;
  /** The most that one `appendLines` takes and one write carries, LFs counted. */
  readonly batchBytesMax: number;
  /** The most that waits in memory for its turn; past it `append` refuses with QUEUE_FULL. */
  readonly queueBytesMax: number;
}

export const LOG_LIMITS: LogLimits = {
  lineBytesMax: 16 * MIB,
  batchBytesMax: 16 * MIB + 1,
  queueBytesMax: 64 * MIB,
};

/**
 * How much of a log's end is written anew on opening when nobody knows how far it was synced.
 * A `disk` writer never has more than one batch un-synced, so this must hold a batch.
 */
export const DOUBTFUL_BYTES = LOG_LIMITS.batchBytesMax;

/** The longest segment of an id, in bytes of UTF-8: file systems stop at 255, and we add endings. */
export const ID_SEGMENT_BYTES_MAX = 200;

/** Bad lines a reader's report lists one by one; beyond it they are only counted. */
export const BAD_LINES_LISTED_MAX = 100;

/** What capturing one message of a provider takes and holds at most. */
export interface CaptureLimits {
  /** The message as JSON, and CAPTURED_BLOCK_BYTES for each block: it must fit one append. */
  readonly messageBytesMax: number;
  /** One event of the stream, in characters. The last one may repeat the message and its request. */
  readonly eventCharsMax: number;
}

export const CAPTURE_LIMITS: CaptureLimits = {
  messageBytesMax: 12 * MIB,
  eventCharsMax: 32 * MIB,
};

/** What a block counts besides its JSON: some dialects write a line around each. */
export const CAPTURED_BLOCK_BYTES = 4096;

/** How deep a captured value may nest. Serialising one fails at some thousands (Node 20). */
export const CAPTURED_DEPTH_MAX = 500;

/** The longest id, model or stop reason of a message, in characters. */
export const CAPTURED_NAME_CHARS_MAX = 1024;

/** The longest path of a stream, in bytes of UTF-8. */
export const STREAM_PATH_BYTES_MAX = 4096;

/**
 * How many messages one append to a JSON stream may hold. Each is a row of the index, so that a body
 * of millions would keep every other stream waiting for seconds.
 */
export const APPEND_MESSAGES_MAX = 131_072;

/** How deep a message of a JSON stream may nest. What nests far deeper takes seconds to parse. */
export const MESSAGE_DEPTH_MAX = 1000;

/** How many streams' files are open at once, unless the store's options say otherwise. */
export const OPEN_LOG_FILES_MAX = 256;

/** What the server keeps of subscriptions, and what one request about them may hold. */
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
  /** Streams that one wake tells of; the others that wait are told of by the next. */
  wakeStreamsMax: 1000,
  requestBytesMax: 4 * MIB,
  /** Webhook requests that are under way at once. */
  deliveriesMax: 64,
  /** How long a webhook may take to answer, and how much of its answer is read. */
  deliveryMsMax: 30_000,
  deliveryAnswerBytesMax: 64 * 1024,
} as const;

/** What resuming a session takes at most: more is no request that a provider takes. */
export const RESUME_LIMITS = {
  /** Characters of texts, thoughts, images and inputs of calls, all together. */
  charsMax: 256 * MIB,
  /** Parts of entries, and lines that are none. */
  partsMax: 1_000_000,
  /** Calls in one message: OpenAI's chat refuses more. */
  messageCallsMax: 128,
} as const;

/** What a bundle holds (docs/formats/bundle.md). */
export const BUNDLE_LIMITS = {
  /** Without the manifest. */
  membersMax: 4096,
  /** What eleven octal digits say. */
  memberBytesMax: 0o77777777777,
  memberNameMax: 100,
  manifestBytesMax: 2 * MIB,
} as const;

/** How deep a value in an entry may nest: a captured one, and what an entry puts around it. */
export const ENTRY_DEPTH_MAX = CAPTURED_DEPTH_MAX + 20;

/** The values in one entry: the longest line cannot hold more, since each takes two bytes or more. */
export const ENTRY_VALUES_MAX = LOG_LIMITS.lineBytesMax / 2;
