/**
 * Transcode: writes the entries of a bundle, or of another program's session, as a session of
 * another dialect.
 *
 * - The fate of every line is known before the first is written (sessions/store/entry-mapping.ts).
 * - The new session begins with its origin: the session, its signed head if it has one, and what
 *   was kept, approximated and dropped. No provider sees that.
 * - All or nothing: when a write fails the session is removed (`createWhole`).
 */

import { randomUUID } from "node:crypto";
import type { Host } from "../../core/base/host.ts";
import type { Entry, NewEntry } from "../../core/model/entry.ts";
import { dialectNamed } from "../../dialects/all.ts";
import { writingOf } from "../../dialects/dialect.ts";
import type { BadVerifiedLine, VerifiedEntry } from "../../evidence/verify/verified-entries.ts";
import {
  type DroppedWhy,
  type MappingResult,
  mapEntry,
  mappingFacts,
  neutral,
} from "../../sessions/store/entry-mapping.ts";
import type { Session } from "../../sessions/store/session.ts";
import { Store } from "../../sessions/store/store.ts";
import type { SignedHead } from "../../trust/proof/checkpoint.ts";
import { RECORDED_ACTIONS_MAX } from "../continue.ts";
import { agentIn, createWhole, GroupedAppends } from "../fork/fork.ts";
import { HANDOFF_TYPE } from "../gather.ts";
import { linesTakenBack } from "../retractions.ts";
import type { BundleManifest } from "./manifest.ts";

/** A longer run is cut: it is held in memory until its end. */
export const RUN_ENTRIES_MAX = 256;

/**
 * Finds which lines of a log are one message, for a dialect that gives every line a
 * message id.
 *
 * rye has a line for each block of a message, and has its id, if at all, on the last of them.
 * Without one Entire's writer would make up an id for every line, and split one message into many.
 * So consecutive lines of an assistant get one id: one of theirs, else a new one.
 *
 * The same entries; those of an assistant have the id of their message.
 */
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
      run = [];
      id = null;
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

/** The agent when neither the original nor the caller names one. */
const UNKNOWN_AGENT = "handoff";

/** The fate of a line, or of several in a row. */
export interface FidelityChange {
  /** From 1, in the original's log. */
  readonly line: number;
  /** How many; absent: one. */
  readonly lines?: number;
  readonly fate: "approximated" | "dropped";
  /** Why it was dropped. */
  readonly why?: DroppedWhy;
  /** Fields of an entry that read back differently. */
  readonly changed?: readonly string[];
}

/** How faithful a copy of a session is, line by line. */
export interface Fidelity {
  /** The log is the same, byte for byte. */
  readonly byteExact: boolean;
  /** Whether lines keep their times. */
  readonly times: "kept" | "anew";
  /** Lines of the original's log; the next three add up to it. */
  readonly entries: number;
  readonly kept: number;
  readonly approximated: number;
  readonly dropped: number;
  /** Every line that was not kept. */
  readonly changes: readonly FidelityChange[];
}

/** The session that is written again. */
export interface Original {
  readonly origin: TranscodeOrigin;
  /** The signed head of its log, all of which goes into the new session; null if it has none. */
  readonly from: SignedHead | null;
  /** The same entries each time. */
  entries(onBadLine: (bad: BadVerifiedLine) => void): AsyncGenerator<VerifiedEntry>;
}

export type TranscodeOrigin =
  | Pick<BundleManifest, "session" | "dialect" | "head" | "made" | "kid">
  /** Nothing of it is signed: the hash is that of the log as it was read. */
  | (Pick<BundleManifest, "session" | "dialect"> & {
      readonly head: null;
      readonly bytes: number;
      readonly sha256: string;
    });

export interface AnewOptions {
  readonly dialect: string;
  readonly root: string;
  readonly id?: string;
  readonly agent?: string;
  readonly sign: boolean;
  /** The session is only made for a bundle: its head is not pinned. */
  readonly isPassing?: true;
  readonly onWarning: (warning: string) => void;
}

export async function recordAnew(
  host: Host,
  original: Original,
  options: AnewOptions,
): Promise<{ readonly session: Session; readonly fidelity: Fidelity }> {
  const { dialect, root, sign, onWarning } = options;
  const { fidelity, dropped, agent } = await mapped(original, options);
  const store = new Store(host, { dialect, root, sign, agent, onWarning });
  try {
    const { id } = options;
    const named = { ...(id === undefined ? {} : { id }), wait: true, from: original.from };
    const { session } = await createWhole(host, store, named, async (created) => {
      if (dialectNamed(dialect).writing?.hasStart) await created.append({ kind: "start" });
      await created.append(originEntry(original, fidelity));
      await appendAll(created, original, dropped);
      await created.close();
    });
    if (options.isPassing) await store.forget(session);
    return { session, fidelity };
  } finally {
    await store.close();
  }
}

