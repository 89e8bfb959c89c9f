/**
 * Entry rows: counts a session through its dialect's reader, for programs whose rows are not counted
 * in bytes.
 *
 * A program may record the same usage on messages, at the end of a turn and at the end of the session:
 * the end of a turn counts instead of its messages. Of the session's end counts what the rows before
 * it lack: the total is the one that listings show (sessions/summary/usage-fold.ts). It is added to
 * the last response of its model, for an end is no response; a cost is divided among all.
 *
 * Ids of messages hold within the session. A session that is written again as a whole is read as a
 * whole: of a message that is there twice, the last one counts. A fork or an unpacked copy begins with
 * a report that names its origin: its rows have the keys of the origin's, so that they count once.
 *
 * Describe: a scanned log as a file of the ledger: whose it is, and what its keys hold within.
 */

import type { Host } from "../core/base/host.ts";
import type { Entry, Usage } from "../core/model/entry.ts";
import { wireMarkIn } from "../core/model/wire-mark.ts";
import type { Dialect } from "../dialects/dialect.ts";
import type { SessionStanding } from "../dialects/facets/files.ts";
import type { LineMemory } from "../dialects/facets/reading.ts";
import { type MessageOrigin, originIn, originName, threadIn } from "../dialects/origin.ts";
import type { FoundLog } from "../dialects/session-row.ts";
import { SessionWindow } from "../sessions/list/session-window.ts";
import type { Session } from "../sessions/store/session.ts";
import { projectFacts, projectOfStore } from "../sessions/summary/project.ts";
import type { LedgerFile, PackedFile } from "./ledger/pack.ts";
import { Hash, type RowSet } from "./row-set.ts";
import { scopeIn } from "./scan/file-scan.ts";
import { FLAGS, PLAUSIBLE_TOKENS_MAX } from "./usage-row.ts";

const LIMITS = { entriesMax: 8_192, bytesMax: 4 * 1024 * 1024 };

/** Puts the responses of a session into `set`; `scope` is what its keys hold within. */
export async function countEntries(
  host: Host,
  session: Session,
  set: RowSet,
  scope: string,
): Promise<SessionCount> {
  const window = await SessionWindow.open(host, session);
  let about: SessionCount["about"] = null;
  let start: SessionCount["about"] = null;
  const usage = new EntryUsage(set);
  try {
    const { dialect, id } = session;
    const memory = dialect.reading.remembers?.();
    for (let at = 0; at < window.end; ) {
      const lines = await window.after(at, LIMITS, memory);
      if (lines.length === 0) break;
      for (const { entry, start: offset, end } of lines) {
        at = end;
        if (entry === null) continue;
        if (about === null && id !== null) {
          const learned = dialect.reading.about?.(entry.native, id);
          if (learned?.cwd) about = entry.native;
          else if (learned?.parent) start ??= entry.native;
        }
        usage.add(entry, offset, memory);
      }
    }
    usage.end();
  } finally {
    window.close();
  }
  const origin = usage.origin && (await originName(usage.origin));
  const rowCount = set.endFile(origin ?? scope);
  return { reached: null, rowCount, about: about ?? start, origin };
}

/** What is kept of an entry until its turn ends: without its text. */
interface UsedEntry extends Pick<Entry, "at" | "model" | "messageId"> {
  readonly usage: Usage;
  readonly start: number;
  /** What the end of a session says and its responses do not. */
  readonly isRest?: true;
  /** Recorded from the wire: the program's own file may have the same answer, with its id. */
  readonly isWire?: true;
}

/** Local servers number their answers; ids of providers are longer, and never used again. */
const ID_CHARS_MIN = 20;

export class EntryUsage {
  readonly #set: RowSet;
  readonly #onPut: (start: number) => void;
  /** On messages of the current turn. */
  #waiting: UsedEntry[] = [];
  #isAny = false;
  /** The last that was named: usage without a model is of that. */
  #model: string | null = null;
  /** What it was copied from. */
  origin: MessageOrigin | null = null;

  /** `onPut` is called before the usage of an entry is put into the set. */
  constructor(set: RowSet, onPut: (start: number) => void = () => {}) {
    this.#set = set;
    this.#onPut = onPut;
  }

