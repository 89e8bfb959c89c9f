/**
 * Message runs: finds which lines of a log are one message, for a dialect that gives every line a
 * message id.
 *
 * rye has a line for each block of a message, and has its id, if at all, on the last of them.
 * Without one Entire's writer would make up an id for every line, and split one message into many.
 * So consecutive lines of an assistant get one id: one of theirs, else a new one.
 */

import { randomUUID } from "node:crypto";
import type { Entry } from "../../model/entry.ts";

/** A longer run is cut: it is held in memory until its end. */
export const RUN_ENTRIES_MAX = 256;

/** The same entries; those of an assistant have the id of their message. */
export async function* withMessageIds<T extends Entry>(
  entries: AsyncIterable<T>,
): AsyncGenerator<T> {
  let run: T[] = [];
  let id: string | null = null;
  for await (const entry of entries) {
    const told = entry.messageId ?? null;
    const isOther = id !== null && told !== null && told !== id;
    if (isBreak(entry) || isOther || run.length === RUN_ENTRIES_MAX) {
      yield* named(run, id);
      [run, id] = [[], null];
    }
    run.push(entry);
    if (isSpoken(entry)) id ??= told;
  }
  yield* named(run, id);
}

function* named<T extends Entry>(run: readonly T[], told: string | null): Generator<T> {
  const messageId = told ?? `msg_${randomUUID().replaceAll("-", "")}`;
  for (const entry of run) yield isSpoken(entry) ? { ...entry, messageId } : entry;
}

function isSpoken({ kind, role }: Entry): boolean {
  return kind === "message" && role === "assistant";
}

/** After another speaker, or where a turn begins, the assistant begins a new message. */
function isBreak({ kind, role }: Entry): boolean {
  return kind === "message" ? role !== "assistant" : kind === "turn_start" || kind === "start";
}
