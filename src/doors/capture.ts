/**
 * `verbatim-log/capture`: provider streams into sessions.
 *
 * @example
 * const stream = await client.messages.create({ ...request, stream: true });
 * const captured = captureAnthropic(stream, session);
 * for await (const event of captured) show(event); // the SDK's own events
 * const { blocks, stopReason, usage } = await captured.result; // the message is in the session
 */

export type { CaptureErrors, Provider } from "../core/base/errors.ts";
export type { CaptureLimits } from "../core/base/limits.ts";
export { CaptureError as VerbatimError } from "../core/base/published-errors.ts";
export {
  type AnthropicResult,
  type AnthropicUsage,
  captureAnthropic,
} from "../sessions/capture/anthropic.ts";
export type { Capture, CaptureOptions, CaptureSession } from "../sessions/capture/capture.ts";
export { captureOpenAI } from "../sessions/capture/openai.ts";
export type { OpenAIResult, OpenAIUsage } from "../sessions/capture/openai-result.ts";
export type { ByteStream } from "../sessions/capture/source.ts";
export type { JsonObject } from "../sessions/capture/wire.ts";
