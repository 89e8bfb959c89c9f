/** JSON line: a value as one line of JSON, with terminal control characters escaped. */

import { jsonText } from "../render/json-text.ts";
import { safeText } from "../render/safe-text.ts";

export function jsonLine(value: unknown): string {
  return `${safeText(jsonText(value))}\n`;
}
