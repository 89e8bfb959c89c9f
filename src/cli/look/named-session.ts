/**
 * Named session: shared by commands that read one session: finding it by its name, and reporting
 * unreadable lines at the end.
 */

import { realpathSync } from "node:fs";
import type { BadEntry } from "../../dialects/files/stored-entries.ts";
import type { FoundSession } from "../../sessions/list/session-place.ts";
import { colourMarkdown } from "../../sessions/render/terminal.ts";
import { safeText } from "../../sessions/render/text.ts";
import type { Session } from "../../sessions/store/session.ts";
import { type Io, type Run, UsageError, wholeNumber } from "../command/command.ts";
import { readingWhereOf } from "../command/options.ts";
import { warnOfJournal } from "./store-notes.ts";

/** The named session; reports an ambiguous name. */
export async function openByName(name: string, run: Run): Promise<Session> {
  const { openFoundSession } = await import("../../sessions/list/session-place.ts");
  const { nodeHost } = await import("../../core/base/node-host.ts");
  return openFoundSession(nodeHost, await findNamed(name, run));
}

/** The same if its id must be known: its lines may contain it. */
export async function openIdentifiedByName(name: string, run: Run): Promise<Session> {
  const { openIdentified } = await import("../../sessions/list/session-place.ts");
  const { nodeHost } = await import("../../core/base/node-host.ts");
  const found = await findNamed(name, run);
  const session = await openIdentified(nodeHost, found);
  if (found.id === null)
    run.io.err(`its lines name the session ${session.id}, so it is shown as that`);
  return session;
}

async function findNamed(name: string, run: Run): Promise<FoundSession> {
  const { options, io } = run;
  if (name === "") throw new UsageError("name a session: the name given is empty");
  const { findSession } = await import("../../sessions/list/find-session.ts");
  const { nodeHost } = await import("../../core/base/node-host.ts");
  const { VerbatimError } = await import("../../core/base/errors.ts");
  let found: FoundSession;
  try {
    found = await findSession(nodeHost, name, readingWhereOf(options));
  } catch (cause) {
    if (!(cause instanceof VerbatimError) || cause.code !== "DISCLOSED_COPY") throw cause;
    const { openCopy } = await import("../prove/verify-copies.ts");
    return openCopy((cause.details as { readonly path: string }).path, run);
  }
  await warnOfJournal([found], io);
  for (const note of await otherFiles(found)) io.err(note);
  if (found.id === null) {
    io.err(`identity: unknown; ${found.path} is not in a store and is read as ${found.dialect}`);
  }
  return options.generation === undefined ? found : keptGeneration(found, options.generation);
}

/** Names the other files of a session that was found by its name. */
export async function otherFiles({ preferredTo = [] }: FoundSession): Promise<string[]> {
  if (preferredTo.length === 0) return [];
  const { dialectNamed } = await import("../../dialects/all.ts");
  return preferredTo.map(({ dialect, path }) => {
    const what = dialectNamed(dialect).program ? "the agent's own file" : "the record of the hooks";
    return `${what} of this session is ${path}; --dialect ${dialect} reads it`;
  });
}

/** The same session as the guard kept it in an earlier generation. */
async function keptGeneration(found: FoundSession, generation: unknown): Promise<FoundSession> {
  const number = wholeNumber("--generation", generation, 1, 1e8);
  const { guardedPlace, guardedRootOf } = await import("../../dialects/files/guard-store.ts");
  const at = guardedPlace(found.root)?.at ?? guardedRootOf(found.dialect, realpathSync(found.root));
  return { ...found, root: `${at}/@${number}` };
}

/** Markdown for people: always escaped, coloured if colours are on. */
export function markdownText(markdown: string, io: Io): string {
  const safe = safeText(markdown);
  return io.hasColour ? colourMarkdown(safe) : safe;
}

/** The exit code of a command that could show nothing of a session with lines. */
export const NOTHING_SHOWN = 7;

/** Reports a session without any message, and which program wrote the file. Returns the text. */
export async function tellNotUnderstood(session: Session, io: Io): Promise<string | null> {
  const { notUnderstood, notUnderstoodText } = await import(
    "../../sessions/list/not-understood.ts"
  );
  const { nodeHost } = await import("../../core/base/node-host.ts");
  const found = await notUnderstood(nodeHost, session);
  const text = found && notUnderstoodText(found);
  if (text !== null) io.err(text);
  return text;
}

/** Reports entries that were not shown. */
export function tellUnshown(count: number, io: Io): void {
  if (count === 0) return;
  if (count === 1) io.err("1 entry has no text and is hidden; --json shows it");
  else io.err(`${count} entries have no text and are hidden; --json shows them`);
}

const BAD_LINES_LISTED_MAX = 5;

/** Skipped bad lines, reported at the end. */
export class BadLines {
  readonly #listed: string[] = [];
  #count = 0;

  readonly add = ({ line, offset, reason }: BadEntry): void => {
    if (reason === "blank") return; // An empty line.
    this.#count++;
    if (this.#count > BAD_LINES_LISTED_MAX) return;
    this.#listed.push(`${line === null ? `at byte ${offset}` : `line ${line}`} (${reason})`);
  };

  tell(io: Io): void {
    if (this.#count === 0) return;
    const more = this.#count - this.#listed.length;
    const lines = this.#count === 1 ? "1 bad line was" : `${this.#count} bad lines were`;
    const listed = [...this.#listed, ...(more > 0 ? [`and ${more} more`] : [])].join(", ");
    io.err(`${lines} skipped: ${listed}`);
  }
}

/** Bytes that a crash left after the log's last line. */
export async function tornBytesOf(session: Session): Promise<number> {
  const reader = session.reader({ onBadLine: "skip" });
  // Reading one line backward finds the end.
  for await (const _ of reader.backward()) break;
  return reader.report.tornBytes;
}

/** Reports bytes that a crash left at the end of the log. */
export async function tellTornTail(session: Session, io: Io): Promise<void> {
  const tornBytes = await tornBytesOf(session);
  if (tornBytes === 0) return;
  io.err(`the log ends with ${tornBytes} torn bytes that a crash left; they are not shown`);
}
