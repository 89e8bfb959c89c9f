/** Compare rows: the prompts of two sessions next to each other, by their number. Pure. */

import type { Exchange, OutlineMark } from "../../../src/client/outline-shapes.ts";
import { type TouchedFile, touchedFiles } from "../session/touched-files.ts";

export interface Side {
  readonly exchange: Exchange;
  readonly files: readonly TouchedFile[];
}

export interface CompareRow {
  /** From 1; 0 for what comes before the first prompt. */
  readonly number: number;
  readonly left: Side | null;
  readonly right: Side | null;
  /** Both were asked the same. */
  readonly isSame: boolean;
}

export interface Compared {
  readonly exchanges: readonly Exchange[];
  readonly marks: readonly OutlineMark[];
  readonly project: string | null;
}

export function compareRows(left: Compared, right: Compared): CompareRow[] {
  const [ours, theirs] = [numbered(left), numbered(right)];
  const numbers = [...new Set([...ours.keys(), ...theirs.keys()])].sort((a, b) => a - b);
  return numbers.map((number) => {
    const [one, other] = [ours.get(number) ?? null, theirs.get(number) ?? null];
    const text = one?.exchange.text ?? null;
    return {
      number,
      left: one,
      right: other,
      isSame: text !== null && text === other?.exchange.text,
    };
  });
}

function numbered({ exchanges, marks, project }: Compared): Map<number, Side> {
  const sides = new Map<number, Side>();
  let number = 0;
  let at = 0;
  for (const [n, exchange] of exchanges.entries()) {
    if (exchange.text !== null) number++;
    const until = exchanges[n + 1]?.start ?? Number.POSITIVE_INFINITY;
    const from = at;
    while ((marks[at]?.start ?? until) < until) at++;
    const own = marks.slice(from, at);
    sides.set(number, { exchange, files: touchedFiles(own, project) });
  }
  return sides;
}

/** The beginning of an answer on one line, without the marks of Markdown. */
export function withoutMarks(answer: string): string {
  const hasTable = /\|[\s:]*-{2}/.test(answer);
  const text = hasTable ? answer.replace(/\s\|.*\|[-:\s]*/, " … ") : answer;
  const plain = text.replace(/(^|\s)(?:#{1,6}|>|-{3,})(?=\s)/g, "$1").replace(/\*\*|`{1,3}/g, "");
  return plain.replace(/\s+/g, " ").trim();
}
