/** Kept switch: something on or off, as the user left it in this browser. */

import { type Signal, signal } from "@preact/signals";

export interface KeptSwitch {
  readonly isOn: Signal<boolean>;
  readonly toggle: () => void;
}

export function keptSwitch(key: string, isOnAtFirst = true): KeptSwitch {
  const isOn = signal(isKeptOn(key) ?? isOnAtFirst);
  const toggle = () => {
    isOn.value = !isOn.value;
    try {
      localStorage.setItem(key, isOn.value ? "on" : "off");
    } catch {
      // It counts until the page is closed.
    }
  };
  return { isOn, toggle };
}

function isKeptOn(key: string): boolean | null {
  try {
    const stored = localStorage.getItem(key);
    return stored === null ? null : stored === "on";
  } catch {
    return null;
  }
}
