/** Theme button: light or dark like the system, or as chosen. */

import { effect, signal } from "@preact/signals";

const KEY = "verbatim.theme";
const NEXT = { system: "light", light: "dark", dark: "system" } as const;
const NAMES = { system: "as the system", light: "light", dark: "dark" } as const;
const SIGNS = { system: "◐", light: "☀", dark: "☾" } as const;

type Theme = keyof typeof NEXT;

const theme = signal<Theme>(chosen());

function chosen(): Theme {
  const kept = localStorage.getItem(KEY);
  return kept === "light" || kept === "dark" ? kept : "system";
}

effect(() => {
  const { dataset } = document.documentElement;
  if (theme.value === "system") delete dataset.theme;
  else dataset.theme = theme.value;
});

export function nextTheme(): void {
  theme.value = NEXT[theme.value];
  localStorage.setItem(KEY, theme.value);
}

export function ThemeButton() {
  const name = `Colours: ${NAMES[theme.value]}`;
  return (
    <button type="button" class="quiet theme" onClick={nextTheme} aria-label={name} title={name}>
      {SIGNS[theme.value]}
    </button>
  );
}
