/**
 * Scan session: the finds in one session's log, its spill files and its checkpoint sidecar.
 *
 * Reads the log once, from where the last scan ended. Only a line with a find is parsed, to say
 * which tool printed the value; and then, if the call is not in the same line, the lines before it.
 *
 * - What was not searched is in `unscanned`: an overlong line, torn bytes, a spill file that is
 *   missing or changed, a line on which a user's pattern took too long.
 *
 * Which tool: the part of an entry that contains a value, and the tool that printed it.
 */

import { basename, dirname } from "node:path";
import { VerbatimError } from "../../core/base/errors.ts";
import type { Host } from "../../core/base/host.ts";
import { LOG_LIMITS } from "../../core/base/limits.ts";
import { LogWindow } from "../../core/log/window.ts";
import type { Part } from "../../core/model/entry.ts";
import { hostOf } from "../../dialects/all.ts";
import type { Dialect } from "../../dialects/dialect.ts";
import { readSpill } from "../../dialects/files/spill-files.ts";
import type { SessionWindow } from "../../sessions/list/session-window.ts";
import type { Session } from "../../sessions/store/session.ts";
import { sidecarOf } from "../../trust/session-log.ts";
import { DELTA, Deltas, type ScannedLine } from "./deltas.ts";
import type { Find, SecretFinder } from "./find-secrets.ts";
import type { OwnPatterns } from "./own-patterns.ts";
import { unescapeOnce } from "./unescape.ts";

const UNKNOWN: PartOrigin = { in: null, tool: null, callId: null };

/** A find in a session: what `verbatim scan --json` prints, with the session (docs/formats/scan.md). */
export interface SessionFind {
  readonly rule: string;
  readonly masked: string;
  /** The same for the same value, under a key that only this machine has. */
  readonly valueId: string;
  /** Which part of the entry has it; `delta`: the text that several lines add up to. */
  readonly in: Part["type"] | "delta" | "checkpoint" | null;
  /** The tool that printed it or was called with it. */
  readonly tool: string | null;
  readonly depth: number;
  /** The spill file or sidecar whose bytes `value` names; null: the log. */
  readonly file: string | null;
  /** Usually one; a value that is split over deltas has several. */
  readonly places: readonly {
    /** Number of the line in its log, from 1. */
    readonly entry: number;
    /** Bytes of the file. */
    readonly line: { readonly start: number; readonly end: number };
    readonly value: { readonly start: number; readonly end: number };
  }[];
}

export interface UnscannedEntry {
  readonly entry: number | null;
  readonly reason: string;
}

export interface SessionScan {
  readonly finds: SessionFind[];
  readonly unscanned: UnscannedEntry[];
  /** Where the next scan continues: an offset, and how many lines are before it. */
  readonly scannedTo: number;
  readonly lines: number;
}

/** What a scan needs of a session. */
export type ScannedSession = Pick<Session, "dialect" | "root" | "logId" | "path">;

export interface ScanWith {
  readonly finder: SecretFinder;
  readonly own: OwnPatterns | null;
  readonly signal?: AbortSignal | undefined;
}

const LF = 0x0a;

/** `from`: where the last scan ended. */
export async function scanSession(
  host: Host,
  session: ScannedSession,
  window: SessionWindow,
  how: ScanWith,
  from: { readonly scannedTo: number; readonly lines: number } = { scannedTo: 0, lines: 0 },
): Promise<SessionScan> {
  const scan = new Scan(host, session, how);
  const ended = await scan.log(window.log, from);
  await scan.spills();
  await scan.tellTools(window);
  if (session.dialect.turns.isSidecar) await scan.sidecar();
  const open = scan.deltas.openFrom;
  scan.deltas.flush();
  const to = open ? { scannedTo: open.start, lines: open.entry - 1 } : ended;
  scan.finds.sort((a, b) => {
    return startOfFind(a) === startOfFind(b)
      ? firstByte(a) - firstByte(b)
      : startOfFind(a) - startOfFind(b);
  });
  return { finds: scan.finds, unscanned: scan.unscanned, ...to };
}

class Scan {
  readonly finds: SessionFind[] = [];
  readonly unscanned: UnscannedEntry[] = [];
  readonly deltas: Deltas;
  readonly #host: Host;
  readonly #session: ScannedSession;
  readonly #how: ScanWith;
  /** Finds whose tool is named by an earlier line: the call, and where the find is. */
  readonly #pending = new Map<number, string>();
  /** Lines that refer to spill files. */
  readonly #spilled: { readonly line: ScannedLine; readonly value: unknown }[] = [];

  constructor(host: Host, session: ScannedSession, how: ScanWith) {
    this.#session = session;
    this.#host = hostOf(host, { dialect: session.dialect.name, root: session.root });
    this.#how = how;
    this.deltas = new Deltas(how.finder, (find, pieces) => {
      const places = pieces.map(({ line, start, end }) => placeIn(line, start, end));
      const { rule, masked, valueId, depth } = find;
      const origin = { in: "delta", tool: null, file: null } as const;
      this.finds.push({ rule, masked, valueId, depth, ...origin, places });
    });
  }

