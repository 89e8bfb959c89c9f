/**
 * Recent prices: those of Claude's models, for the status line, which must not load the whole price
 * table. The build compiles them from it, into `recent-prices.json` next to this code.
 */

import { readFileSync } from "node:fs";
import { namesOf } from "./model-names.ts";
import type { DatedRates } from "./price-journal.ts";

/** As the price table has it. */
export interface Match {
  readonly equals?: string;
  readonly starts_with?: string;
  readonly ends_with?: string;
  readonly contains?: string;
  readonly regex?: string;
  readonly or?: readonly Match[];
  readonly and?: readonly Match[];
}

export interface RecentModel {
  readonly match: Match;
  readonly prices: readonly DatedRates[];
}

/** Null: the model is not among them. */
export function recentPrices(
  model: string,
  models: readonly RecentModel[] = compiled(),
): readonly DatedRates[] | null {
  for (const name of namesOf(model)) {
    const found = models.find(({ match }) => isFit(match, name.toLowerCase()));
    if (found) return found.prices;
  }
  return null;
}

function isFit(match: Match, name: string): boolean {
  if (match.equals !== undefined) return name === match.equals;
  if (match.starts_with !== undefined) return name.startsWith(match.starts_with);
  if (match.ends_with !== undefined) return name.endsWith(match.ends_with);
  if (match.contains !== undefined) return name.includes(match.contains);
  if (match.regex !== undefined) return new RegExp(match.regex).test(name);
  if (match.or !== undefined) return match.or.some((each) => isFit(each, name));
  return match.and?.every((each) => isFit(each, name)) ?? false;
}

function compiled(): readonly RecentModel[] {
  try {
    const path = new URL("./recent-prices.json", import.meta.url);
    return JSON.parse(readFileSync(path, "utf8")) as RecentModel[];
  } catch {
    return []; // Sources that were not built: the model is reported as unknown.
  }
}