  /** `memory` is what read the entry. */
  add(entry: Entry, start: number, memory?: Pick<LineMemory, "modelsOf">): void {
    const { kind, usage, at, messageId, parts } = entry;
    this.#model = entry.model ?? this.#model;
    const model = this.#model;
    // The last report before any usage names the first of the sessions.
    if (!this.#isAny) this.origin = originIn(parts) ?? this.origin;
    if (usage === null) return;
    const isWire = (messageId ?? "").length >= ID_CHARS_MIN && wireMarkIn(entry.metadata) !== null;
    const id = { ...(messageId !== undefined && { messageId }), ...(isWire && { isWire }) };
    const used = { usage, at, model, start, ...id };
    if (kind === "turn_end") this.#waiting = [];
    if (kind === "message" || kind === "turn_end") this.#waiting.push(used);
    if (kind !== "message") this.#putWaiting(kind === "end");
    if (kind === "end") this.#putRest(used, memory?.modelsOf?.(entry) ?? null);
    else if (kind !== "message" && kind !== "turn_end") this.#put(used);
  }

  /** The session ends here. */
  end(): void {
    this.#putWaiting(false);
  }

  /** `isWhole`: the end of the session counts what messages lack. */
  #putWaiting(isWhole: boolean): void {
    for (const used of this.#waiting) {
      const { inputTokens, outputTokens } = used.usage;
      const isUnknown = !isWhole && inputTokens === null && outputTokens !== null;
      this.#put(used, isUnknown ? FLAGS.unknownInput : 0);
    }
    this.#waiting = [];
  }

  /** What the whole session used and the rows before lack, by model if that is known. */
  #putRest(used: UsedEntry, models: ReadonlyMap<string, Usage> | null): void {
    const counted = this.#set.countsByModel();
    const all = [...counted.values()].reduce(sumOf, NOTHING);
    let left = lackOf(countsIn(used.usage), all);
    const spend = used.usage.spend === null ? null : (left[SPEND] ?? 0);
    const end = `end ${used.at ?? used.start}`;
    for (const [model, usage] of models ?? [[used.model ?? "", used.usage] as const]) {
      const before = models === null ? all : (counted.get(model) ?? NOTHING);
      const lack = lackOf(countsIn(usage), before).map((count, n) => Math.min(count, left[n] ?? 0));
      left = lackOf(left, lack);
      const messageId = `${end} ${model}`;
      this.#put({ ...used, usage: usageIn(lack, null), model, messageId, isRest: true });
    }
    if (spend === null || this.#set.spread(spend)) return;
    this.#put({ ...used, usage: usageIn(NOTHING, spend), messageId: `${end} cost` });
  }

  #put(used: UsedEntry, flags = 0): void {
    this.#isAny = true;
    this.#onPut(used.start);
    const isById = used.isWire === true || (this.origin?.isById === true && used.messageId);
    putUsed(this.#set, used, Boolean(isById), flags);
  }
}

/** Input, output, written to and read from caches, and US dollars as recorded. */
type Counts = readonly number[];

const NOTHING: Counts = [0, 0, 0, 0, 0];
const SPEND = 4;

function countsIn(usage: Usage): Counts {
  const { inputTokens, outputTokens, cacheWriteTokens, cacheReadTokens, spend } = usage;
  const counts = [inputTokens, outputTokens, cacheWriteTokens, cacheReadTokens, spend];
  return counts.map((count) => Math.max(0, count ?? 0));
}

function usageIn(
  [input = 0, output = 0, written = 0, read = 0]: Counts,
  spend: number | null,
): Usage {
  return {
    inputTokens: input,
    outputTokens: output,
    cacheWriteTokens: written,
    cacheReadTokens: read,
    totalTokens: null,
    spend,
  };
}

const sumOf = (one: Counts, other: Counts) => one.map((count, n) => count + (other[n] ?? 0));

const lackOf = (whole: Counts, part: Counts) =>
  whole.map((count, n) => Math.max(0, count - (part[n] ?? 0)));

