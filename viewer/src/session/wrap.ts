/** Wrap: whether long lines of code and output wrap or scroll. Kept in this browser. */

import { effect, signal } from "@preact/signals";

const KEY = "verbatim.wrap";

export const isWrapped = signal(kept());

effect(() => {
  document.documentElement.dataset.wrap = isWrapped.value ? "on" : "off";
});

export function toggleWrap(): void {
  isWrapped.value = !isWrapped.value;
  try {
    localStorage.setItem(KEY, isWrapped.value ? "on" : "off");
  } catch {
    // It counts until the page is closed.
  }
}

function kept(): boolean {
  try {
    return localStorage.getItem(KEY) !== "off";
  } catch {
    return true;
  }
}
