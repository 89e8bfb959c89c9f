/**
 * Trace: where in the log of a session its prompts, responses and tool calls are.
 *
 * The ledger has no places and no text. A trace finds the responses of a log with the same scanners
 * that count it, so that each has the key under which the ledger knows it. It is kept nowhere.
 */

import type { Host } from "../../core/base/host.ts";
import type { Entry } from "../../core/model/entry.ts";
import { dialectNamed, loadDialects } from "../../dialects/all.ts";
import type { Reading, Subagents } from "../../dialects/facets/reading.ts";
import { registryEntry } from "../../dialects/registry.ts";
import { typedIn } from "../../dialects/shared/typed-text.ts";
import { SessionWindow } from "../../sessions/list/session-window.ts";
import { Store } from "../../sessions/store/store.ts";
import { EntryUsage } from "../entry-rows.ts";
import type { LedgerFile } from "../ledger/pack.ts";
import { RowSet, scopeHash } from "../row-set.ts";
import { MessageRows } from "../scan/message-rows.ts";
import { TotalRows } from "../scan/total-rows.ts";
import { Slices } from "../slices.ts";
import { FLAGS } from "../usage-row.ts";

export interface TracedPrompt {
  /** Offset of its line. */
  readonly start: number;
  /** Milliseconds since 1970; NaN if unknown. */
  readonly at: number;
  /** The beginning of what the user typed. */
  readonly text: string;
}

/** A row of the log with the usage of a response, and the key of that response in the ledger. */
export interface TracedResponse {
  readonly start: number;
  readonly keyHigh: number;
  readonly keyLow: number;
  readonly request: number;
}

export interface Trace {
  readonly prompts: readonly TracedPrompt[];
  /** In the order of the log; a response may have several rows. */
  readonly responses: readonly TracedResponse[];
  /** Entries that call tools: where they are, and how many calls each has. */
  readonly calls: readonly { readonly start: number; readonly count: number }[];
  /** Sessions that this one started, by name: where it says so. */
  readonly started: ReadonlyMap<string, number>;
}

/** Other work runs after each. */
const PIECE = { entriesMax: 512, bytesMax: 256 * 1024 };
const TEXT_CHARS_MAX = 200;
const LF = 0x0a;

/** Throws as reading does, with LOG_NOT_FOUND if the log is gone. `keys` receives each response. */
export async function traceLog(
  host: Host,
  file: LedgerFile,
  keys: KeySet = new KeySet(file.scope),
): Promise<Trace> {
  const { dialect: name, root, id } = file;
  await loadDialects([name]);
  const dialect = dialectNamed(name);
  const { usageIn } = registryEntry(name);
  const store = new Store(host, { dialect: name, root, onWarning: () => {} });
  const session = store.session(id);
  const entries = new EntryTrace(dialect.reading);
  const slices = new Slices();
  try {
    const window = await SessionWindow.open(host, session);
    try {
      const memory = dialect.reading.remembers?.();
      const used = new EntryUsage(keys, (start) => {
        keys.start = start;
      });
      for (let at = 0; at < window.end; ) {
        const lines = await window.after(at, PIECE, memory);
        if (lines.length === 0) break;
        for (const { entry, start, end } of lines) {
          at = end;
          if (entry === null) continue;
          entries.add(entry, start);
          if (usageIn === undefined) used.add(entry, start, memory);
        }
        await slices.pause();
      }
      used.end();
      if (usageIn !== undefined) {
        const scanner = new { messages: MessageRows, totals: TotalRows }[usageIn](keys);
        scanner.begin(null);
        await eachLine(window, slices, (bytes, from, to, offset) => {
          keys.start = offset;
          scanner.scan(bytes, from, to, offset);
        });
      }
    } finally {
      window.close();
    }
  } finally {
    await session.release();
  }
  const { prompts, calls, started } = entries;
  return { prompts, calls, started, responses: keys.responses };
}

/** Keeps the keys of rows, and no rows. */
export class KeySet extends RowSet {
  /** Offset of the current line. */
  start = 0;
  readonly responses: TracedResponse[] = [];
  readonly #scope: { readonly high: number; readonly low: number };

  constructor(scope: string) {
    super();
    const { high, low } = scopeHash(scope);
    this.#scope = { high, low };
  }

  override put(): void {
    const { keyHigh, keyLow, request } = this.next;
    const scope = this.next.has(0, FLAGS.ofSession) ? this.#scope : { high: 0, low: 0 };
    this.responses.push({
      start: this.start,
      keyHigh: ((keyHigh[0] ?? 0) ^ scope.high) >>> 0,
      keyLow: ((keyLow[0] ?? 0) ^ scope.low) >>> 0,
      request: request[0] ?? 0,
    });
  }
}

class EntryTrace {
  readonly prompts: TracedPrompt[] = [];
  readonly calls: { start: number; count: number }[] = [];
  readonly started = new Map<string, number>();
  readonly #subagents: Subagents | undefined;

  constructor({ subagents }: Reading) {
    this.#subagents = subagents;
  }

  add(entry: Entry, start: number): void {
    const { kind, role, parts, at } = entry;
    const isPrompt = kind === "message" && role === "user" && entry.saidBy === undefined;
    const text = isPrompt ? typedIn(parts) : null;
    if (text !== null) {
      const ms = at === null ? Number.NaN : Date.parse(at);
      this.prompts.push({ start, at: ms, text: text.slice(0, TEXT_CHARS_MAX) });
    }
    const count = parts.filter(({ type }) => type === "tool_call").length;
    if (count > 0) this.calls.push({ start, count });
    for (const part of parts) if (part.type === "child") this.#start(part.session, start);
    for (const { name } of this.#subagents?.startedIn?.(entry) ?? []) this.#start(name, start);
  }

  #start(session: string, start: number): void {
    const name = session.slice(session.lastIndexOf("/") + 1);
    if (!this.started.has(name)) this.started.set(name, start);
  }
}

type OnLine = (bytes: Buffer, from: number, to: number, offset: number) => void;

async function eachLine({ log }: SessionWindow, slices: Slices, onLine: OnLine): Promise<void> {
  let held: Buffer = Buffer.alloc(0);
  for (let at = 0; at < log.bytesEnd; at += PIECE.bytesMax) {
    const piece = await log.bytes(at, at + PIECE.bytesMax);
    const bytes = held.length === 0 ? piece : Buffer.concat([held, piece]);
    const offset = at - held.length;
    let from = 0;
    for (let lf = bytes.indexOf(LF); lf >= 0; lf = bytes.indexOf(LF, from)) {
      onLine(bytes, from, lf + 1, offset + from);
      from = lf + 1;
    }
    held = bytes.subarray(from);
    await slices.pause();
  }
  if (held.length > 0) onLine(held, 0, held.length, log.bytesEnd - held.length);
}

/** Of the copy with the most bytes that can be read; null: none can. */
export async function traceCopies(
  host: Host,
  copies: readonly LedgerFile[],
): Promise<Trace | null> {
  for (const file of [...copies].sort((a, b) => b.size - a.size)) {
    try {
      return await traceLog(host, file);
    } catch {
      // Gone, or not ours to read: the next copy.
    }
  }
  return null;
}
