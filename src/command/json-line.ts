/** JSON line: a value as one line that no terminal acts on, and that is the same JSON. */

import { jsonText } from "../render/json-text.ts";
import { safeText } from "../render/safe-text.ts";

export function jsonLine(value: unknown): string {
  return `${safeText(jsonText(value))}\n`;
}