/** The entries, with the ids that tell a dialect's writer what belongs together. */
function entriesFor(
  dialect: string,
  original: Original,
  onBadLine: (bad: BadVerifiedLine) => void,
): AsyncGenerator<VerifiedEntry> {
  const entries = original.entries(onBadLine);
  return dialectNamed(dialect).writing?.splitsMessages ? withMessageIds(entries) : entries;
}

async function mapped(original: Original, options: AnewOptions) {
  const { origin } = original;
  const count = new Counting();
  let agent = options.agent ?? null;
  const facts = mappingFacts({ id: options.id ?? "new", agent: UNKNOWN_AGENT, cwd: options.root });
  const from = dialectNamed(origin.dialect);
  const takenBack = await linesTakenBack(from.turns, () => original.entries(() => {}));
  const entries = entriesFor(options.dialect, original, ({ line }) => {
    count.drop(line, "bad_line");
  });
  for await (const entry of entries) {
    agent ??= agentIn(origin.dialect, origin.session, entry.native);
    const isAside = (from.reading.asideOf?.(entry.native, origin.session) ?? null) !== null;
    if (takenBack.has(entry.line)) count.drop(entry.line, "taken_back");
    else if (isAside) count.drop(entry.line, "aside");
    else count.take(entry.line, mapEntry(entry, dialectNamed(options.dialect), facts));
  }
  const name = agent ?? UNKNOWN_AGENT;
  const { agentIsSegment } = dialectNamed(options.dialect).writing ?? {};
  const isOneSegment = agentIsSegment && options.agent === undefined;
  return {
    fidelity: count.fidelity(),
    dropped: count.dropped,
    agent: isOneSegment ? name.replaceAll("/", "-") : name,
  };
}

class Counting {
  readonly dropped = new Set<number>();
  readonly #changes: FidelityChange[] = [];
  #kept = 0;
  #approximated = 0;
  #hasNewTimes = false;

  take(line: number, fate: MappingResult): void {
    if (fate.fate === "dropped") {
      this.drop(line, fate.why);
      return;
    }
    this.#hasNewTimes ||= !fate.keepsTime;
    if (fate.fate === "kept") {
      this.#kept++;
      return;
    }
    this.#approximated++;
    this.#changes.push({ line, fate: "approximated", changed: fate.changed });
  }

  drop(line: number, why: DroppedWhy): void {
    this.dropped.add(line);
    const last = this.#changes.at(-1);
    const lines = last?.lines ?? 1;
    if (last?.fate === "dropped" && last.why === why && last.line + lines === line) {
      this.#changes[this.#changes.length - 1] = { ...last, lines: lines + 1 };
    } else {
      this.#changes.push({ line, fate: "dropped", why });
    }
  }

  fidelity(): Fidelity {
    const [kept, approximated, dropped] = [this.#kept, this.#approximated, this.dropped.size];
    const entries = kept + approximated + dropped;
    const times = this.#hasNewTimes ? "anew" : "kept";
    const changes = this.#changes;
    return { byteExact: false, times, entries, kept, approximated, dropped, changes };
  }
}

export function originEntry({ origin }: Pick<Original, "origin">, fidelity: Fidelity): NewEntry {
  const { byteExact, times, entries, kept, approximated, dropped, changes } = fidelity;
  const native = {
    type: HANDOFF_TYPE,
    schema: "verbatim.handoff/1",
    ...origin,
    byteExact,
    times,
    entries,
    kept,
    approximated,
    dropped,
    changes: changes.slice(0, RECORDED_ACTIONS_MAX),
    ...(changes.length > RECORDED_ACTIONS_MAX ? { changesInAll: changes.length } : {}),
  };
  return { kind: "message", role: "system", parts: [{ type: "other", native }] };
}

/** Line by line, in the order of the calls: lines of one entry need not be written at once here. */
async function appendAll(
  session: Session,
  original: Original,
  dropped: ReadonlySet<number>,
): Promise<void> {
  const facts = mappingFacts({ id: session.id, agent: null, cwd: session.root });
  const writing = writingOf(session.dialect);
  const appends = new GroupedAppends(session, (reason) => {
    throw reason;
  });
  for await (const entry of entriesFor(session.dialect.name, original, () => {})) {
    if (dropped.has(entry.line)) continue;
    for (const native of writing.express(neutral(entry, writing), facts)) await appends.add(native);
  }
  await appends.settle();
}
