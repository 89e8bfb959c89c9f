/** Entry row: one line of the log in the page, like in `show --html`, with its actions. */

import { Component } from "preact";
import { useMemo } from "preact/hooks";
import type { EntryItem } from "../../../src/client/session-shapes.ts";
import { emptyEntry } from "../../../src/model/entry.ts";
import type { Calls } from "../../../src/render/html/call-places.ts";
import { entryHtml, type Links, permalink } from "../../../src/render/html/entry-html.ts";
import { type Html, html } from "../../../src/render/html/markup.ts";
import { badLineHtml } from "../../../src/render/html/page.ts";
import { HtmlView } from "../html-view.tsx";

export interface RowProps {
  readonly item: EntryItem;
  readonly calls: Calls;
  /** Which of its results' calls are known: when that changes, it looks different. */
  readonly known: string;
  readonly links: Links;
  /** A later row of its message repeats its usage. */
  readonly isUsageRepeated: boolean;
  readonly thinking: boolean;
  /** Show lines without visible content, too. */
  readonly isAll: boolean;
  readonly isTarget: boolean;
  /** An exchange begins here. */
  readonly isPrompt: boolean;
  readonly isAltered: boolean;
  /** What answering this prompt, or a call in this entry, cost. */
  readonly cost: RowCost | null;
}

export interface RowCost {
  readonly text: string;
  readonly title: string;
  /** Shown without pointing at the row. */
  readonly isOfPrompt: boolean;
}

/** Rendered again only when it looks different: there are hundreds, and the window moves often. */
export class EntryRow extends Component<RowProps> {
  override shouldComponentUpdate(next: Readonly<RowProps>): boolean {
    const { props } = this;
    return (
      next.item !== props.item ||
      next.known !== props.known ||
      next.links !== props.links ||
      next.isUsageRepeated !== props.isUsageRepeated ||
      next.thinking !== props.thinking ||
      next.isAll !== props.isAll ||
      next.isTarget !== props.isTarget ||
      next.isPrompt !== props.isPrompt ||
      next.isAltered !== props.isAltered ||
      next.cost?.text !== props.cost?.text ||
      next.cost?.title !== props.cost?.title
    );
  }

  override render() {
    return <Row {...this.props} />;
  }
}

function Row(props: RowProps) {
  const { item, known, links, isUsageRepeated, thinking, isAll, isTarget, isAltered, cost } = props;
  // `known` replaces `calls`, which is a new object each time.
  const looks = [item, known, links, isUsageRepeated, thinking];
  const said = useMemo(() => rowHtml(props), looks);
  const silent = useMemo(() => (isAll ? silentHtml(item, links) : null), [item, links, isAll]);
  const shown = said ?? silent;
  const { start } = item;
  if (shown === null) return <div class="row silent" data-start={start} />;
  const begins = props.isPrompt ? " prompt" : "";
  const marks = `${begins}${isTarget ? " target" : ""}${isAltered ? " altered" : ""}`;
  return (
    <div class={`row${marks}`} data-start={start} tabIndex={-1}>
      {isAltered && (
        <p class="altered-note">Something in this turn was altered after it was signed.</p>
      )}
      <HtmlView html={shown} />
      {cost !== null && (
        <span class={cost.isOfPrompt ? "row-cost of-prompt" : "row-cost"} title={cost.title}>
          {cost.text}
        </span>
      )}
      <div class="row-actions">
        <button type="button" data-do="link" title="Copy a link to this entry">
          Link
        </button>
        <button type="button" data-do="markdown" title="Copy this entry as Markdown">
          Copy
        </button>
        <button type="button" data-do="info" title="Inspect: ids, usage, proof, its line ( i )">
          Info
        </button>
      </div>
    </div>
  );
}

function rowHtml({ item, calls, links, isUsageRepeated, thinking }: RowProps): Html | null {
  const { start, entry, fault } = item;
  if (entry === null) return badLineHtml({ line: null, offset: start, reason: fault ?? "" }, links);
  const usage = isUsageRepeated ? null : entry.usage;
  const placed = { ...emptyEntry({}), ...entry, usage, start, line: null };
  return entryHtml(placed, { thinking, tools: true, calls, links });
}

const SILENT_WORDS = { turn_start: "A turn begins", other: "A line without words" } as const;

/** A line without visible content: the start of a turn, or a checkpoint. */
function silentHtml({ start, kind }: EntryItem, links: Links): Html {
  const words = kind === "turn_start" ? SILENT_WORDS.turn_start : SILENT_WORDS.other;
  return html`<div class="mark"><p>${words}</p>${permalink(null, start, links)}</div>`;
}

/** The calls among entries, and which of them an entry's results answer. */
export class LoadedCalls implements Calls {
  readonly #places = new Map<string, { readonly tool: string; readonly href: string }>();

  constructor(items: readonly EntryItem[], links: Links) {
    for (const { start, entry } of items) {
      for (const part of entry?.parts ?? []) {
        if (part.type !== "tool_call" || part.callId === null) continue;
        this.add(part.callId, { tool: part.tool, href: links.toEntry(null, start) });
      }
    }
  }

  add(callId: string, place: { readonly tool: string; readonly href: string }): void {
    this.#places.set(callId, place);
  }

  get(callId: string | null) {
    return callId === null ? null : (this.#places.get(callId) ?? null);
  }

  knownOf({ entry }: EntryItem): string {
    const results = (entry?.parts ?? []).filter((part) => part.type === "tool_result");
    return results.map(({ callId }) => this.get(callId)?.href ?? "").join(" ");
  }
}
