/** Usage numbers: dollars, tokens and bars as people read them. */

const EIGHTHS = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

export function dollars(amount: number): string {
  const digits = amount !== 0 && Math.abs(amount) < 0.01 ? 4 : 2;
  return `$${amount.toFixed(digits).replace(/\B(?=(\d{3})+\.)/g, ",")}`;
}

interface Costs {
  readonly cost: number;
  readonly unpriced: number;
  readonly total: number;
  readonly unknownInputs?: number;
}

/** "$1.20", "unknown", or "$1.20 + ?" where a part has no known price, or was not recorded. */
export function costText({ cost, unpriced, total, unknownInputs = 0 }: Costs): string {
  if (unpriced > 0 && unpriced === total) return "unknown";
  return unpriced + unknownInputs > 0 ? `${dollars(cost)} + ?` : dollars(cost);
}

/** "1,234", or "1,234 + ?" where the input of some responses was not recorded. */
export function totalText(
  { total, unknownInputs }: { readonly total: number; readonly unknownInputs: number },
  isShort = false,
): string {
  return unknownInputs > 0 ? `${tokens(total, isShort)} + ?` : tokens(total, isShort);
}

/** "1,234", or "29.8M" if it must be short. */
export function tokens(count: number, isShort = false): string {
  if (!isShort) return Math.round(count).toLocaleString("en-US");
  for (const [size, unit] of [
    [1e9, "B"],
    [1e6, "M"],
    [1e3, "k"],
  ] as const) {
    if (count >= size) return `${(count / size).toFixed(count >= 100 * size ? 0 : 1)}${unit}`;
  }
  return String(Math.round(count));
}

/** `value` of `most` as a bar of at most `width` columns; a value that is not 0 has some. */
export function bar(value: number, most: number, width: number): string {
  if (!(value > 0) || !(most > 0)) return "";
  const eighths = Math.max(1, Math.round((value / most) * width * 8));
  return "█".repeat(eighths >> 3) + (EIGHTHS[eighths & 7] ?? "");
}
