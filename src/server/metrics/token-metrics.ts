/**
 * Token metrics: what each token used, by its id. A token sees its own lines; all of them are for
 * tokens that may see everything.
 */

import type { Admission } from "../auth/gate.ts";
import type { ServerContext } from "../context.ts";
import { Counter, type Metric } from "./server-metrics.ts";

/** `pass`: of the reader. */
export function tokenMetrics(
  { tokens: { limiter, stored }, readers }: Pick<ServerContext, "tokens" | "readers">,
  pass: Admission | null,
): readonly Metric[] {
  const open = new Counter("verbatim_token_readers", "Live readers, by token.", "gauge");
  for (const [token, count] of readers.byToken) open.add(count, labelOf(token));
  const streams = new Counter(
    "verbatim_token_streams",
    "Streams below the paths of a token with a limit of what it stores.",
    "gauge",
  );
  const bytes = new Counter("verbatim_token_stored_bytes", "Bytes of these streams.", "gauge");
  for (const [token, used] of stored.counted()) {
    streams.add(used.streams, labelOf(token));
    bytes.add(used.bytes, labelOf(token));
  }
  const all = [...limiter.counters, open, streams, bytes];
  if (pass === null || pass.paths === null) return all;
  return all.map((each) => each.only((labels) => labels.startsWith(`{token="${pass.token}"`)));
}

function labelOf(token: string): string {
  return `{token="${token}"}`;
}
