/**
 * Settings: currency and time zone, kept in this browser.
 *
 * Prices are US dollars. Another currency is a name and a rate that the user enters: nothing is
 * fetched.
 */

import { computed, signal } from "@preact/signals";
import { countText, shortCount } from "./words.ts";

const KEY = "verbatim.settings";
const NAME_CHARS_MAX = 8;
const RATE_MAX = 1e9;

export interface Settings {
  /** Empty: the browser's. */
  readonly zone: string;
  /** Empty: US dollars. */
  readonly currency: string;
  /** How much one US dollar is worth. */
  readonly rate: number;
}

export const DEFAULTS: Settings = { zone: "", currency: "", rate: 1 };

export const settings = signal<Settings>(parseSettings(read()));

export function saveSettings(changed: Settings): void {
  settings.value = parseSettings(JSON.stringify(changed));
  try {
    localStorage.setItem(KEY, JSON.stringify(settings.value));
  } catch {
    // Storage is full or refused: they hold until the page is closed.
  }
}

function read(): string {
  try {
    return localStorage.getItem(KEY) ?? "";
  } catch {
    return "";
  }
}

/** Any text is some settings. */
export function parseSettings(text: string): Settings {
  let value: Partial<Record<keyof Settings, unknown>>;
  try {
    value = Object(JSON.parse(text)) as typeof value;
  } catch {
    return DEFAULTS;
  }
  const { zone, currency, rate } = value;
  const isRate = typeof rate === "number" && rate > 0 && rate <= RATE_MAX;
  const name = typeof currency === "string" ? currency.trim().slice(0, NAME_CHARS_MAX) : "";
  return {
    zone: typeof zone === "string" && isZone(zone) ? zone : "",
    currency: isRate ? name : "",
    rate: isRate && name !== "" ? rate : 1,
  };
}

function isZone(zone: string): boolean {
  try {
    return zone !== "" && new Intl.DateTimeFormat("en", { timeZone: zone }) !== null;
  } catch {
    return false;
  }
}

export const ownZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The time zone of days. */
export const zone = computed(() => settings.value.zone || ownZone);

/** An amount of US dollars in the chosen currency, with the relevant digits: $0.0031, 1.24 EUR. */
export function amountIn({ currency, rate }: Settings, dollars: number): string {
  const amount = dollars * rate;
  const sign = currency === "" ? "$" : "";
  const unit = currency === "" ? "" : `\u00a0${currency}`;
  if (amount === 0) return `${sign}0${unit}`;
  if (amount < 0.0001) return `<${sign}0.0001${unit}`;
  const digits = amount < 0.1 ? 4 : 2;
  const text = amount.toFixed(digits).replace(/\B(?=(\d{3})+\.)/g, ",");
  return `${sign}${text}${unit}`;
}

export function money(dollars: number): string {
  return amountIn(settings.value, dollars);
}

/** The parts of `CountedSums` that tell what is known of the cost. */
interface Priced {
  readonly cost: number | null;
  readonly unpriced: number;
  readonly unknownInputs: number;
}

/** In a line of facts; if nothing is known, what the program recorded. */
export function costOrRecorded(
  sums: Priced & { readonly recorded: number | null },
  textOf: (sums: Priced) => string = costText,
): string {
  if (sums.cost !== null) return textOf(sums);
  return sums.recorded === null ? "cost unknown" : money(sums.recorded);
}

/** What is not in a cost; "" if all is. `models`: how many have no price, where that is known. */
export function missingText({ unpriced, unknownInputs }: Priced, models = 0): string {
  const without = models > 0 ? countText(models, "model") : `${shortCount(unpriced)} tokens`;
  const inputs = `${countText(unknownInputs, "response")} without a recorded input`;
  return [unpriced > 0 && `${without} without a price`, unknownInputs > 0 && inputs]
    .filter((text) => text !== false)
    .join(" and ");
}

/** "$1.20", "unknown", or "$1.20 and 40.0k tokens without a price". */
export function costText(sums: Priced): string {
  if (sums.cost === null) return "unknown";
  return [money(sums.cost), missingText(sums)].filter((text) => text !== "").join(" and ");
}

/** For narrow places, next to which `costText` is the title: "$1.20 + ?" */
export function shortCost(sums: Priced): string {
  const isWhole = sums.cost === null || missingText(sums) === "";
  return isWhole ? costText(sums) : `${money(sums.cost ?? 0)} + ?`;
}
