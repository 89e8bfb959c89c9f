/**
 * Outline panel: all prompts of the session with the cost of answering them, and below each its
 * failures and edited files; for jumping. Only the rows on the screen are in the page, and only
 * blocks of them are loaded; the index says how high the others are (session-outline.ts).
 */

import { computed } from "@preact/signals";
import type { RefObject } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { pageText } from "../../../src/sessions/render/html/markup.ts";
import { countText, lastName } from "../words.ts";
import { factsOf, LineCounts, titleOf } from "./exchange-words.tsx";
import { FilesPanel } from "./files-panel.tsx";
import { exchangeTops, pixelsOf, placedRows, rowPositionOf } from "./outline-layout.ts";
import type { OutlineRow, OutlineRowChoice } from "./outline-rows.ts";
import type { ReadingPosition } from "./reading.ts";
import type { SessionCosts } from "./session-costs.ts";
import type { SessionStore } from "./session-store.ts";

/** Rows above and below the screen, at least. */
const SPARE_PX = 200;

interface PanelProps {
  readonly store: SessionStore;
  readonly reading: ReadingPosition;
  /** On small screens, where it can be hidden. */
  readonly isShown: boolean;
  readonly hide: () => void;
}

export function OutlinePanel({ store, reading, isShown, hide }: PanelProps) {
  const { outline } = store;
  const [choice, choose] = useState({ failures: true, edits: true });
  const index = outline.index.value;
  const [prompts, failures, edits, calls] = useMemo(() => {
    return (["isPrompt", "failures", "edits", "calls"] as const).map((name) => index.sum(name));
  }, [index]) as [number, number, number, number];
  const share = outline.share.value;
  const [isOfFiles, showFiles] = useState(false);
  return (
    <nav class={isShown ? "turns shown" : "turns"} aria-label="Outline">
      {calls > 0 && (
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
          <span>{share < 1 && prompts === 0 ? "Prompts" : countText(prompts, "prompt")}</span>
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
              {countText(edits, "edit")}
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
        <Rows choice={choice} store={store} reading={reading} hide={hide} />
      )}
    </nav>
  );
}

interface RowsProps {
  readonly choice: OutlineRowChoice;
  readonly store: SessionStore;
  readonly reading: ReadingPosition;
  readonly hide: () => void;
}

function Rows({ choice, store, reading, hide }: RowsProps) {
  const { outline, costs } = store;
  const scroller = useRef<HTMLDivElement>(null);
  const index = outline.index.value;
  const tops = useMemo(() => exchangeTops(index, choice), [index, choice]);
  const here = useMemo(
    () =>
      computed(() => {
        const { block, row } = rowPositionOf(outline, reading.visible.value.from, choice);
        return `${block} ${row}`;
      }),
    [outline, reading, choice],
  ).value;
  const [block = 0, row = 0] = here.split(" ").map(Number);
  const { top, bottom } = pixelsOf(outline, tops, { block, row }, choice);
  useFollowed(scroller, reading, top, bottom);
  const screen = useScreen(scroller);
  // Made once: while the reader scrolls, only the mark of their place moves.
  const project = store.head.value?.directory ?? null;
  const version = outline.blocks.version.value;
  const shown = useMemo(
    () => placedRows(outline, tops, screen, choice),
    [outline, tops, screen, choice, version],
  );
  const words = useMemo(
    () =>
      shown.map(({ row }) => ({
        href: store.hrefOf(row.start),
        text: <RowWords row={row} costs={costs} project={project} />,
      })),
    [shown, costs.loaded.value, costs.tokens.value, project, store.filter.value],
  );
  return (
    <div class="turns-scroll" ref={scroller}>
      <ol style={{ height: `${tops.at(-1) ?? 0}px` }}>
        {shown.map(({ row, top, place }, n) => (
          <li
            key={`${row.kind} ${row.start} ${row.kind === "edit" ? row.file : ""}`}
            style={{ top: `${top}px` }}
          >
            <a
              class={`turn-${row.kind}`}
              href={words[n]?.href ?? ""}
              aria-current={place === here ? "location" : undefined}
              onClick={() => {
                hide();
                void store.openAt(row.start); // Also when the route is the same already.
              }}
            >
              {words[n]?.text}
            </a>
          </li>
        ))}
      </ol>
    </div>
  );
}

/** Scrolls the panel to the place being read, which is between these pixels. */
function useFollowed(
  scroller: RefObject<HTMLElement | null>,
  reading: ReadingPosition,
  top: number,
  bottom: number,
): void {
  const followed = useRef({ from: -1, top: 0 });
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const { from } = reading.visible.peek();
    // The place is the same, and only now known well: the panel may have been scrolled since.
    if (from === followed.current.from && element.scrollTop !== followed.current.top) return;
    const isIn = top >= element.scrollTop && bottom <= element.scrollTop + element.clientHeight;
    if (!isIn) element.scrollTop = top - element.clientHeight / 3;
    followed.current = { from, top: element.scrollTop };
  }, [top, bottom]);
}

/** The pixels on the screen with some around them; in steps, not for each of them. */
function useScreen(scroller: RefObject<HTMLElement | null>): readonly [number, number] {
  const [screen, see] = useState<readonly [number, number]>([0, SPARE_PX * 3]);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const look = () => {
      const from = Math.floor(element.scrollTop / SPARE_PX - 1) * SPARE_PX;
      const to = Math.ceil((element.scrollTop + element.clientHeight) / SPARE_PX + 1) * SPARE_PX;
      see((seen) => (seen[0] === from && seen[1] === to ? seen : [from, to]));
    };
    const sizes = new ResizeObserver(look);
    sizes.observe(element);
    element.addEventListener("scroll", look, { passive: true });
    return () => {
      sizes.disconnect();
      element.removeEventListener("scroll", look);
    };
  }, []);
  return screen;
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
      <span title={pageText(words)}>
        <b aria-hidden="true">✕</b> {pageText(words)}
      </span>
    );
  }
  const { file, added, removed, isFailed } = row;
  return (
    <span title={pageText(file)} class={isFailed ? "undone" : ""}>
      <b aria-hidden="true">✎</b> {pageText(lastName(file))}{" "}
      <LineCounts added={added} removed={removed} />
    </span>
  );
}
