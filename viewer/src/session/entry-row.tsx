/** Entry row: one line of the log in the page, like in `export --format html`, with its actions. */

import { Component } from "preact";
import { useMemo } from "preact/hooks";
import type { EntryNotes } from "../../../src/client/note-shapes.ts";
import type { EntryItem } from "../../../src/client/session-shapes.ts";
import { emptyEntry } from "../../../src/core/model/entry.ts";
import {
  type CallPlace,
  CallResults,
  type Calls,
} from "../../../src/sessions/render/html/call-results.ts";
import {
  type EntryContext,
  entryHtml,
  insideOf,
  type PageLinks,
  permalink,
  turnHtml,
} from "../../../src/sessions/render/html/entry-html.ts";
import { type Html, html } from "../../../src/sessions/render/html/markup.ts";
import { badLineHtml } from "../../../src/sessions/render/html/page.ts";
import type { PlacedEntry } from "../../../src/sessions/render/html/placed-entry.ts";
import { isDone, type Places } from "../../../src/sessions/render/shown-entry.ts";
import { HtmlView } from "../html-view.tsx";
import { NoteMark } from "./entry-notes.tsx";

export interface RowProps {
  readonly item: EntryItem;
  readonly calls: LoadedCalls;
  /** Which of its calls and results are paired: when that changes, it looks different. */
  readonly pairing: string;
  readonly links: PageLinks;
  /** The directory that paths are relative to. */
  readonly project: string | null;
  /** A later row of its message repeats its usage. */
  readonly isUsageRepeated: boolean;
  readonly thinking: boolean;
  /** Show lines without visible content, too. */
  readonly isAll: boolean;
  readonly isTarget: boolean;
  /** An exchange begins here. */
  readonly isPrompt: boolean;
  readonly isAltered: boolean;
  /** By which rules `scan` finds something in it; null: nothing, or no scan. */
  readonly finds: string | null;
  /** It is shown below the call whose subagent wrote it. */
  readonly isElsewhere: boolean;
  /** Below a call: without actions, which are about the page's session. */
  readonly isNested: boolean;
  readonly mount: MountBelowRow;
  /** The user's. */
  readonly notes?: EntryNotes | undefined;
  /** What answering this prompt, or a call in this entry, cost. */
  readonly cost: RowCost | null;
}

/** Adds to what is below the row of a part; returns how to remove it, or null. */
export type MountBelowRow = (
  item: EntryItem,
  part: number,
  place: HTMLElement,
) => (() => void) | null;

export interface RowCost {
  readonly text: string;
  readonly title: string;
  /** Shown without pointing at the row. */
  readonly isOfPrompt: boolean;
}

/** These are other objects each time, or look the same: `pairing` says what of `calls` is shown. */
const MADE_AGAIN: ReadonlySet<string> = new Set(["calls", "mount", "cost"]);

/** A row that shows an entry, and no more. */
export const BARE_ROW = {
  thinking: false,
  isAll: false,
  isTarget: false,
  isPrompt: false,
  finds: null,
  isAltered: false,
  isElsewhere: false,
  isNested: true,
  cost: null,
} as const;

/** Rendered again only when it looks different: there are hundreds, and the window moves often. */
export class EntryRow extends Component<RowProps> {
  override shouldComponentUpdate(next: Readonly<RowProps>): boolean {
    const { props } = this;
    const isOther = (name: keyof RowProps) => !MADE_AGAIN.has(name) && next[name] !== props[name];
    return (
      (Object.keys({ ...props, ...next }) as (keyof RowProps)[]).some(isOther) ||
      next.cost?.text !== props.cost?.text ||
      next.cost?.title !== props.cost?.title
    );
  }

  override render() {
    return <Row {...this.props} />;
  }
}

function Row(props: RowProps) {
  const { item, calls, pairing, links, project, isUsageRepeated, thinking } = props;
  const { isAll, isTarget, isAltered, cost } = props;
  // `pairing` replaces `calls`, which is a new object each time.
  const looks = [item, pairing, links, project, isUsageRepeated, thinking, isTarget];
  const visible = useMemo(() => rowHtml(props), looks);
  const silent = useMemo(() => (isAll ? silentHtml(item, links) : null), [item, links, isAll]);
  const isHidden = props.isElsewhere && !isAll && !isTarget;
  const shown = isHidden ? null : (visible ?? silent);
  const { start } = item;
  if (shown === null) return <div class="row silent" data-start={start} data-offset={start} />;
  const marks = Object.entries({
    done: visible !== null && item.entry !== null && isDone(item.entry),
    ...(props.isNested
      ? { nested: true }
      : { prompt: props.isPrompt, target: isTarget, altered: isAltered }),
  });
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: what it unfolds is reached by keys, too.
    <div
      class={marks.reduce((all, [name, is]) => (is ? `${all} ${name}` : all), "row")}
      data-start={start}
      data-offset={start}
      data-also={calls.shownIn(item).join(" ")}
      tabIndex={-1}
      onKeyDown={onRowKey}
    >
      {isAltered && (
        <p class="altered-note">Something in this turn was altered after it was signed.</p>
      )}
      {props.finds !== null && <p class="find-note">Scan finds: {props.finds}</p>}
      <HtmlView
        html={shown}
        inside={(index) => insideHtml(props, index)}
        mount={(index, place) => props.mount(item, index, place)}
      />
      {cost !== null && (
        <span class={cost.isOfPrompt ? "row-cost of-prompt" : "row-cost"} title={cost.title}>
          {cost.text}
        </span>
      )}
      {props.notes && <NoteMark notes={props.notes} />}
      {!props.isNested && <Actions />}
    </div>
  );
}

