/**
 * Own prices: the user's file `prices.json`, next to `config.json`. Its prices replace those of the
 * table. A name that ends in `*` means all models that begin so.
 *
 *     {"my-model": {"input": 1, "output": 5, "cacheRead": 0.1}}
 */

import { readFileSync } from "node:fs";
import { errnoOf, VerbatimError } from "../../core/base/errors.ts";
import { isRates } from "./price-journal.ts";
import type { Rates } from "./rates.ts";

export interface OwnPrices {
  /** Of the file; null: there is none. */
  readonly hash: string | null;
  ratesFor(model: string): Rates | null;
}

/** Refuses a file that cannot be understood with BAD_SETTING. */
export function readOwnPrices(path: string): OwnPrices {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    if (errnoOf(cause) === "ENOENT") return { hash: null, ratesFor: () => null };
    throw refused(path, "it cannot be read");
  }
  const all = parse(path, text);
  // Loaded when needed: most users have no such file, and the status line must be fast.
  const { createHash } = process.getBuiltinModule("node:crypto");
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 16);
  return {
    hash,
    ratesFor(model) {
      const exact = all.get(model);
      if (exact) return exact;
      const fits = [...all].filter(([name]) => {
        return name.endsWith("*") && model.startsWith(name.slice(0, -1));
      });
      return fits.sort(([a], [b]) => b.length - a.length)[0]?.[1] ?? null;
    },
  };
}

function parse(path: string, text: string): Map<string, Rates> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw refused(path, "it is not JSON");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw refused(path, "it is not an object of models");
  }
  return new Map(
    Object.entries(value).map(([model, given]) => {
      const rates = completed(given);
      if (isRates(rates)) return [model, rates];
      throw refused(path, `${JSON.stringify(model)} needs input and output, dollars per million`);
    }),
  );
}

/** What is not given costs what input costs; a write for an hour, what a write costs. */
function completed(given: unknown): unknown {
  if (typeof given !== "object" || given === null) return null;
  const { input } = given as Record<string, unknown>;
  const { cacheWrite5m = input } = given as Record<string, unknown>;
  return { cacheRead: input, cacheWrite5m, cacheWrite1h: cacheWrite5m, ...given };
}

function refused(path: string, reason: string): VerbatimError<"BAD_SETTING"> {
  return new VerbatimError("BAD_SETTING", `${path} is refused: ${reason}; correct or remove it`, {
    setting: "prices.json",
    from: path,
    reason,
  });
}
