/** Shown entry: what is shown of an entry, in HTML and on a terminal. */

import type { Entry, Part } from "../../core/model/entry.ts";
import type { ToolView } from "../../core/model/tool-view.ts";
import { typedIn } from "../../dialects/shared/typed-text.ts";
import type { CallPlace, CallResults, Calls, ResultPart } from "./html/call-results.ts";
import type { PlacedEntry } from "./html/placed-entry.ts";
import { speakerName } from "./phrases.ts";
import type { CallPart, ShownCall } from "./tool-call.ts";

type SpokenEntry = Pick<Entry, "kind" | "role" | "saidBy" | "parts">;

/** Whether an entry says nothing, but does something: it has no frame. */
export function isDone(entry: SpokenEntry): boolean {
  const { kind, saidBy, parts } = entry;
  if (kind !== "message" && kind !== "other") return false;
  return saidBy !== undefined || isProgramsText(entry) || !parts.some(isSaid);
}

function isSaid(part: Part): boolean {
  return part.type === "text";
}

/** The same entry, with the program as the speaker of text that it wrote in the user role. */
export function withSpeaker(entry: PlacedEntry): PlacedEntry {
  return isProgramsText(entry) ? { ...entry, saidBy: "program" } : entry;
}

/** Text in the user role of which a person typed nothing: a local command, its output, a reminder. */
function isProgramsText({ role, saidBy, parts }: SpokenEntry): boolean {
  if (role !== "user" || saidBy !== undefined || typedIn(parts) !== null) return false;
  return parts.every(isSaid) && parts.some((part) => part.type === "text" && part.text.trim());
}

/** The names of elements, such as `<command-name>`. */
const ELEMENTS = /<\/?[a-z][\w-]*>/gi;

/** What a program's text says, without the names of its elements. */
export function programsWords(text: string): string {
  return text.replace(ELEMENTS, " ").trim();
}

const NAMES_OF_PARTS: Readonly<Partial<Record<Part["type"], string>>> = {
  reasoning: "Thinking",
  tool_call: "Tool call",
  tool_result: "Tool result",
  child: "Session begun",
};

/** The speaker, or what happens in an entry without one. */
export function entryName(entry: Entry): string {
  const { role, parts } = entry;
  const [first] = parts;
  const isOne = parts.every((part) => part.type === first?.type);
  const what = first && isOne ? NAMES_OF_PARTS[first.type] : undefined;
  return what ?? (role === null ? "Entry" : speakerName(entry));
}

/** Reasons of models that have said all they wanted. */
const ORDINARY_STOPS: readonly string[] = [
  "end_turn",
  "tool_use",
  "stop",
  "stop_sequence",
  "toolUse",
  "tool_calls",
  "tool-calls",
  "STOP",
  "completed",
  "endTurn",
];

/** Why the model stopped, if it had more to say. */
export function stopNote({ stopReason = "stop" }: Entry): string | null {
  return ORDINARY_STOPS.includes(stopReason) ? null : `stopped: ${stopReason}`;
}

export type Places = (start: number, part: number) => readonly (number | null)[];

export interface KnownCalls {
  readonly calls: Calls;
  /** The results that are shown with their calls. */
  readonly results: CallResults;
  /** The first lines of the changes of a call, by its entry and part. Default: not known. */
  readonly places?: Places | undefined;
  /** Link to the entry. */
  readonly href: string;
}

/** Null for a result that is shown in the row of its call. */
export function shownCall(
  part: CallPart | ResultPart,
  index: number,
  entry: PlacedEntry,
  { calls, results, places, href: own }: KnownCalls,
): ShownCall | null {
  const { start, line, at } = entry;
  if (part.type === "tool_call") {
    const view = viewOf(part, index, entry);
    if (part.callId !== null) calls.add(part.callId, { view, href: own });
    const result = results.resultOf(start, index);
    const about = results.viewOf(part.callId);
    const lines = places?.(start, index) ?? [];
    return { view, call: part, result, at, index, href: null, about, places: lines };
  }
  if (results.callOf(start, index) !== null) return null;
  const { view, href }: Pick<CallPlace, "view"> & { href: string | null } = calls.get(
    part.callId,
  ) ?? { view: UNKNOWN, href: null };
  const result = { part, at, start, line, index };
  const resultFacts = { about: results.viewOf(part.callId), places: [] };
  return { view, call: null, result, at: null, index, href, ...resultFacts };
}

const UNKNOWN: ToolView = { kind: "other", verb: "Result", subject: null, path: null, lines: null };

function viewOf({ tool }: CallPart, index: number, { parts, tools = [] }: PlacedEntry): ToolView {
  const before = parts.slice(0, index).filter(({ type }) => type === "tool_call").length;
  return tools[before] ?? { ...UNKNOWN, verb: tool };
}