function putUsed(set: RowSet, entry: UsedEntry, isById: boolean, flags: number): void {
  const { usage, start: offset, isRest = false } = entry;
  const { next } = set;
  const tokens = (count: number | null | undefined) => (count && count > 0 ? count : 0);
  next.input[0] = tokens(usage.inputTokens);
  next.output[0] = tokens(usage.outputTokens);
  next.cacheWrite5m[0] = tokens(usage.cacheWriteTokens);
  next.cacheWrite1h[0] = next.reasoning[0] = next.request[0] = 0;
  next.cacheRead[0] = tokens(usage.cacheReadTokens);
  next.at[0] = entry.at === null ? Number.NaN : Date.parse(entry.at);
  next.recorded[0] = usage.spend ?? Number.NaN;
  next.model[0] = set.modelIndex(entry.model ?? "");
  const { inputTokens, outputTokens, cacheReadTokens } = usage;
  const isImplausible = [inputTokens, outputTokens, cacheReadTokens].some((count) => {
    return count !== null && count !== undefined && (count < 0 || count > PLAUSIBLE_TOKENS_MAX);
  });
  const within = isById ? 0 : FLAGS.ofSession | FLAGS.lastWins;
  next.flags[0] = within | flags | (isImplausible ? FLAGS.implausible : 0);
  const hash = new Hash().begin();
  const id = Buffer.from(entry.messageId ?? "");
  if (isById) hash.bytes(id, 0, id.length);
  else if (entry.messageId) hash.text(entry.messageId);
  else {
    hash.text("row").text(entry.at ?? String(offset));
    // Two turns may end in the same millisecond.
    hash.number(next.input[0]).number(next.output[0]);
  }
  next.keyHigh[0] = hash.end().high;
  next.keyLow[0] = hash.low;
  const isAny = next.input[0] + next.output[0] + next.cacheRead[0] > 0 || Boolean(usage.spend);
  if (isAny && !(isRest && set.extend())) set.put();
}

export interface CountableLog {
  readonly dialect: Dialect;
  readonly root: string;
  readonly log: FoundLog;
  /** As it was last counted. */
  readonly known: LedgerFile | undefined;
}

/** What was counted of it, by either way. */
export interface SessionCount {
  readonly reached: PackedFile["reached"];
  readonly rowCount: number;
  /** Fields of a row that says where the session belongs. */
  readonly about: Readonly<Record<string, unknown>> | null;
  /** The scope of the session that it was copied from. */
  readonly origin?: string | null;
  /** What files next to the log say about the session. */
  readonly standing?: SessionStanding | undefined;
}

export function describe(
  { dialect, root, log, known }: CountableLog,
  counted: SessionCount,
): PackedFile {
  const { id, path, size, mtimeMs } = log;
  const about = counted.about && dialect.reading.about?.(counted.about, id);
  const name = parentNameOf(dialect, id);
  const thread = threadIn(counted.about);
  const { standing } = counted;
  const named = about?.parent || standing?.parent;
  const above = named ? parentNameOf(dialect, named) : null;
  // A fork is a session of its own, which begins with the rows of another.
  const isFork = dialect.program?.hasForks === true;
  const program = id === null ? null : dialect.naming.hooksOf?.(id);
  const record = program?.hasOwnUsage ? program.name : null;
  const replays = thread.replays ?? (isFork ? above : record);
  const place = { cwd: about?.cwd || standing?.about?.cwd || "", remote: about?.remote ?? "" };
  const isKnown = known && place.cwd === "" && place.remote === "";
  const { project, directory } = isKnown
    ? known
    : projectFacts(place, projectOfStore(dialect.name, root));
  return {
    dialect: dialect.name,
    root,
    id,
    path,
    size,
    mtimeMs,
    reached: counted.reached,
    name,
    parent: isFork ? null : (above ?? known?.parent ?? null),
    project,
    directory,
    scope: counted.origin ?? scopeIn(counted.about) ?? known?.scope ?? name,
    replays: replays ?? known?.replays ?? null,
    startedAt: thread.startedAt ?? known?.startedAt ?? null,
    rows: counted.rowCount,
  };
}

/** A parent may be given by its id, or by the name that its program uses. */
export function parentNameOf(dialect: Dialect, id: string): string {
  return dialect.naming.nameOf?.(id) ?? id;
}
