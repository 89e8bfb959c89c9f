/** Usage: OpenCode's tokens, costs and times. */

import type { Usage } from "../../model/entry.ts";
import { getCount, getObject, type JsonObject } from "../fields.ts";

/** Later times are not real, and no Date. */
const TIME_MAX_MS = 8_000_000_000_000;

export function isoOf(ms: number | null): string | null {
  if (ms === null || ms < 0 || ms > TIME_MAX_MS) return null;
  return new Date(ms).toISOString();
}

/**
 * The sum of some tokens. OpenCode counts input without cached tokens. Newer versions count
 * reasoning apart from output, and have a total by which that is seen.
 */
export function usageOf(counted: readonly JsonObject[], spend: number | null): Usage | null {
  const all = counted.filter((tokens) => getCount(tokens, "input") !== null);
  if (all.length === 0) return spend ? { ...NONE, spend } : null;
  const sum = (of: (tokens: JsonObject) => number) => all.reduce((s, each) => s + of(each), 0);
  const cached = (name: string) => (tokens: JsonObject) => {
    return getCount(getObject(tokens, "cache"), name) ?? 0;
  };
  const counts = (name: string) => (tokens: JsonObject) => getCount(tokens, name) ?? 0;
  const [read, write] = [cached("read"), cached("write")];
  const output = (tokens: JsonObject) => {
    const apart = counts("output")(tokens) + counts("reasoning")(tokens);
    const others = counts("input")(tokens) + read(tokens) + write(tokens);
    const total = getCount(tokens, "total");
    return total !== null && total >= others + apart ? apart : counts("output")(tokens);
  };
  return {
    inputTokens: sum(counts("input")),
    outputTokens: sum(output),
    cacheReadTokens: sum(read),
    cacheWriteTokens: sum(write),
    totalTokens: null,
    spend,
  };
}

const NONE: Usage = { inputTokens: null, outputTokens: null, totalTokens: null, spend: null };
