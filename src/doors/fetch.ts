/**
 * `verbatim-log/fetch`: a `fetch` that records calls to models, for the SDKs of Anthropic, OpenAI and
 * Google, the AI SDK, and your own calls.
 *
 * @example
 * const session = await (await openStore()).create();
 * const client = new Anthropic({ fetch: wrapFetch(fetch, { session }) });
 * await inSession(other, () => agent.run()); // calls of this run are recorded in `other`
 */

export type { CaptureErrors, FetchErrors, Provider } from "../core/base/errors.ts";
export { FetchError as VerbatimError } from "../core/base/published-errors.ts";
export {
  type Fetch,
  inSession,
  type RecordingFetch,
  type WrapFetchOptions,
  wrapFetch,
} from "../integrations/fetch/wrap-fetch.ts";
export type { CaptureSession } from "../sessions/capture/capture.ts";
