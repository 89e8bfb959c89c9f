/** Copy: copies links and Markdown to the clipboard, from the buttons of each row. */

import { emptyEntry } from "../../../src/core/model/entry.ts";
import { renderEntry } from "../../../src/sessions/render/entry-markdown.ts";
import { sessionHref } from "../route.ts";
import { copiedBlock } from "./block-tools.ts";
import { itemsOf } from "./entry-window.ts";
import type { SessionStore } from "./session-store.ts";

const TOLD_MS = 1200;

/** Pages loaded over plain HTTP from another machine have no clipboard API; the old way works. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const field = document.createElement("textarea");
  field.value = text;
  document.body.append(field);
  field.select();
  const isCopied = document.execCommand("copy");
  field.remove();
  if (!isCopied) throw new Error("The browser does not allow copying here.");
}

/** Handles a click in the transcript, if it was on a row's button. */
export function onRowAction(event: Event, store: SessionStore): void {
  const button = (event.target as Element).closest<HTMLButtonElement>(
    ".row-actions button, button.row-note, button.copy",
  );
  const block = button === null ? null : copiedBlock(button);
  if (button !== null && block !== null) {
    copyBy(button, block);
    return;
  }
  const start = Number(
    button?.closest<HTMLElement>(".entries > .row")?.dataset.start ?? Number.NaN,
  );
  if (button === null || Number.isNaN(start)) return;
  if (button.dataset.do === "line" || button.dataset.do === "info") {
    store.inspected.value = start;
    store.isInspecting.value = true;
    return;
  }
  const text = button.dataset.do === "link" ? linkTo(store.id, start) : markdownOf(store, start);
  copyBy(button, text);
}

/** Copies, and the button says so. */
function copyBy(button: HTMLElement, text: string): void {
  const was = button.textContent;
  const tell = (told: string) => {
    button.textContent = told;
    setTimeout(() => {
      button.textContent = was;
    }, TOLD_MS);
  };
  copyText(text).then(
    () => tell("Copied"),
    () => tell("No clipboard"),
  );
}

function linkTo(id: string, start: number): string {
  return `${location.href.split("#")[0]}${sessionHref(id, start)}`;
}

function markdownOf(store: SessionStore, start: number): string {
  const window = store.window.value;
  const item = window && itemsOf(window).find((each) => each.start === start);
  if (!item?.entry) return "";
  return renderEntry({ ...emptyEntry({}), ...item.entry }, { thinking: true }).trimEnd();
}
