/**
 * Query: the checked parameters of a request about sessions.
 *
 * An unknown or repeated parameter is refused: a misspelled filter must not look like one that
 * matches everything.
 */

import { momentOf } from "../../core/base/choice.ts";
import { badRequest } from "../http/answer.ts";

const OFFSET_MAX = Number.MAX_SAFE_INTEGER;

export class Query {
  readonly #values = new Map<string, string>();

  constructor(url: string, known: readonly string[]) {
    const mark = url.indexOf("?");
    if (mark < 0) return;
    for (const [name, value] of new URLSearchParams(url.slice(mark + 1))) {
      if (!known.includes(name)) {
        const names = known.length === 0 ? "none is" : `those are ${known.join(", ")}`;
        throw badRequest("the query", `has an unknown parameter; ${names}`);
      }
      if (this.#values.has(name)) throw badRequest(name, "must occur only once");
      this.#values.set(name, value);
    }
  }

  text(name: string): string | null {
    return this.#values.get(name) ?? null;
  }

  /** A whole number from `least` to `most`. */
  number(name: string, least: number, most: number): number | null {
    const text = this.text(name);
    if (text === null) return null;
    const number = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
    if (number >= least && number <= most) return number;
    throw badRequest(name, `must be a whole number from ${least} to ${most}`);
  }

  offset(name: string): number | null {
    return this.number(name, 0, OFFSET_MAX);
  }

  flag(name: string, otherwise: boolean): boolean {
    const text = this.text(name);
    if (text === null) return otherwise;
    if (text === "true" || text === "false") return text === "true";
    throw badRequest(name, "must be true or false");
  }

  choice<T extends string>(name: string, choices: readonly T[]): T | null {
    const text = this.text(name);
    if (text === null) return null;
    const chosen = choices.find((choice) => choice === text);
    if (chosen !== undefined) return chosen;
    throw badRequest(name, `must be one of ${choices.join(", ")}`);
  }

  /** A time as in sessions: ISO 8601, UTC. */
  time(name: string): string | null {
    const text = this.text(name);
    if (text === null) return null;
    const ms = /^\d{4}-\d{2}-\d{2}(?:T[\d:.]+(?:Z|[+-]\d{2}:\d{2}))?$/.test(text)
      ? momentOf(text)
      : Number.NaN;
    if (Number.isNaN(ms)) throw badRequest(name, "must be a time such as 2026-11-15T10:00:00Z");
    return new Date(ms).toISOString();
  }
}
