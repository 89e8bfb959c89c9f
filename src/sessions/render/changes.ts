/**
 * Changes: what a tool's input or output changes in files, as numbered lines.
 *
 * CH1  A number is the line's own in its file, or there is none: from the hunks that the agent
 *      recorded, from an earlier call that shows these lines, or from the tool's answer.
 */

import {
  type DiffLine,
  diffLines,
  type NumberedLine,
  numberLines,
  PATCH,
  readDiff,
  readHunks,
} from "./html/diff-lines.ts";

/** One changed place in a file. */
interface Change {
  readonly lines: readonly DiffLine[];
  /** The new text, to find its lines in what the tool answered. */
  readonly after: string | null;
  /** It is all of the file. */
  readonly isWhole?: true;
}

/** A change that a value asks for, or is. */
export interface ValueChanges {
  readonly list: readonly Change[];
  /** Fields that are not part of it. */
  readonly rest: Readonly<Record<string, unknown>>;
  readonly added: number;
  readonly removed: number;
}

/** Field names of a change that several agents' tools share. */
const PAIRS = [
  ["old_string", "new_string"],
  ["old_str", "new_str"],
  ["oldText", "newText"],
  ["oldString", "newString"],
] as const;

/** Fields that hold a diff as text. */
const PATCHES = ["patch", "diff", "input", "patchText"] as const;
/** Fields with the whole content of a file. */
const CONTENTS = ["content", "file_text", "contents", "text"] as const;

type Fields = Readonly<Record<string, unknown>>;

/** The change in a value; null when it has none. `isWhole`: it may be a new file's content. */
export function changesIn(value: unknown, isWhole = false): ValueChanges | null {
  if (typeof value === "string") {
    const lines = readDiff(value);
    return lines === null ? null : counted([{ lines, after: null }], {});
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  const input = value as Fields;
  const whole = isWhole ? contentIn(input) : null;
  const pair = pairIn(input) ?? patchIn(input) ?? editsIn(input) ?? whole;
  if (pair === null) return null;
  const rest = Object.entries(input).filter(([name]) => !pair.names.includes(name));
  return counted(pair.list, Object.fromEntries(rest));
}

function counted(list: readonly Change[], rest: Fields): ValueChanges {
  const count = (kind: DiffLine["kind"]) =>
    list.reduce((sum, { lines }) => sum + lines.filter((line) => line.kind === kind).length, 0);
  return { list, rest, added: count("new"), removed: count("gone") };
}

/**
 * The same changes as the hunks that the agent recorded, which have lines around them and numbers.
 * Hunks that change other lines are not used: rows and lists count those of the input.
 */
export function recordedChanges(changes: ValueChanges, diff: string): ValueChanges {
  const lines = readHunks(diff);
  if (lines === null) return changes;
  const recount = counted([{ lines, after: null }], changes.rest);
  const isSame = recount.added === changes.added && recount.removed === changes.removed;
  return isSame ? recount : changes;
}

/** Where the lines of a change may be found. */
export interface Numbers {
  /** The first line of each run of lines, in order; null where it is not known. */
  readonly places: readonly (number | null)[];
  /** What the tool said: some repeat the changed lines with their numbers. */
  readonly answer: string | null;
}

/** The lines of each changed place, with their numbers. */
export function numberedChanges(
  { list }: ValueChanges,
  { places, answer }: Numbers = { places: [], answer: null },
): NumberedLine[][] {
  let run = 0;
  return list.map(({ lines, after, isWhole = false }) => {
    const starts = places.slice(run);
    run += Math.max(1, runsIn(lines));
    const answerLine = after === null || answer === null ? null : answeredLine(after, answer);
    return numberLines(lines, isWhole ? [1] : starts.length > 0 ? starts : [answerLine]);
  });
}

function runsIn(lines: readonly DiffLine[]): number {
  return lines.filter(({ kind }, at) => {
    return kind !== "place" && (at === 0 || lines[at - 1]?.kind === "place");
  }).length;
}

interface FieldChanges {
  /** The fields that the diff shows. */
  readonly names: readonly string[];
  readonly list: readonly Change[];
}

function pairIn(input: Fields): FieldChanges | null {
  for (const names of PAIRS) {
    const [before, after] = names.map((name) => input[name]);
    if (typeof before === "string" && typeof after === "string") {
      return { names, list: [{ lines: diffLines(before, after), after }] };
    }
  }
  return null;
}

function patchIn(input: Fields): FieldChanges | null {
  const applied = [input.command].flat().find(isPatch);
  if (applied !== undefined) {
    const lines = readDiff(applied.slice(applied.indexOf(PATCH))) ?? [];
    return { names: ["command"], list: [{ lines, after: null }] };
  }
  for (const name of PATCHES) {
    const text = input[name];
    const lines = typeof text === "string" ? readDiff(text) : null;
    if (lines !== null) return { names: [name], list: [{ lines, after: null }] };
  }
  return null;
}

/** A command that applies a patch. */
function isPatch(text: unknown): text is string {
  return typeof text === "string" && text.includes(PATCH);
}

/** Several changes at once: all of them are pairs and nothing else, or it is not a diff. */
function editsIn({ edits }: Fields): FieldChanges | null {
  if (!Array.isArray(edits) || edits.length === 0) return null;
  const changes: Change[] = [];
  for (const edit of edits) {
    if (typeof edit !== "object" || edit === null) return null;
    const pair = pairIn(edit as Fields);
    if (pair === null || Object.keys(edit).length !== pair.names.length) return null;
    changes.push(...pair.list);
  }
  return { names: ["edits"], list: changes };
}

function contentIn(input: Fields): FieldChanges | null {
  const name = CONTENTS.find((each) => typeof input[each] === "string");
  if (name === undefined) return null;
  const after = String(input[name]);
  return { names: [name], list: [{ lines: diffLines("", after), after: null, isWhole: true }] };
}

/** A line with its number, as tools print files: `  12→text`. */
const PRINTED = /^ *(\d{1,9})(?:→|\t|: |\| )(.*)$/;
const PRINTED_LINES_MAX = 2000;

/** The number of the text's first line in the answer, if it is there once; null otherwise (CH1). */
function answeredLine(after: string, answer: string): number | null {
  const wanted = after.replace(/\n$/, "").split("\n");
  const printed = answer.split("\n", PRINTED_LINES_MAX).flatMap((line) => {
    const [, number, text = ""] = PRINTED.exec(line) ?? [];
    return number === undefined ? [] : [{ number: Number(number), text }];
  });
  const matches = printed.filter((first, at) => {
    return wanted.every((line, n) => {
      const { number, text } = printed[at + n] ?? {};
      return number === first.number + n && text === line;
    });
  });
  return matches.length === 1 ? (matches[0]?.number ?? null) : null;
}

export const SIGNS = { gone: "-", new: "+", same: " ", place: "" } as const;
