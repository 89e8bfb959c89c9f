/** CSV: lines of comma-separated values (RFC 4180), safe to print and to open in a spreadsheet. */

import { safeText } from "./text.ts";

export function csvLine(cells: readonly unknown[]): string {
  return `${cells.map(csvCell).join(",")}\r\n`;
}

/** A cell that a spreadsheet would take for a formula gets a quote before it. */
function csvCell(value: unknown): string {
  const text = safeText(String(value));
  const safe = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
