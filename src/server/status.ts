/**
 * Status: the answer to each error. A new code does not compile until someone has chosen its status.
 *
 * Most codes below 500 are a caller's mistake or a stream's state. What a server should never meet
 * (a transcript's bad line, a key) is 500: it says that the fault is here.
 */

import type { ErrorCode } from "../base/errors.ts";

const FAULT = 500;

export const STATUS = {
  BAD_REQUEST: 400,
  SEARCH_QUERY: 400,
  BAD_STREAM_PATH: 400,
  BAD_OFFSET: 400,
  BAD_MESSAGE: 400,
  BAD_ID: 400,
  INVALID_ENTRY: 400,
  TOKEN_REQUIRED: 401,
  NOT_ALLOWED: 403,
  ORIGIN_REFUSED: 403,
  STREAM_NOT_FOUND: 404,
  SESSION_NOT_FOUND: 404,
  TURN_NOT_FOUND: 404,
  LOG_NOT_FOUND: 404,
  STREAM_CONFLICT: 409,
  SUBSCRIPTION_REFUSED: 409, // Its `reason` says more: subscriptions/handle.ts.
  SESSION_EXISTS: 409,
  SESSION_BUSY: 409,
  HISTORY_CONFLICT: 409,
  STREAM_GONE: 410,
  OFFSET_GONE: 410,
  LOG_REWOUND: 410, // Sessions: an offset after the log's end.
  BODY_TOO_LARGE: 413,
  LINE_TOO_LONG: 413,
  BATCH_TOO_LARGE: 413,
  RESUME_TOO_LARGE: 413,
  INVALID_LINE: 400,
  OUT_OF_RANGE: 416, // Sessions: an offset inside a line.
  TOO_MANY_READERS: 429,
  CATALOG_UNAVAILABLE: 503,
  STREAM_BUSY: 429,
  OVERLOADED: 503,
  RECOVERING: 503,
  TOKENS_REFUSED: 503,
  QUEUE_FULL: 503,
  STORE_FAILED: 503,
  LOG_CLOSED: 503,
  LOG_LOCKED: 503,
  LOG_WRITER_FAILED: 503,
  NO_SPACE: 507,
  // Damage: never a 200, and nobody's request is at fault.
  STREAM_DAMAGED: FAULT,
  STORE_DAMAGED: FAULT,
  BACKUP_REFUSED: FAULT,
  LOG_SUSPECT: FAULT,
  BAD_LINE: FAULT,
  CHECKPOINT_MISMATCH: FAULT,
  NOT_VERIFIED: FAULT,
  CHANGED_WHILE_READ: FAULT,
  BAD_BUNDLE: FAULT,
  BUNDLE_TOO_LARGE: FAULT,
  IO_ERROR: FAULT,
  // Of other parts; a request cannot bring them about.
  UNSAFE_PATH: FAULT,
  UNSUPPORTED_FILE_SYSTEM: FAULT,
  UNSUPPORTED_PLATFORM: FAULT,
  UNSIGNABLE_JSON: FAULT,
  BAD_SETTING: FAULT,
  PORT_TAKEN: FAULT,
  EXPORT_FAILED: FAULT,
  REQUEST_REFUSED: FAULT,
  TOKEN_NOT_FOUND: FAULT,
  KEY_REFUSED: FAULT,
  KEY_NOT_FOUND: FAULT,
  TRUST_REFUSED: FAULT,
  PIN_NOT_FOUND: FAULT,
  PIN_FILE_TOO_LARGE: FAULT,
  BAD_STREAM: FAULT,
  PROVIDER_ERROR: FAULT,
  STREAM_INCOMPLETE: FAULT,
  STREAM_TOO_LARGE: FAULT,
} as const satisfies Record<ErrorCode, number>;