function Actions() {
  return (
    <div class="row-actions">
      <button type="button" data-do="link" title="Copy a link to this entry">
        Link
      </button>
      <button type="button" data-do="markdown" title="Copy this entry as Markdown">
        Copy
      </button>
      <button
        type="button"
        data-do="info"
        title="Inspect: notes, ids, usage, proof, its line ( i )"
      >
        Info
      </button>
    </div>
  );
}

function rowHtml(props: RowProps): Html | null {
  const { start, fault } = props.item;
  const entry = placedEntry(props);
  if (entry !== null) return entryHtml(entry, contextOf(props));
  return badLineHtml({ line: null, offset: start, reason: fault ?? "" }, props.links);
}

type CallProps = Pick<
  RowProps,
  "item" | "calls" | "links" | "project" | "thinking" | "isTarget" | "isUsageRepeated"
>;

/** Below a row that is being unfolded. */
export function insideHtml(props: CallProps, index: number): Html | null {
  const entry = placedEntry(props);
  return entry === null ? null : insideOf(entry, index, contextOf(props));
}

function placedEntry({ item, calls, isUsageRepeated }: CallProps): PlacedEntry | null {
  const { start, entry, tools, results } = item;
  if (entry === null) return null;
  const usage = isUsageRepeated ? null : entry.usage;
  const before = calls.before(item);
  return { ...emptyEntry({}), ...entry, usage, start, line: null, tools, results, before };
}

/** All of the entry that a link or a hit leads to is in the page, so that words in it are found. */
function contextOf({ calls, links, project, thinking, isTarget }: CallProps): EntryContext {
  const { results, places } = calls;
  return {
    thinking,
    tools: true,
    calls,
    results,
    places,
    links,
    project,
    isLazy: !isTarget,
    isBrief: true,
  };
}

/** Enter unfolds the row that has the focus, or folds it. */
function onRowKey(event: KeyboardEvent): void {
  const row = event.currentTarget as HTMLElement;
  if (event.key !== "Enter" || event.target !== row) return;
  const calls = [...row.querySelectorAll<HTMLDetailsElement>("details.call")];
  const isAnyFolded = calls.some(({ open }) => !open);
  for (const call of calls) call.open = isAnyFolded;
}

const SILENT_WORDS = { turn_start: "A turn begins", other: "A line without words" } as const;

/** A line without visible content: the start of a turn, or a checkpoint. */
function silentHtml({ start, kind, entry }: EntryItem, links: PageLinks): Html | null {
  if (entry?.kind === "turn_end") {
    return turnHtml({ ...emptyEntry({}), ...entry, start, line: null }, { links });
  }
  if (entry?.parts.some(({ type }) => type === "tool_result")) return null; // Shown with its call.
  const words = kind === "turn_start" ? SILENT_WORDS.turn_start : SILENT_WORDS.other;
  return html`<div class="mark"><p>${words}</p>${permalink(null, start, links)}</div>`;
}

type Before = NonNullable<PlacedEntry["before"]>;

/** The calls and results among entries, and which of them belong together. */
export class LoadedCalls implements Calls {
  readonly results = new CallResults();
  readonly #places = new Map<string, CallPlace>();
  /** Offsets of entries whose results a row shows, by the row's offset. */
  readonly #shownIn = new Map<number, number[]>();
  readonly #before = new Map<number, Before>();

  /** The numbers of lines that calls changed. */
  readonly places: Places;

  constructor(items: readonly EntryItem[], places: Places = () => []) {
    this.places = places;
    let before: Before = { at: null, model: null };
    for (const item of items) {
      this.#before.set(item.start, before);
      if (item.entry === null) continue;
      const { at, model } = item.entry;
      before = { at: at ?? before.at, model: model ?? before.model };
      const { start, results } = item;
      for (const call of this.results.add({ ...item.entry, start, line: null, results })) {
        this.#shownIn.set(call, [...(this.#shownIn.get(call) ?? []), item.start]);
      }
    }
  }

  add(callId: string, place: CallPlace): void {
    this.#places.set(callId, place);
  }

  get(callId: string | null) {
    return callId === null ? null : (this.#places.get(callId) ?? null);
  }

  /** Which calls and results of an entry are paired: when that changes, it looks different. */
  pairingOf({ entry, start, tools }: EntryItem): string {
    const parts = entry?.parts ?? [];
    const { at, model } = this.before({ start });
    const paired = parts
      .map((part, index) => {
        if (part.type === "tool_call") {
          const isEdit = tools.some(({ kind }) => kind === "edit");
          const lines = isEdit ? [this.results.viewOf(part.callId) !== null] : [];
          const places = isEdit ? this.places(start, index) : [];
          return [this.results.resultOf(start, index)?.start, ...lines, ...places].join();
        }
        return part.type === "tool_result" ? (this.results.callOf(start, index) ?? "") : "";
      })
      .join(" ");
    return `${at} ${model} ${paired}`;
  }

  /** The last time and model before an entry. */
  before({ start }: Pick<EntryItem, "start">): Before {
    return this.#before.get(start) ?? { at: null, model: null };
  }

  /** The offsets of the entries whose results the entry's row shows. */
  shownIn({ start }: EntryItem): readonly number[] {
    return this.#shownIn.get(start) ?? [];
  }
}
