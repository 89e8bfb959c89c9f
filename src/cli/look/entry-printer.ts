/** Entry printer: prints a session's entries for people, or one by one as JSON. */

import { listedAside } from "../../dialects/facets/reading.ts";
import type { StoredEntry } from "../../dialects/files/stored-entries.ts";
import { toolViews } from "../../dialects/tool-table.ts";
import { OutlineFold } from "../../sessions/outline/outline-fold.ts";
import { editPlaces } from "../../sessions/render/html/placed-entry.ts";
import { SessionText } from "../../sessions/render/session-text.ts";
import type { Session } from "../../sessions/store/session.ts";
import type { Io, Run } from "../command/command.ts";
import { ChunkedOutput, jsonLine } from "../command/output.ts";
import { tellUnshown } from "./named-session.ts";

/** Prints entries as the options ask, and counts those that were not shown. */
export class EntryPrinter {
  readonly #io: Io;
  readonly #output: ChunkedOutput;
  readonly #session: Session;
  /** Null for JSON. */
  readonly #text: SessionText | null;
  /** Knows turns, and the places of edits in files. */
  readonly #outline: OutlineFold;
  /** The first directory that a line names. */
  #project: string | null = null;
  /** Whether anything was printed. */
  hasPrinted = false;

  constructor({ options, io }: Run, session: Session) {
    this.#io = io;
    this.#output = new ChunkedOutput(io);
    this.#session = session;
    this.#outline = new OutlineFold(session.dialect.reading);
    const shown = {
      thinking: options.thinking === true,
      tools: options.tools !== false,
      hasColour: io.hasColour,
      isFolded: io.isTerminal && options.full !== true,
      isLive: options.follow === true,
      project: () => this.#project,
    };
    this.#text =
      options.json === true
        ? null
        : new SessionText(shown, (start, part) => editPlaces(this.#outline.marks, start, part));
  }

  /** Prints the entry, now or together with later ones. */
  add(entry: StoredEntry): Promise<void> {
    return this.#print(this.#text === null ? jsonLine(entry) : this.#textOf(entry, this.#text));
  }

  /** Prints what waits, too. */
  async flush(): Promise<void> {
    await this.#print(this.#text?.end() ?? "");
    await this.#output.flush();
  }

  /** Prints what waits and what the last turn took. */
  async end(): Promise<void> {
    const turn = this.#outline.exchanges.at(-1);
    if (turn) await this.#print(this.#text?.turn(turn) ?? "");
    await this.flush();
  }

  #textOf(entry: StoredEntry, text: SessionText): string {
    const { id, dialect } = this.#session;
    const { reading } = dialect;
    this.#project ??= reading.about?.(entry.native, id)?.cwd ?? null;
    const { exchanges } = this.#outline;
    const before = exchanges.at(-1);
    const count = exchanges.length;
    this.#outline.add(entry, entry.start, listedAside(reading, entry.native, id));
    const turn = before && exchanges.length > count ? text.turn(before) : "";
    const tools = toolViews(reading.tools, entry.parts);
    const results = reading.resultViews?.(entry.native) ?? [];
    return turn + text.add({ ...entry, tools, results });
  }

  #print(text: string): Promise<void> {
    this.hasPrinted ||= text !== "";
    return this.#output.add(text);
  }

  tellUnshown(): void {
    tellUnshown(this.#text?.unshown ?? 0, this.#io);
  }
}
