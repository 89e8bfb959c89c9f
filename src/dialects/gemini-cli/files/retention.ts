/** Retention: how long Gemini CLI keeps a session before it deletes it at its next start. */

import type { Retention } from "../../agent-program.ts";
import { get, getObject, getString, isObject } from "../../fields.ts";
import { jsonBelow } from "../../files/json-document.ts";

const AGE_DEFAULT = "30d";
const DAYS: Readonly<Record<string, number>> = { h: 1 / 24, d: 1, w: 7, m: 30 };

/** Null: nothing is deleted by age. */
export function retention(root: string): Retention | null {
  const settings = jsonBelow(root, ["settings.json"]);
  const general = isObject(settings) ? getObject(settings, "general") : {};
  const set = getObject(general, "sessionRetention");
  if (get(set, "enabled") === false) return null;
  const age = getString(set, "maxAge") ?? AGE_DEFAULT;
  const [, count = "", unit = ""] = /^(\d+)([hdwm])$/.exec(age) ?? [];
  const days = Number(count) * (DAYS[unit] ?? Number.NaN);
  if (!(days > 0)) return null; // Gemini CLI refuses the setting, and deletes nothing.
  return { days, setting: `general.sessionRetention.maxAge in ${root}/settings.json` };
}
