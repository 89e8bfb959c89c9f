/** Retention: how long Claude Code keeps a session before it deletes it at its next start. */

import { readFileSync } from "node:fs";
import type { Retention } from "../../agent-program.ts";
import { getNumber, isObject } from "../../fields.ts";

const DAYS_DEFAULT = 30;

export function retention(root: string): Retention {
  const set = settingIn(`${root}/settings.json`);
  return { days: set ?? DAYS_DEFAULT, setting: `cleanupPeriodDays in ${root}/settings.json` };
}

function settingIn(path: string): number | null {
  try {
    const settings: unknown = JSON.parse(readFileSync(path, "utf8"));
    return isObject(settings) ? getNumber(settings, "cleanupPeriodDays") : null;
  } catch {
    return null; // No settings, or none that Claude Code could read either.
  }
}
