/**
 * Diff lines: which lines went, which came, which stayed.
 *
 * DL1  What went and what stayed is the old text, in order; what came and what stayed the new one.
 * DL2  The work is bounded: lines that are alike at both ends are put aside, and of what is left
 *      the shortest difference is looked for up to COMPARED_MAX pairs of lines. Beyond that all old
 *      lines went and all new ones came.
 */

export const COMPARED_MAX = 250_000;

export interface DiffLine {
  readonly kind: "gone" | "new" | "same" | "place";
  readonly text: string;
}

/** The difference between two texts, line by line. */
export function diffLines(before: string, after: string): DiffLine[] {
  const old = linesOf(before);
  const now = linesOf(after);
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head++;
  let tail = 0;
  const most = Math.min(old.length, now.length) - head;
  while (tail < most && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail++;
  return [
    ...old.slice(0, head).map((text) => ({ kind: "same", text }) as const),
    ...changed(old.slice(head, old.length - tail), now.slice(head, now.length - tail)),
    ...old.slice(old.length - tail).map((text) => ({ kind: "same", text }) as const),
  ];
}

function linesOf(text: string): string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

function changed(old: readonly string[], now: readonly string[]): DiffLine[] {
  if (old.length * now.length > COMPARED_MAX) {
    return [
      ...old.map((text) => ({ kind: "gone", text }) as const),
      ...now.map((text) => ({ kind: "new", text }) as const),
    ];
  }
  const width = now.length + 1;
  const common = commonLengths(old, now);
  const lines: DiffLine[] = [];
  let at = 0;
  let to = 0;
  while (at < old.length || to < now.length) {
    const text = old[at];
    const other = now[to];
    if (text !== undefined && text === other) {
      lines.push({ kind: "same", text });
      at++;
      to++;
    } else if (
      text !== undefined &&
      (other === undefined ||
        (common[(at + 1) * width + to] ?? 0) >= (common[at * width + to + 1] ?? 0))
    ) {
      lines.push({ kind: "gone", text });
      at++;
    } else if (other !== undefined) {
      lines.push({ kind: "new", text: other });
      to++;
    }
  }
  return lines;
}

/** For each pair of places: how many lines the rests have in common, in order. */
function commonLengths(old: readonly string[], now: readonly string[]): Uint32Array {
  const width = now.length + 1;
  const common = new Uint32Array((old.length + 1) * width);
  for (let at = old.length - 1; at >= 0; at--) {
    for (let to = now.length - 1; to >= 0; to--) {
      common[at * width + to] =
        old[at] === now[to]
          ? (common[(at + 1) * width + to + 1] ?? 0) + 1
          : Math.max(common[(at + 1) * width + to] ?? 0, common[at * width + to + 1] ?? 0);
    }
  }
  return common;
}

/** A text that is a diff already: git's, diff's, or a patch as some agents write it. */
export function readDiff(text: string): DiffLine[] | null {
  if (!UNIFIED.test(text.slice(0, LOOKED_AT)) && !text.startsWith(PATCH)) return null;
  return linesOf(text.replaceAll("\r\n", "\n")).map((line) => ({ kind: kindOf(line), text: line }));
}

/** How far the first hunk is looked for. */
const LOOKED_AT = 4000;
const PATCH = "*** Begin Patch\n";
const UNIFIED = /(?:^|\n)--- [^\n]*\n\+\+\+ [^\n]*\n@@ -\d/;
const HEADS = ["@@", "--- ", "+++ ", "diff ", "index ", "*** "];

function kindOf(line: string): DiffLine["kind"] {
  if (HEADS.some((head) => line.startsWith(head))) return "place";
  if (line.startsWith("+")) return "new";
  return line.startsWith("-") ? "gone" : "same";
}
