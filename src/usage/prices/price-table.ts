/**
 * Price table: looks up a model in the table of `@pydantic/genai-prices`, which comes with this
 * package and is never fetched. Loading it takes some 60 ms: price-book.ts asks only about models
 * that it does not know.
 */

import { createHash } from "node:crypto";
import { calcPrice, type ModelPrice, type Provider } from "@pydantic/genai-prices";
import type { DatedRates } from "./price-journal.ts";
import type { Rate, Rates } from "./rates.ts";

/**
 * Factors that the table does not have. `fast` and `us` in the user's own prices replace them.
 *
 * - https://platform.claude.com/docs/en/build-with-claude/fast-mode: Opus 4.6 at six times the
 *   standard rates. That Opus 4.7 has the same factor is ours: no page was found.
 * - https://openrouter.ai/anthropic/claude-opus-4.8-fast/providers and
 *   https://openrouter.ai/anthropic/claude-opus-5-fast-20260723: both at two times.
 * - https://docs.aws.amazon.com/claude-platform/latest/userguide/data-residency.html: 1.1 times for
 *   `inference_geo` "us", which models before Opus 4.6 and Sonnet 4.6 refuse.
 */
const FAST: Readonly<Record<string, number>> = {
  "claude-opus-4-6": 6,
  "claude-opus-4-7": 6,
  "claude-opus-4-8": 2,
  "claude-opus-5": 2,
};
const US_FACTOR = 1.1;

export interface FoundPrices {
  /** The hash of the provider's list. */
  readonly hash: string;
  readonly prices: readonly DatedRates[];
}

/** Null: the table does not have the model. */
export function lookUp(model: string): FoundPrices | null {
  for (const name of namesOf(model)) {
    const found = calculation(name);
    if (found === null) continue;
    const { provider, model: listed } = found;
    const { prices } = listed;
    const dated = Array.isArray(prices)
      ? prices.flatMap(({ constraint, prices: each }) => {
          if (constraint?.type === "time_of_date") return [];
          const from = constraint === undefined ? null : `${constraint.start_date}T00:00:00.000Z`;
          return [{ from, rates: ratesOf(each, provider, listed.id) }];
        })
      : [{ from: null, rates: ratesOf(prices, provider, listed.id) }];
    const known = dated.filter(isPriced);
    if (known.length > 0) return { hash: hashOf(provider), prices: known };
  }
  return null;
}

function calculation(model: string): ReturnType<typeof calcPrice> {
  try {
    return calcPrice({ input_tokens: 1, output_tokens: 1 }, model);
  } catch {
    return null; // The table has the model, but no price of tokens.
  }
}

function isPriced({ rates }: { readonly rates: Rates | null }): boolean {
  return rates !== null;
}

function ratesOf(price: ModelPrice, { id: provider }: Provider, model: string): Rates {
  const input = rateOf(price.input_mtok) ?? 0;
  const { web_searches_kcount: searches } = price;
  const cacheWrite5m = rateOf(price.cache_write_mtok) ?? input;
  return {
    input,
    output: rateOf(price.output_mtok) ?? 0,
    cacheRead: rateOf(price.cache_read_mtok) ?? input,
    cacheWrite5m,
    cacheWrite1h: rateOf(price.cache_write_1h_mtok) ?? cacheWrite5m,
    ...(typeof searches === "number" && { webSearch: searches }),
    ...(FAST[model] !== undefined && { fast: FAST[model] }),
    ...(provider === "anthropic" && { us: US_FACTOR }),
  };
}

function rateOf(price: ModelPrice[string]): Rate | null {
  if (price === undefined) return null;
  if (typeof price === "number") return price;
  const tiers = price.tiers.map(({ start, price: above }) => ({ over: start, price: above }));
  return { base: price.base, tiers };
}

function hashOf(provider: Provider): string {
  return createHash("sha256").update(JSON.stringify(provider)).digest("hex").slice(0, 16);
}

function namesOf(model: string): string[] {
  const plain = model.slice(model.lastIndexOf("/") + 1).replace(/\[.*\]$/, "");
  const claude = /(?:^|\.)(claude-.+?)(?:-v\d+(?::\d+)?)?$/.exec(plain)?.[1];
  const names = [model, plain, ...(claude ? [claude, claude.replaceAll(".", "-")] : [])];
  return [...new Set(names)].filter((name) => name !== "");
}
