/**
 * Rule: what a kind of secret looks like in decoded text, and how an expression is made into a rule.
 *
 * No text makes a rule slow. A rule sees a window of bounded size around each trigger, and our own
 * expressions have no unbounded repetition (`rules.test.ts` checks their sources).
 */

import type { Trigger } from "./triggers.ts";

export interface Match {
  readonly start: number;
  readonly end: number;
}

export interface Rule extends Trigger {
  /** Stable: part of the output, and what `--rule` names. */
  readonly id: string;
  /** For people. */
  readonly what: string;
  /** A match ends at most this many bytes after its trigger begins. Default: AFTER_BYTES. */
  readonly after?: number;
  /** A value may be broken by the end of a line, as terminals do: its form tells it from other text. */
  readonly isBreakable?: true;
  /** Matches in decoded text in which characters outside ASCII are replaced. */
  find(text: string): Iterable<Match>;
}

/** A match begins at most this many bytes before its trigger. */
export const BEFORE_BYTES = 320;
export const AFTER_BYTES = 320;

/**
 * A rule of one expression. The value is its group `value`, or the whole match; `isReal` refuses
 * look-alikes.
 */
export function expressionRule(
  rule: Omit<Rule, "find"> & {
    readonly expression: RegExp;
    readonly isReal?: (value: string, match: RegExpExecArray) => boolean;
  },
): Rule & { readonly expression: RegExp } {
  const { isReal = () => true } = rule;
  const expression = new RegExp(rule.expression.source, `${rule.expression.flags}dg`);
  return {
    ...rule,
    expression: rule.expression,
    *find(text) {
      expression.lastIndex = 0;
      for (let match = expression.exec(text); match; match = expression.exec(text)) {
        const at = expression.lastIndex;
        const range = match.indices?.groups?.value ?? match.indices?.[0];
        const [start, end] = range as [number, number];
        if (isReal(text.slice(start, end), match)) yield { start, end };
        expression.lastIndex = at;
      }
    },
  };
}
