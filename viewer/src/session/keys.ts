/** Keys: single-key commands while a session is read, except while typing. */

import { useEffect, useRef } from "preact/hooks";
import { isTyping } from "../typing.ts";

/** Commands, with their keys and help texts. */
export const KEYS = [
  ["next", "j", "Next entry"],
  ["previous", "k", "Previous entry"],
  ["nextTurn", "J", "Next prompt"],
  ["previousTurn", "K", "Previous prompt"],
  ["nextSession", "]", "Next session of the list"],
  ["previousSession", "[", "Previous session of the list"],
  ["start", "g", "Start of the session"],
  ["end", "G", "End of the session, and follow it"],
  ["thinking", "t", "Show or fold thinking"],
  ["inspect", "i", "Inspect the entry: ids, usage, proof, line of the log"],
  ["expand", "e", "Expand or fold all"],
  ["wrap", "w", "Wrap long lines, or scroll them"],
  ["fold", "o", "Unfold or fold the entry"],
  ["all", "a", "Show or hide lines without text"],
  ["search", "/", "Search in this session"],
  ["leave", "Escape", "Close the search"],
  ["help", "?", "This help"],
] as const;

export type Deeds = Readonly<Record<(typeof KEYS)[number][0], () => void>>;

/** `isLeavable`: Escape closes something, also while typing in it. */
export function useKeys(deeds: Deeds, isLeavable: boolean): void {
  const latest = useRef(deeds);
  latest.current = deeds;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      // AltGr or Option types brackets on many keyboards; some browsers report AltGr as Ctrl, too.
      const isTyped = event.altKey && (event.key === "[" || event.key === "]");
      if (((event.ctrlKey || event.altKey) && !isTyped) || event.metaKey) return;
      if (event.defaultPrevented) return;
      if (document.querySelector("dialog[open]")) return;
      const [name] = KEYS.find(([, key]) => key === event.key) ?? [];
      if (name === undefined) return;
      if (name === "leave" ? !isLeavable : isTyping(event.target)) return;
      event.preventDefault();
      latest.current[name]();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [isLeavable]);
}
