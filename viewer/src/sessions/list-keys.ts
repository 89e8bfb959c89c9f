/** List keys: single-key commands in the list and in search results, except while typing. */

import { useEffect } from "preact/hooks";
import { isTyping } from "../typing.ts";

/** Keys and help texts, as the help shows them. */
export const LIST_KEYS = [
  ["next", "j", "Next session"],
  ["previous", "k", "Previous session"],
  ["open", "Enter", "Open the session"],
  ["search", "/", "Search in all sessions"],
  ["palette", "Ctrl K", "Go to any session, project, agent or page"],
  ["help", "?", "This help"],
] as const;

export interface ListDeeds {
  readonly search: () => void;
  readonly help: () => void;
}

export function useListKeys({ search, help }: ListDeeds): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if (document.querySelector("dialog[open]") || isTyping(event.target)) return;
      const deed = { j: () => step(1), k: () => step(-1), "/": search, "?": help }[event.key];
      if (deed === undefined) return;
      event.preventDefault();
      deed();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [search, help]);
}

/** Moves the focus by rows; at first to the first row that can be seen. */
export function step(by: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>("[data-steps]")];
  // Rows are placed by transforms: their order in the document is that of the list.
  const at = rows.indexOf(document.activeElement as HTMLElement);
  const top = document.querySelector(".list-scroll")?.getBoundingClientRect().top ?? 0;
  const first = rows.find((row) => row.getBoundingClientRect().top >= top);
  const to = at < 0 ? first : rows[at + by];
  to?.focus();
  to?.scrollIntoView({ block: "nearest" });
}
