/** Result note: what a result says in a few words: `4 files`, `12 lines`; and how long it took. */

import type { ToolView } from "../../model/tool-view.ts";
import { grouped } from "../phrases.ts";
import { blockTexts, imageLabel } from "../text.ts";
import type { PlacedResult, ResultPart } from "./call-results.ts";

/** A longer time is not one call's: the session was left and continued. */
const TOOK_MAX_MS = 24 * 3600 * 1000;

/** Whether an output has a picture. */
export function hasImage(output: unknown): boolean {
  return Array.isArray(output)
    ? output.some((block) => imageLabel(block) !== null)
    : imageLabel(output) !== null;
}

/** The text of an output; null when it is not a text, or has a picture. */
export function outputText(output: unknown): string | null {
  if (typeof output === "string") return output;
  if (hasImage(output)) return null;
  return blockTexts(output)?.join("\n") ?? null;
}

/** Milliseconds as recorded, or between the two lines; null if unknown. */
export function tookOf(called: string | null, result: PlacedResult | null): number | null {
  if (result === null) return null;
  if (result.part.durationMs !== null) return result.part.durationMs;
  const ms = Date.parse(result.at ?? "") - Date.parse(called ?? "");
  return ms >= 0 && ms <= TOOK_MAX_MS ? ms : null; // Not NaN.
}

/** Null when there is nothing to add to the call's own words. */
export function resultNote({ kind }: ToolView, { output, error }: ResultPart): string | null {
  if (error !== null || (kind !== "search" && kind !== "list")) return null;
  const text = outputText(output)?.trim() ?? null;
  if (text === null) return null;
  const [, found, what] = /^Found (\d{1,9}) (files?|matches|match|lines?)\b/.exec(text) ?? [];
  if (found !== undefined) return `${grouped(Number(found))} ${what}`;
  if (text === "" || /^No (?:files|matches)\b[^\n]*$/i.test(text)) return "nothing found";
  const lines = text.split("\n");
  const count = grouped(lines.length);
  const areFiles = kind === "search" && lines.every((line) => /^[^\s:]*[/.][^\s:]*$/.test(line));
  const name = areFiles ? "file" : kind === "list" ? "entry" : "line";
  if (lines.length === 1) return `1 ${name}`;
  return `${count} ${name === "entry" ? "entries" : `${name}s`}`;
}
