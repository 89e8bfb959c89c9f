/**
 * JSON spans: positions of the values in a JSON text, so that one can be added or removed without
 * changing any other byte. The text must be valid JSON.
 */

export interface JsonSpan {
  readonly start: number;
  readonly end: number;
}

/** A member of an object, or an element of a list (`key` is empty). */
export interface Item extends JsonSpan {
  readonly key: string;
  readonly value: JsonSpan;
}

/** Text that replaces a span. */
export interface Edit extends JsonSpan {
  readonly text: string;
}

/** The items of the object or list that begins at `start`, and its end. */
export function itemsAt(text: string, start: number): { items: Item[]; end: number } {
  const isObject = text[start] === "{";
  const items: Item[] = [];
  let at = afterSpace(text, start + 1);
  while (text[at] !== "}" && text[at] !== "]") {
    const begin = at;
    let key = "";
    if (isObject) {
      const end = endOfString(text, at);
      key = JSON.parse(text.slice(at, end)) as string;
      at = afterSpace(text, afterSpace(text, end) + 1); // The colon.
    }
    const value = { start: at, end: endOfValue(text, at) };
    items.push({ key, start: begin, end: value.end, value });
    at = afterSpace(text, value.end);
    if (text[at] === ",") at = afterSpace(text, at + 1);
  }
  return { items, end: at + 1 };
}

/** Removes items with their commas. `container` begins at its bracket. */
export function withoutItems(
  container: JsonSpan,
  items: readonly Item[],
  isOut: (item: Item) => boolean,
): Edit[] {
  if (items.every(isOut)) return [{ start: container.start + 1, end: container.end - 1, text: "" }];
  let hasKept = false;
  return items.flatMap((item, n) => {
    if (!isOut(item)) {
      hasKept = true;
      return [];
    }
    const [before, after] = [items[n - 1], items[n + 1]];
    if (hasKept && before) return [{ start: before.end, end: item.end, text: "" }];
    return [{ start: item.start, end: after?.start ?? item.end, text: "" }];
  });
}

/** Adds text as the last item. `indent` is the items' indent; null keeps everything on one line. */
export function withItem(
  text: string,
  container: JsonSpan,
  item: string,
  indent: string | null,
): Edit {
  const last = itemsAt(text, container.start).items.at(-1);
  const lead = indent === null ? "" : `\n${indent}`;
  if (last) return { start: last.end, end: last.end, text: `,${lead || " "}${item}` };
  const close = indent === null ? "" : `\n${indent.slice(0, -unitOf(text).length)}`;
  return { start: container.start + 1, end: container.end - 1, text: `${lead}${item}${close}` };
}

/** Applies the last edit first, so that earlier positions stay valid. */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  const sorted = [...edits].sort((a, b) => b.start - a.start);
  return sorted.reduce(
    (t, { start, end, text: put }) => t.slice(0, start) + put + t.slice(end),
    text,
  );
}

/** The text's indent unit; two spaces if it has none. */
export function unitOf(text: string): string {
  return /^\{\r?\n([ \t]+)/.exec(text.trimStart())?.[1] ?? "  ";
}

export function afterSpace(text: string, from: number): number {
  let at = from;
  while (/\s/.test(text[at] ?? "")) at++;
  return at;
}

function endOfValue(text: string, at: number): number {
  const first = text[at] ?? "";
  if (first === '"') return endOfString(text, at);
  if (first === "{" || first === "[") return itemsAt(text, at).end;
  const rest = text.slice(at);
  return at + (/^[\w+.-]+/.exec(rest)?.[0].length ?? 1);
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at + 1;
}
