/** JSON line: a value as one line of JSON, with terminal control characters escaped. */

import { jsonText, safeText } from "../../sessions/render/text.ts";

export function jsonLine(value: unknown): string {
  return `${safeText(jsonText(value))}\n`;
}
