/**
 * Resumable: a session that a program continues, as messages for each of its requests.
 *
 * - It is opened through the gate of `resume`, which reads and judges all of it, or created. After
 *   that only lines that this process appended are read. They need no verdict: it wrote them itself.
 * - If another program appended a line, the session is read and judged as a whole again, and refused
 *   as `resume` refuses it.
 * - The entries stay in memory, up to the limits of room.ts.
 * - Lines are gathered, and messages assembled, once: a call adds what is new. All lines are gathered
 *   again only when a line changes what earlier ones mean, such as a summary or a withdrawal.
 * - Calls share their messages, so these are frozen. The list of a call is its own.
 */

import { statSync } from "node:fs";
import { dirname } from "node:path";
import { badOption, requireChoice } from "../core/base/choice.ts";
import type { Host } from "../core/base/host.ts";
import { toByteOffset } from "../core/base/offset.ts";
import { dialectNamed } from "../dialects/all.ts";
import type { Dialect } from "../dialects/dialect.ts";
import type { LineMemory } from "../dialects/facets/reading.ts";
import { understand } from "../dialects/files/stored-entries.ts";
import {
  type BadVerifiedLine,
  policyIn,
  type VerifiedEntry,
} from "../evidence/verify/verified-entries.ts";
import type { Session } from "../sessions/store/session.ts";
import type { Store } from "../sessions/store/store.ts";
import type { Session as PublishedSession } from "../sessions/store/store-api.ts";
import { Assembly, freezeDeep } from "./assembly.ts";
import { continueResumed } from "./continue.ts";
import { EntryFeed } from "./entry-feed.ts";
import { Pipeline } from "./pipeline.ts";
import type { TargetName } from "./repair-report.ts";
import {
  type GateResult,
  type Resumed,
  type ResumeOptions,
  resumedFrom,
  resumeSession,
  TARGET_NAMES,
  TARGETS,
  type TargetMessages,
} from "./resume.ts";
import type { MessageTarget } from "./targets/target.ts";

export interface ResumableOptions<Name extends TargetName = TargetName>
  extends Pick<
    ResumeOptions<Name>,
    "for" | "policy" | "allowUnsigned" | "requirePin" | "profile"
  > {}

/** A session that is continued, and its messages for a provider. */
export interface ResumableSession<Name extends TargetName = TargetName> {
  /** Open to append. */
  readonly session: PublishedSession;
  /** Whether it was created by this call. */
  readonly isNew: boolean;
  /**
   * The messages of the next request: everything appended so far, as `resume` returns it. Reads only
   * what this process appended since the last call; all of it, through the gate, if another program
   * appended. `prompt` as for `resume`. Change the list of messages as you like, but not the
   * messages: they are frozen, because later calls return them again. Use `structuredClone`.
   */
  resume(options?: { readonly prompt?: string | null }): Promise<Resumed<Name>>;
}

type Line = VerifiedEntry | BadVerifiedLine;

/** Refuses like `resume`, and with BAD_SETTING if the store does not sign. */
export async function openResumable<Name extends TargetName>(
  host: Host,
  store: Store,
  id: string,
  options: ResumableOptions<Name>,
): Promise<ResumableSession<Name>> {
  requireChoice("for", options.for, TARGET_NAMES);
  if (!store.isSigning && options.allowUnsigned !== true) {
    throw badOption("allowUnsigned", "must be true for a store that does not sign");
  }
  const isThere = await store.has(id);
  if (isThere && !isEmpty(store.pathOf(id))) {
    const judged = await judgedSession(host, store, id, options);
    const { session } = await continueResumed(host, store, judged.resumed);
    return new OpenResumable(host, store, session as Session, false, options, judged);
  }
  const session = isThere ? await store.open(id) : await store.create({ id });
  await session.openToAppend();
  const gated: GateResult = {
    id,
    dialect: store.dialect,
    verdict: store.isSigning ? "verified" : "unsigned",
    policy: policyIn(store.root, options.policy).policy,
    head: null,
  };
  const memory = session.dialect.reading.remembers?.();
  const judged = { lines: [], end: 0, gated, memory };
  return new OpenResumable(host, store, session, true, options, judged);
}

/** A process that is killed may leave a session without a line. */
function isEmpty(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.size === 0;
}

/** Lines that need no more judging, and what the gate said of them. */
interface JudgedLines {
  readonly lines: Line[];
  readonly end: number;
  readonly gated: GateResult;
  /** Of these lines, if the meaning of later ones depends on them. */
  readonly memory: LineMemory | undefined;
}

async function judgedSession<Name extends TargetName>(
  host: Host,
  store: Store,
  id: string,
  options: ResumableOptions<Name>,
): Promise<JudgedLines & { readonly resumed: Resumed<Name> }> {
  const lines: Line[] = [];
  const place = { root: store.root, dialect: store.dialect };
  const path = store.pathOf(id);
  const resumed = await resumeSession(host, path, { ...options, ...place }, (line) => {
    lines.push(line);
  });
  const { dialect, verdict, policy, head } = resumed.report;
  const gated = { id, dialect, verdict, policy, head };
  freezeDeep(gated); // Reports of all calls have the same head.
  const memory = memoryOf(dialectNamed(dialect), lines);
  return { lines, end: resumed.source.end, gated, memory, resumed };
}