  async log(log: LogWindow, from: { readonly scannedTo: number; readonly lines: number }) {
    let start = from.scannedTo;
    let entry = from.lines;
    for await (const block of blocksOf(log, from.scannedTo, this.#how.signal)) {
      if (typeof block === "number") {
        entry++;
        this.unscanned.push({ entry, reason: "the line is too long" });
        start += block;
      } else {
        entry += this.#block(block, start, entry);
        start += block.length;
      }
    }
    if (log.tornBytes > 0) {
      this.unscanned.push({ entry: null, reason: `${log.tornBytes} torn bytes follow the log` });
    }
    return { scannedTo: start >= log.bytesEnd ? log.end : start, lines: entry };
  }

  /** Returns how many lines the block has. */
  #block(block: Buffer, start: number, before: number): number {
    const { finder, own } = this.#how;
    const { spilling } = this.#session.dialect.writing ?? {};
    const finds = finder.findInLines(block);
    const hasSpills = spilling !== undefined && block.includes(spilling.mark);
    const hasDeltas = block.includes(DELTA) || this.deltas.openFrom !== null;
    let lines = 0;
    let next = 0;
    for (let at = 0; at < block.length; ) {
      const lf = block.indexOf(LF, at);
      const end = lf === -1 ? block.length : lf;
      lines++;
      const here: Find[] = [];
      for (let find = finds[next]; find && find.start < end; find = finds[++next]) {
        here.push({ ...find, start: find.start - at, end: find.end - at });
      }
      if (here.length > 0 || hasSpills || hasDeltas || own) {
        const bytes = block.subarray(at, end);
        const line = { entry: before + lines, start: start + at, end: start + end + 1, bytes };
        if (own) here.push(...this.#own(own, line));
        if (here.length > 0) this.#add(line, here);
        if (hasDeltas) this.deltas.add(line);
        if (hasSpills && bytes.includes(spilling.mark)) this.#addSpilled(line);
      }
      at = end + 1;
    }
    return lines;
  }

  #own(own: OwnPatterns, line: ScannedLine): readonly Find[] {
    const { finds, missed } = own.find(line.bytes);
    for (const name of missed) {
      this.unscanned.push({ entry: line.entry, reason: `the pattern ${name} takes too long` });
    }
    return finds;
  }

