/**
 * `verbatim-log/streams`: named streams of messages in JSONL files, with pointers in SQLite.
 *
 * @example
 * const engine = await openStreams({ root: "data" });
 * await engine.createStream("/chat/session-1");
 * await engine.append("/chat/session-1", encodeLine({ role: "user", content: "hello" }));
 * for (const { data, offset } of await engine.read("/chat/session-1")) console.log(offset, data);
 * await engine.close();
 */

export type { DirectoryErrors, StreamErrors } from "../core/base/errors.ts";
export type { LogLimits } from "../core/base/limits.ts";
export { StreamError as VerbatimError } from "../core/base/published-errors.ts";

import { checkData } from "../core/base/choice.ts";
import { JsonlEngine, type StreamsOptions } from "../integrations/streams/jsonl-engine.ts";

/** Opens the streams below a directory, and creates it if missing. One process at a time. */
export async function openStreams(options: StreamsOptions): Promise<JsonlEngine> {
  checkData("openStreams", options, "options");
  const { root, ...rest } = options;
  return JsonlEngine.open(root, rest);
}

export { encodeLine } from "../core/log/json.ts";
export { LogFile, type StoredRange as Stored } from "../core/log/log-file.ts";
export type { LogOptions } from "../core/log/log-options.ts";
export {
  type CreateStreamOptions,
  JsonlEngine,
  /** A second name, for programs written for the design document that calls it so. */
  JsonlEngine as DurableStore,
  type JsonlMessage,
  type StreamsOptions,
} from "../integrations/streams/jsonl-engine.ts";
export {
  type BadMessage,
  type TypedLog,
  type TypedLogOptions,
  typedLog,
} from "../integrations/streams/typed-log.ts";
export { formatOffset, type OffsetToken } from "../streams/files/offset-token.ts";
export { streamPathToFilename } from "../streams/files/stream-path.ts";
export type { Lifetime, StreamHead } from "../streams/files/stream-store.ts";
