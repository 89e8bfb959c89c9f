/** Retention: how long Claude Code keeps a session before it deletes it at its next start. */

import { readUserFile } from "../../../base/node-user-files.ts";
import type { Retention } from "../../agent-program.ts";
import { getNumber, isObject } from "../../fields.ts";

const DAYS_DEFAULT = 30;
const SETTINGS_BYTES_MAX = 2 ** 24;

export function retention(root: string): Retention {
  const set = settingIn(`${root}/settings.json`);
  return { days: set ?? DAYS_DEFAULT, setting: `cleanupPeriodDays in ${root}/settings.json` };
}

function settingIn(path: string): number | null {
  try {
    const rules = { bytesMax: SETTINGS_BYTES_MAX, access: "anyone", followsLinks: true } as const;
    const settings: unknown = JSON.parse(readUserFile(path, rules)?.text ?? "");
    return isObject(settings) ? getNumber(settings, "cleanupPeriodDays") : null;
  } catch {
    return null; // No settings, or none that Claude Code could read either.
  }
}
