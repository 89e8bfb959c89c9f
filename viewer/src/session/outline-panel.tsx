/**
 * Outline panel: all prompts of the session with the cost of answering them, and below each its
 * failures and edited files; for jumping. Only the rows on the screen are in the page.
 */

import { computed } from "@preact/signals";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { shownText } from "../../../src/render/html/markup.ts";
import { counted, lastName } from "../words.ts";
import { factsOf, LineCounts, titleOf } from "./exchange-words.tsx";
import { FilesPanel } from "./files-panel.tsx";
import { type OutlineRow, OutlineRows, rowsWithin } from "./outline-rows.ts";
import type { Reading } from "./reading.ts";
import type { SessionCosts } from "./session-costs.ts";
import type { SessionStore } from "./session-store.ts";

/** As in rail.css. */
const HEIGHTS = { promptPx: 56, markPx: 24 };
/** Rows above and below the screen. */
const SPARE_PX = 400;

interface PanelProps {
  readonly store: SessionStore;
  readonly reading: Reading;
  /** On small screens, where it can be hidden. */
  readonly isShown: boolean;
  readonly hide: () => void;
}

export function OutlinePanel({ store, reading, isShown, hide }: PanelProps) {
  const { outline } = store;
  const [choice, choose] = useState({ failures: true, edits: true });
  const exchanges = outline.exchanges.value;
  const marks = outline.marks.value;
  const rows = useMemo(
    () => new OutlineRows(exchanges, marks, choice),
    [exchanges, marks, choice.failures, choice.edits],
  );
  const prompts = exchanges.sum("isPrompt");
  const failures = marks.sum("isFailure");
  const edits = marks.length - failures;
  const share = outline.share.value;
  const [isOfFiles, showFiles] = useState(false);
  const hasCalls = exchanges.sum("calls") > 0;
  return (
    <nav class={isShown ? "turns shown" : "turns"} aria-label="Outline">
      {hasCalls && (
        <p class="turns-tabs">
          <button type="button" aria-pressed={!isOfFiles} onClick={() => showFiles(false)}>
            Prompts
          </button>
          <button type="button" aria-pressed={isOfFiles} onClick={() => showFiles(true)}>
            Files
          </button>
        </p>
      )}
      {!isOfFiles && (
        <p class="turns-head">
          <span>{share < 1 && prompts === 0 ? "Prompts" : counted(prompts, "prompt")}</span>
          {failures > 0 && (
            <button
              type="button"
              class="toggle failed"
              aria-pressed={choice.failures}
              onClick={() => choose({ ...choice, failures: !choice.failures })}
            >
              {failures} failed
            </button>
          )}
          {edits > 0 && (
            <button
              type="button"
              class="toggle"
              aria-pressed={choice.edits}
              onClick={() => choose({ ...choice, edits: !choice.edits })}
            >
              {counted(edits, "edit")}
            </button>
          )}
        </p>
      )}
      {share < 1 && (
        <p class="turns-progress" role="status">
          Reading the session… {Math.floor(share * 100)} %
        </p>
      )}
      {outline.isCut.value && <p class="turns-progress">There are more than can be listed.</p>}
      {isOfFiles ? (
        <FilesPanel store={store} hide={hide} />
      ) : (
        <Rows rows={rows} store={store} reading={reading} hide={hide} />
      )}
    </nav>
  );
}

interface RowsProps {
  readonly rows: OutlineRows;
  readonly store: SessionStore;
  readonly reading: Reading;
  readonly hide: () => void;
}

function Rows({ rows, store, reading, hide }: RowsProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const [screen, see] = useState({ top: 0, height: 800 });
  const tops = useMemo(() => rows.tops(HEIGHTS), [rows]);
  const { value: here } = useMemo(
    () => computed(() => rows.lastUntil(reading.visible.value.from)),
    [rows, reading],
  );
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const look = () => see({ top: element.scrollTop, height: element.clientHeight });
    const sizes = new ResizeObserver(look);
    sizes.observe(element);
    element.addEventListener("scroll", look, { passive: true });
    return () => {
      sizes.disconnect();
      element.removeEventListener("scroll", look);
    };
  }, []);
  useLayoutEffect(() => {
    const element = scroller.current;
    const [top = 0, bottom = 0] = [tops[here], tops[here + 1]];
    if (element === null) return;
    const isIn = top >= element.scrollTop && bottom <= element.scrollTop + element.clientHeight;
    if (!isIn) element.scrollTop = top - element.clientHeight / 3;
  }, [here, tops]);
  const [first, last] = rowsWithin(
    tops,
    screen.top - SPARE_PX,
    screen.top + screen.height + SPARE_PX,
  );
  // Made once: while the reader scrolls, only the mark of their place moves.
  const { costs } = store;
  const prices = costs.prompts.value;
  const totals = costs.tokens.value;
  const project = store.head.value?.project ?? null;
  const shown = useMemo(() => rows.slice(first, last), [rows, first, last]);
  const words = useMemo(
    () => shown.map((row) => <RowWords row={row} {...{ costs, project }} />),
    [shown, prices, totals, project],
  );
  const all = tops[rows.length] ?? 0;
  return (
    <div class="turns-scroll" ref={scroller}>
      <ol style={{ paddingTop: `${tops[first] ?? 0}px`, height: `${all}px` }}>
        {shown.map((row, n) => (
          <li key={`${row.kind} ${row.start} ${row.kind === "edit" ? row.file : ""}`}>
            <a
              class={`turn-${row.kind}`}
              href={store.hrefOf(row.start)}
              aria-current={first + n === here ? "location" : undefined}
              onClick={() => {
                hide();
                void store.openAt(row.start); // Also when the route is the same already.
              }}
            >
              {words[n]}
            </a>
          </li>
        ))}
      </ol>
    </div>
  );
}

interface RowWordsProps {
  readonly row: OutlineRow;
  readonly costs: SessionCosts;
  /** The directory that paths are relative to. */
  readonly project: string | null;
}

function RowWords({ row, costs, project }: RowWordsProps) {
  if (row.kind === "prompt") {
    return (
      <>
        <span class="turn-title">{titleOf(row.exchange)}</span>
        <span class="turn-facts">{factsOf(row.exchange, costs.ofPrompt(row.exchange))}</span>
      </>
    );
  }
  if (row.kind === "failure") {
    const { call, tool, text } = row.mark;
    const said = [call ?? tool, text].filter((word) => word !== null).join(": ");
    const words = project === null ? said : said.replaceAll(`${project.replace(/\/+$/, "")}/`, "");
    return (
      <span title={shownText(words)}>
        <b aria-hidden="true">✕</b> {shownText(words)}
      </span>
    );
  }
  const { file, added, removed, isFailed } = row;
  return (
    <span title={shownText(file)} class={isFailed ? "undone" : ""}>
      <b aria-hidden="true">✎</b> {shownText(lastName(file))} <LineCounts {...{ added, removed }} />
    </span>
  );
}
