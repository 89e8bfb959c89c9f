/**
 * HTML view: a piece of `Html` in the page. It is inserted once, so that unfolded parts stay so;
 * what is below the row of a tool call is added when the row is unfolded.
 */

import { useLayoutEffect, useRef } from "preact/hooks";
import type { Html } from "../../src/sessions/render/html/markup.ts";
import { addBlockTools } from "./session/block-tools.ts";
import { trustedHtml } from "./trusted-html.ts";

interface ViewProps {
  readonly html: Html;
  /** What is below the row of a part, made when it is unfolded. */
  readonly inside?: (part: number) => Html | null;
  /** Adds to what is below the row of a part; returns how to remove it, or null. */
  readonly mount?: (part: number, place: HTMLElement) => (() => void) | null;
}

export function HtmlView({ html, inside, mount }: ViewProps) {
  const place = useRef<HTMLDivElement>(null);
  const latest = useRef({ inside, mount });
  latest.current = { inside, mount };
  useLayoutEffect(() => {
    const element = place.current;
    if (element === null) return;
    const opened = openParts(element);
    element.innerHTML = trustedHtml(html);
    addBlockTools(element);
    const mounted = new Map<HTMLDetailsElement, (() => void) | null>();
    const fillRow = (row: HTMLDetailsElement) => {
      fill(row, latest.current.inside);
      if (!row.open || row.dataset.part === undefined || mounted.has(row)) return;
      const below = document.createElement("div");
      mounted.set(row, latest.current.mount?.(Number(row.dataset.part), below) ?? null);
      if (mounted.get(row)) row.append(below);
    };
    for (const part of opened) {
      const row = element.querySelector<HTMLDetailsElement>(`details[data-part="${part}"]`);
      if (row) row.open = true;
    }
    const onToggle = ({ target }: Event) => {
      if (!(target instanceof HTMLDetailsElement)) return;
      if (target.closest("[data-view]") !== element) return; // Of a thread below.
      fillRow(target);
      reachSoon(element);
    };
    reachSoon(element);
    element.addEventListener("toggle", onToggle, true);
    for (const row of ownRows(element)) fillRow(row);
    return () => {
      element.removeEventListener("toggle", onToggle, true);
      for (const remove of mounted.values()) remove?.();
    };
  }, [html]);
  return <div ref={place} data-view />;
}

/** The rows that the reader unfolded: a result that arrives does not fold them. */
function openParts(element: HTMLElement): string[] {
  return ownRows(element).map(({ dataset }) => dataset.part ?? "");
}

/** Its unfolded rows, without those of threads below them. */
function ownRows(element: HTMLElement): HTMLDetailsElement[] {
  const rows = element.querySelectorAll<HTMLDetailsElement>("details[data-part][open]");
  return [...rows].filter((row) => row.closest("[data-view]") === element);
}

function fill(row: HTMLDetailsElement, inside: ViewProps["inside"]): void {
  const { part } = row.dataset;
  if (!row.open || part === undefined || row.childElementCount > 1) return;
  const html = inside?.(Number(part)) ?? null;
  if (html === null) return;
  row.insertAdjacentHTML("beforeend", trustedHtml(html));
  addBlockTools(row);
}

const waiting = new Set<HTMLElement>();

/**
 * Makes elements that scroll sideways focusable, so that keys scroll them. All at once in the next
 * frame: measuring each piece as it comes would cause a layout for each.
 */
function reachSoon(element: HTMLElement): void {
  if (waiting.size === 0) requestAnimationFrame(reachLongLines);
  waiting.add(element);
}

function reachLongLines(): void {
  const all = [...waiting].flatMap((element) => [...element.querySelectorAll("pre")]);
  waiting.clear();
  // Not what is folded: measuring it would lay it out.
  const shown = all.filter((pre) => pre.closest("details:not([open])") === null);
  const long = shown.filter(({ scrollWidth, clientWidth }) => {
    return scrollWidth > clientWidth && clientWidth > 0;
  });
  for (const pre of long) pre.tabIndex = 0;
}
