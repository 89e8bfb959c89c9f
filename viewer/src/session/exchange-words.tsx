/** Exchange words: a prompt and what answering it took, in a line. */

import type { Exchange } from "../../../src/client/outline-shapes.ts";
import type { PromptCost } from "../../../src/client/usage-shapes.ts";
import { pageText } from "../../../src/sessions/render/html/markup.ts";
import { lengthOf } from "../../../src/sessions/render/phrases.ts";
import { costOrRecorded, shortCost } from "../settings.ts";
import { clockOf, countText, shortCount, shortMoney } from "../words.ts";
/** +12 −3 */
export function LineCounts(props: { readonly added: number; readonly removed: number }) {
  return (
    <span class="line-counts">
      {props.added > 0 && <ins>+{props.added}</ins>}
      {props.removed > 0 && <del>−{props.removed}</del>}
    </span>
  );
}

export function titleOf({ text }: Exchange): string {
  if (text === null) return "Before the first prompt";
  return text === "" ? "An empty text" : pageText(text);
}

/** As counted, with subagents; until then as recorded. */
export function factsOf(exchange: Exchange, cost: PromptCost | null = null): string {
  const { at, until, calls, failures, spend } = exchange;
  const tokens = cost?.total ?? exchange.tokens;
  const recorded = spend === null ? null : shortMoney(spend);
  const tookMs = Date.parse(until ?? "") - Date.parse(at ?? "");
  const facts = [
    at === null ? null : clockOf(at),
    tookMs > 0 ? lengthOf(tookMs) : null,
    tokens === null ? null : `${shortCount(tokens)} tokens`,
    cost === null ? recorded : costOrRecorded(cost),
    cost === null || cost.subagents === 0 ? null : countText(cost.subagents, "subagent"),
    calls === 0 ? null : countText(calls, "call"),
    failures === 0 ? null : `${failures} failed`,
  ];
  return facts.filter((fact) => fact !== null).join(" · ");
}

/** When, how long, and what it cost: for a narrow place. */
export function shortFactsOf(exchange: Exchange, cost: PromptCost | null): string {
  const { at, until, spend, files } = exchange;
  const tookMs = Date.parse(until ?? "") - Date.parse(at ?? "");
  const recorded = spend === null ? null : shortMoney(spend);
  const facts = [
    at === null ? null : clockOf(at),
    tookMs > 0 ? lengthOf(tookMs) : null,
    cost === null ? recorded : costOrRecorded(cost, shortCost),
    files === 0 ? null : countText(files, "file"),
  ];
  return facts.filter((fact) => fact !== null).join(" · ");
}
