/**
 * Entire files: computes `prompt.txt` and `context.md` of a session from its log, and writes them.
 * Writers must hold the log's lock.
 *
 * EF1  An existing prompt.txt is never changed, whichever program wrote it. A context.md is
 * replaced only if it is one of ours.
 */

import { errnoOf } from "../../../core/base/errors.ts";
import type { Directory } from "../../../core/base/files.ts";
import type { Host } from "../../../core/base/host.ts";
import { type ByteOffset, START } from "../../../core/base/offset.ts";
import { readSmallFile, replaceFile, replaceFileDurably } from "../../../core/base/replace.ts";
import type { Durability } from "../../../core/log/log-options.ts";
import { LogReader } from "../../../core/log/reader.ts";
import type { Native } from "../../../core/model/entry.ts";
import { restoreSpilled } from "../../files/spill-files.ts";
import { ContextFold, isOurContext, promptIn } from "../context.ts";
import { decode } from "../decode.ts";
import { CONTEXT_NAME, PROMPT_NAME } from "../session-id.ts";
import { spilling } from "../spill.ts";

/** A session and its log. */
export interface EntireLog {
  readonly host: Host;
  readonly root: string;
  /** Path of the log below the root. */
  readonly logId: string;
}

/** Expected content of the two files. */
export interface EntireTexts {
  /** Null if there is no user message yet. */
  readonly prompt: string | null;
  readonly context: ContextFold;
}

/** Both texts, from the log in one pass. Reads spilled strings in `directory`. */
export async function entireTexts(log: EntireLog, directory: Directory): Promise<EntireTexts> {
  const context = new ContextFold();
  let prompt: string | null = null;
  for await (const { value } of rowsOf(log, START)) {
    const { entry } = decode(value);
    if (entry) context.add(entry);
    prompt ??= await wholePrompt(directory, value);
  }
  return { prompt, context };
}

/** The first prompt in the log from `from` on, or null. */
export async function firstPrompt(
  log: EntireLog,
  directory: Directory,
  from: ByteOffset,
  to: ByteOffset,
): Promise<string | null> {
  if (from >= to) return null;
  for await (const { value } of rowsOf(log, from, to)) {
    const prompt = await wholePrompt(directory, value);
    if (prompt !== null) return prompt;
  }
  return null;
}

function rowsOf({ host, root, logId }: EntireLog, from: ByteOffset, to?: ByteOffset) {
  const options = { root, onBadLine: "skip", takesUnterminated: true } as const;
  const range = to === undefined ? { from } : { from, to };
  return new LogReader(host, logId, options).forward(range);
}

/** The prompt in a row, with its spilled strings restored if possible. */
async function wholePrompt(directory: Directory, value: unknown): Promise<string | null> {
  const prompt = promptIn(value);
  if (prompt === null || spilling.referencesOf(value, "").length === 0) return prompt;
  const restored = await restoreSpilled(directory, spilling, value as Native, "");
  return "native" in restored ? promptIn(restored.native) : prompt;
}

/** Whether prompt.txt exists, whichever program made it. */
export function hasPrompt(directory: Directory): boolean {
  try {
    directory.open(PROMPT_NAME, "read").close();
    return true;
  } catch (cause) {
    return errnoOf(cause) !== "ENOENT"; // A link, or unreadable: not ours to replace.
  }
}

/** Writes prompt.txt unless it exists (EF1). */
export async function writePrompt(directory: Directory, prompt: string): Promise<void> {
  if (!hasPrompt(directory)) await replaceFileDurably(directory, PROMPT_NAME, prompt);
}

/** The same without waiting for the disk. */
export function writePromptNow(directory: Directory, prompt: string): void {
  if (!hasPrompt(directory)) replaceFile(directory, PROMPT_NAME, prompt);
}

/** Writes context.md, unless the file is already right or not ours (EF1). */
export async function writeContext(
  directory: Directory,
  text: string,
  durability: Durability,
): Promise<void> {
  const there = await readSmallFile(directory, CONTEXT_NAME);
  if (there === text || (there !== null && !isOurContext(there))) return;
  if (durability === "disk") await replaceFileDurably(directory, CONTEXT_NAME, text);
  else replaceFile(directory, CONTEXT_NAME, text);
}

/** State of the two files of a session. */
export interface EntireFilesState {
  /**
   * `missing`: the log has a prompt, and there is no prompt.txt. An existing one is not checked.
   */
  readonly prompt: "right" | "missing";
  /** `foreign`: written by another program, and not checked. */
  readonly context: "right" | "missing" | "stale" | "foreign";
}

/** Checks both files without writing. */
export async function examineEntireFiles(
  { prompt, context }: EntireTexts,
  directory: Directory,
  sessionId: string,
): Promise<EntireFilesState> {
  const there = await readSmallFile(directory, CONTEXT_NAME);
  return {
    prompt: prompt === null || hasPrompt(directory) ? "right" : "missing",
    context: contextState(context, there, sessionId),
  };
}

function contextState(
  context: ContextFold,
  there: string | null,
  sessionId: string,
): EntireFilesState["context"] {
  if (there === null) return "missing";
  if (!isOurContext(there)) return "foreign";
  return context.isSaidBy(there, sessionId) ? "right" : "stale";
}

/** Writes what is missing or stale, durably; returns the state before. */
export async function mendEntireFiles(
  texts: EntireTexts,
  directory: Directory,
  sessionId: string,
): Promise<EntireFilesState> {
  const found = await examineEntireFiles(texts, directory, sessionId);
  if (found.prompt === "missing" && texts.prompt !== null) {
    await writePrompt(directory, texts.prompt);
  }
  if (found.context === "missing" || found.context === "stale") {
    await writeContext(directory, texts.context.text(sessionId), "disk");
  }
  return found;
}