function memoryOf(
  { reading: { remembers, decode } }: Dialect,
  lines: readonly Line[],
): LineMemory | undefined {
  const memory = remembers?.();
  if (!memory) return undefined;
  for (const line of lines) {
    const { entry } = "native" in line ? decode(line.native) : { entry: null };
    if (entry) memory.read(entry);
  }
  return memory;
}

/** The first `count` of the lines, gathered and assembled. */
interface GatheredLines<Message> {
  readonly lines: readonly Line[];
  readonly count: number;
  readonly pipeline: Pipeline;
  readonly feed: EntryFeed;
  readonly assembly: Assembly<Message>;
}

/** The lines of a session as a conversation that is continued where lines are added. */
export class GrowingConversation<Message> {
  readonly #dialect: Dialect;
  readonly #id: string;
  readonly #target: MessageTarget<Message>;
  /** Null: the next call gathers all lines again. */
  #last: GatheredLines<Message> | null = null;

  constructor(dialect: Dialect, id: string, target: MessageTarget<Message>) {
    this.#dialect = dialect;
    this.#id = id;
    this.#target = target;
  }

  /** A list that has grown since the last call, or another one. Refuses with RESUME_TOO_LARGE. */
  gather(lines: readonly Line[]): GatheredLines<Message> {
    const last = this.#last;
    this.#last = null; // Lines that are refused are refused again.
    let gathered = last?.lines === lines ? added(last) : added(this.#begun(lines));
    if (gathered.feed.isOutdated) gathered = added(this.#begun(lines));
    this.#last = gathered;
    return gathered;
  }

  #begun(lines: readonly Line[]): GatheredLines<Message> {
    const pipeline = new Pipeline();
    const feed = new EntryFeed(pipeline, this.#dialect, this.#id);
    const assembly = new Assembly(this.#target, true);
    return { lines, count: 0, pipeline, feed, assembly };
  }
}

/** With the lines that came since. */
function added<Message>(before: GatheredLines<Message>): GatheredLines<Message> {
  const { lines, count, pipeline, feed } = before;
  for (let at = count; at < lines.length; at++) {
    const line = lines[at] as Line;
    if ("native" in line) feed.add(line);
    else pipeline.addBadLine(line);
  }
  feed.finish();
  return { ...before, count: lines.length };
}

class OpenResumable<Name extends TargetName> implements ResumableSession<Name> {
  readonly session: Session;
  readonly isNew: boolean;
  readonly #host: Host;
  readonly #store: Store;
  readonly #options: ResumableOptions<Name>;
  #judged: JudgedLines;
  readonly #conversation: GrowingConversation<TargetMessages[Name]>;
  /** The end of the last call: they come one after another. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(
    host: Host,
    store: Store,
    session: Session,
    isNew: boolean,
    options: ResumableOptions<Name>,
    judged: JudgedLines,
  ) {
    this.#host = host;
    this.#store = store;
    this.session = session;
    this.isNew = isNew;
    this.#options = options;
    this.#judged = judged;
    const dialect = dialectNamed(judged.gated.dialect);
    this.#conversation = new GrowingConversation(dialect, session.id, TARGETS[options.for]);
  }

  resume({ prompt }: { readonly prompt?: string | null } = {}): Promise<Resumed<Name>> {
    const next = this.#last.then(() => this.#resume(prompt));
    this.#last = next.catch(() => {});
    return next;
  }

  async #resume(prompt: string | null | undefined): Promise<Resumed<Name>> {
    const { root, path } = this.session;
    await this.#readNew();
    const { end, gated, lines } = this.#judged;
    const { pipeline, feed, assembly } = this.#conversation.gather(lines);
    const options = { for: this.#options.for, ...(prompt === undefined ? {} : { prompt }) };
    const source = { root, path, end, hash: null, natives: [], agent: feed.agent };
    return resumedFrom(pipeline, assembly, options, gated, source);
  }

  async #readNew(): Promise<void> {
    const writer = await this.session.openToAppend();
    // With the lock held, after catching up with other writers.
    await writer.inTurn(async () => {});
    const { end: from, lines, memory } = this.#judged;
    const { end, ownFrom } = writer;
    if (end === from) return;
    if (ownFrom > from) {
      this.#judged = await judgedSession(this.#host, this.#store, this.session.id, this.#options);
      return;
    }
    const { dialect, path, root } = this.session;
    const openDirectory = () => {
      return this.#host.files.openDirectory(dirname(path), { create: false, root });
    };
    const range = this.session.reader().forward({ from: toByteOffset(from), to: end });
    const log = { dialect, path, openDirectory };
    const verified = this.#store.isSigning;
    for await (const entry of understand(range, log, { restoresSpilled: true })) {
      const read = memory ? memory.read(entry) : entry;
      lines.push(Object.assign(read, { line: lines.length + 1, verified }));
    }
    this.#judged = { ...this.#judged, end };
  }
}
