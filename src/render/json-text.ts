/**
 * JSON text: JSON of values that came out of a log, for people and pipes.
 *
 * JT1  Nothing here recurses: a line of 16 MiB can be nested eight million deep, and
 *      JSON.stringify gives up at some thousands.
 * JT2  Indenting never makes much of little: what would pass `charsMax` is printed compactly.
 */

const INDENT = "  ";
/** Indenting a deep line of 16 MiB would take gigabytes. */
export const INDENTED_CHARS_MAX = 32 * 1024 * 1024;

/** Compact JSON of a parsed value. */
export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    return printJson(value, "", Number.POSITIVE_INFINITY) ?? ""; // JT1
  }
}

/** JSON with two spaces of indent, as long as that fits. */
export function indentedJson(value: unknown, charsMax: number = INDENTED_CHARS_MAX): string {
  return printJson(value, INDENT, charsMax) ?? jsonText(value);
}

/** A list or object of which some is printed. */
interface Open {
  readonly keys: readonly string[] | null;
  readonly values: readonly unknown[];
  next: number;
}

/** Null when the text would be longer than `charsMax`. */
function printJson(root: unknown, indent: string, charsMax: number): string | null {
  const stack: Open[] = [];
  let text = "";
  const print = (value: unknown) => {
    const opened = openIfNotEmpty(value);
    if (opened) stack.push(opened);
    text += opened ? (opened.keys ? "{" : "[") : (JSON.stringify(value) ?? "null");
  };
  const newLine = () => {
    if (indent !== "") text += `\n${indent.repeat(stack.length)}`;
  };
  print(root);
  for (let top = stack.at(-1); top; top = stack.at(-1)) {
    if (text.length > charsMax) return null;
    if (top.next === top.values.length) {
      stack.pop();
      newLine();
      text += top.keys ? "}" : "]";
      continue;
    }
    if (top.next > 0) text += ",";
    newLine();
    const key = top.keys?.[top.next];
    if (key !== undefined) text += JSON.stringify(key) + (indent === "" ? ":" : ": ");
    print(top.values[top.next++]);
  }
  return text.length > charsMax ? null : text;
}

function openIfNotEmpty(value: unknown): Open | null {
  if (typeof value !== "object" || value === null) return null;
  if (Array.isArray(value)) return value.length > 0 ? { keys: null, values: value, next: 0 } : null;
  const entries = Object.entries(value).filter(([, held]) => held !== undefined);
  if (entries.length === 0) return null;
  return { keys: entries.map(([key]) => key), values: entries.map(([, held]) => held), next: 0 };
}