  #add(
    line: ScannedLine,
    finds: readonly Find[],
    file: string | null = null,
    needle?: string,
  ): void {
    const origins = originIn(this.#session.dialect, line.bytes);
    for (const { start, end, ...find } of finds) {
      const origin = origins(needle ?? line.bytes.subarray(start, end));
      if (origin.callId !== null) this.#pending.set(this.finds.length, origin.callId);
      const value = { start: line.start + start, end: line.start + end };
      const bytes = file === null ? value : { start, end };
      const places = [
        { entry: line.entry, line: { start: line.start, end: line.end }, value: bytes },
      ];
      this.finds.push({ ...find, in: origin.in, tool: origin.tool, file, places });
    }
  }

  #addSpilled(line: ScannedLine): void {
    try {
      const value: unknown = JSON.parse(line.bytes.toString());
      this.#spilled.push({ line: { ...line, bytes: Buffer.from(line.bytes) }, value });
    } catch {
      // Not JSON, so it refers to nothing.
    }
  }

  async spills(): Promise<void> {
    const { spilling } = this.#session.dialect.writing ?? {};
    if (!spilling || this.#spilled.length === 0) return;
    const { path, root } = this.#session;
    const directory = await this.#host.files.openDirectory(dirname(path), { create: false, root });
    try {
      for (const { line, value } of this.#spilled) {
        this.#how.signal?.throwIfAborted();
        for (const reference of spilling.referencesOf(value, basename(path))) {
          const read = await readSpill(directory, reference);
          if ("fault" in read) {
            const reason = `the spill file ${reference.name} is ${read.fault}`;
            this.unscanned.push({ entry: line.entry, reason });
          } else {
            const bytes = Buffer.from(read.content.buffer);
            const own = this.#how.own ? this.#own(this.#how.own, { ...line, bytes }) : [];
            const finds = [...this.#how.finder.find(bytes), ...own];
            this.#add(line, finds, reference.name, reference.path);
          }
        }
      }
    } finally {
      directory.close();
    }
  }

  /** Checkpoints that are kept in a file of their own; its lines are numbered from 1, too. */
  async sidecar(): Promise<void> {
    const { logId, root } = this.#session;
    const name = sidecarOf(logId);
    let log: LogWindow;
    try {
      log = await LogWindow.open(this.#host, name, root);
    } catch (cause) {
      if (cause instanceof VerbatimError && cause.code === "LOG_NOT_FOUND") return;
      throw cause;
    }
    try {
      const scan = new Scan(this.#host, this.#session, this.#how);
      await scan.log(log, { scannedTo: 0, lines: 0 });
      for (const find of scan.finds) {
        this.finds.push({ ...find, in: "checkpoint", tool: null, file: basename(name) });
      }
      this.unscanned.push(...scan.unscanned);
    } finally {
      log.close();
    }
  }

  /** Looks for the calls of results, from the start of the log. */
  async tellTools({ log }: SessionWindow): Promise<void> {
    if (this.#pending.size === 0) return;
    const calls = new Set(this.#pending.values());
    const tools = await toolsOf(this.#session.dialect, log, calls, this.#how.signal);
    for (const [at, callId] of this.#pending) {
      const find = this.finds[at];
      if (find) this.finds[at] = { ...find, tool: tools.get(callId) ?? null };
    }
  }
}

/** Where the first line of a find begins. */
export function startOfFind({ file, places }: SessionFind): number {
  const isSidecar = file?.endsWith(sidecarOf("")) ?? false;
  return isSidecar ? Number.POSITIVE_INFINITY : (places[0]?.line.start ?? 0);
}

function firstByte({ places }: SessionFind): number {
  return places[0]?.value.start ?? 0;
}

function placeIn({ entry, start, end }: ScannedLine, from: number, to: number) {
  return { entry, line: { start, end }, value: { start: start + from, end: start + to } };
}

/** Whole lines, some at a time; for a line that is too long, its length with its LF. */
async function* blocksOf(
  log: LogWindow,
  from: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<Buffer | number> {
  let held: Buffer[] = [];
  let bytes = 0;
  let isTooLong = false;
  for await (const chunk of log.chunks(from, log.bytesEnd)) {
    signal?.throwIfAborted();
    let rest = chunk;
    if (isTooLong) {
      const lf = chunk.indexOf(LF);
      bytes += lf === -1 ? chunk.length : lf + 1;
      if (lf === -1) continue;
      yield bytes;
      bytes = 0;
      isTooLong = false;
      rest = chunk.subarray(lf + 1);
    }
    const first = rest.indexOf(LF);
    if (first !== -1 && bytes + first > LOG_LIMITS.lineBytesMax) {
      yield bytes + first + 1;
      held = [];
      bytes = 0;
      rest = rest.subarray(first + 1);
    }
    const last = rest.lastIndexOf(LF);
    if (last !== -1) {
      yield Buffer.concat([...held, rest.subarray(0, last + 1)]);
      held = [];
      bytes = 0;
      rest = rest.subarray(last + 1);
    }
    if (rest.length > 0) held.push(rest);
    bytes += rest.length;
    if (bytes > LOG_LIMITS.lineBytesMax) [held, isTooLong] = [[], true];
  }
  if (isTooLong) yield bytes;
  else if (bytes > 0) yield Buffer.concat(held);
}

export interface PartOrigin {
  /** Null: in no part, such as a field of the line that no dialect reads. */
  readonly in: Part["type"] | null;
  readonly tool: string | null;
  /** The call of a result whose tool an earlier line names. */
  readonly callId: string | null;
}

/** Says where in the line's entry a value is: its raw bytes, or text of the entry. */
function originIn(dialect: Dialect, line: Buffer): (value: Buffer | string) => PartOrigin {
  const parts = partsOf(dialect, line);
  return (value) => {
    const text = typeof value === "string" ? value : unescapeOnce(value.toString(), false).text;
    const part = parts.find((each) => hasText(each, text));
    if (!part) return UNKNOWN;
    if (part.type === "tool_call") return { in: part.type, tool: part.tool, callId: null };
    if (part.type !== "tool_result") return { ...UNKNOWN, in: part.type };
    const tool = toolIn(parts, part.callId);
    return { in: part.type, tool, callId: tool === null ? part.callId : null };
  };
}

/** The tools of these calls, by the first lines that name them. */
async function toolsOf(
  dialect: Dialect,
  log: LogWindow,
  calls: ReadonlySet<string>,
  signal: AbortSignal | undefined,
): Promise<Map<string, string>> {
  const tools = new Map<string, string>();
  await log.each(
    0,
    ({ value, fault }) => {
      const parts = fault === null ? (dialect.reading.decode(value).entry?.parts ?? []) : [];
      for (const part of parts) {
        if (part.type !== "tool_call" || part.callId === null || !calls.has(part.callId)) continue;
        if (!tools.has(part.callId)) tools.set(part.callId, part.tool);
      }
      return tools.size < calls.size;
    },
    signal,
  );
  return tools;
}

function toolIn(parts: readonly Part[], callId: string | null): string | null {
  const call = parts.find((part) => part.type === "tool_call" && part.callId === callId);
  return callId !== null && call?.type === "tool_call" ? call.tool : null;
}

function partsOf(dialect: Dialect, line: Buffer): readonly Part[] {
  try {
    return dialect.reading.decode(JSON.parse(line.toString())).entry?.parts ?? [];
  } catch {
    return []; // Not JSON: searched as it is.
  }
}

/** Whether a string of the part contains the text; without recursion, a line may be deep. */
function hasText(part: Part, text: string): boolean {
  const rest: unknown[] = [part];
  while (rest.length > 0) {
    const next = rest.pop();
    if (typeof next === "string" && next.includes(text)) return true;
    if (typeof next !== "object" || next === null) continue;
    for (const [key, inside] of Object.entries(next)) rest.push(key, inside);
  }
  return false;
}
