/**
 * Fork: a new session that begins with a prefix of another one, its parent.
 *
 * - Lines are copied in the dialect's own shape: the fields that a writer adds (times, ids, the
 *   chain) are the new session's own, everything else is unchanged. Lines that depend on later
 *   ones, which are not copied, are adjusted before (`cutBefore` of the dialect).
 * - It begins by naming its parent: in the entry passed here, which is first, or right after the
 *   event with which some dialects name it (`forkStart`). If it is signed, its genesis names the
 *   parent's signed head too.
 * - Lines that no caller may write (checkpoints, other programs' rows) are not copied, but counted.
 * - It is created whole, or not at all (`createWhole`).
 *
 * Link: a signed session names the session that continues it, in a checkpoint of kind `link`.
 *
 * - Only if we may write the session: its newest checkpoint is by one of the user's own keys, it is
 *   verified to its end, and no other process holds its lock.
 * - It never fails its caller: the new session exists, and names its parent itself. Returns why
 *   there is no link.
 */

import { randomUUID } from "node:crypto";
import { VerbatimError } from "../../core/base/errors.ts";
import type { Host } from "../../core/base/host.ts";
import type { Native, NewEntry } from "../../core/model/entry.ts";
import { dialectNamed } from "../../dialects/all.ts";
import type { Dialect } from "../../dialects/dialect.ts";
import type { DialectName } from "../../dialects/registry.ts";
import type { Session } from "../../sessions/store/session.ts";
import type { BeginOptions, Store } from "../../sessions/store/store.ts";
import type { SignedHead } from "../../trust/proof/checkpoint.ts";
import type { Due, LinkTo } from "../../trust/signer/dues.ts";
import { Traces } from "../handoff/install.ts";

const LINES_AT_ONCE = 64;
/** A character is at most three bytes, and one more line may be in flight. */
const CHARS_AT_ONCE = 8 * 1024 * 1024;

/**
 * Appends lines to a session with many in flight, so that they share syncs, and
 * never more than fits the log's queue.
 *
 * - All of a group have ended before the next begins, and before a failure is thrown: nothing is
 *   written after that.
 */
export class GroupedAppends {
  readonly #session: Session;
  readonly #onRefused: (reason: unknown) => void;
  #group: Promise<{ readonly reason: unknown } | null>[] = [];
  #chars = 0;

  /**
   * `onRefused` is called with every failed append, in order, and throws what must not be ignored.
   */
  constructor(session: Session, onRefused: (reason: unknown) => void) {
    this.#session = session;
    this.#onRefused = onRefused;
  }

  async add(native: Native): Promise<void> {
    // A handler at once: an unhandled rejection would end the process.
    const append = this.#session.appendNative(native);
    const failure = append.then(
      () => null,
      (reason: unknown) => ({ reason }),
    );
    this.#group.push(failure);
    this.#chars += JSON.stringify(native).length;
    if (this.#group.length >= LINES_AT_ONCE || this.#chars >= CHARS_AT_ONCE) await this.settle();
  }

  /** Resolves when every line is written. */
  async settle(): Promise<void> {
    const group = this.#group;
    this.#group = [];
    this.#chars = 0;
    for (const failure of await Promise.all(group)) if (failure) this.#onRefused(failure.reason);
  }
}

export type { Dialect, DialectName, Native };

export interface ForkParts {
  readonly parent: string;
  /** The parent's signed head, and where the copied lines end; null where nothing is signed. */
  readonly head: SignedHead | null;
  readonly natives: readonly Native[];
  /** The agent (`agentIn`); null: the store's default. */
  readonly agent: string | null;
  /** The entry that describes the fork. */
  readonly entry: NewEntry;
  readonly id?: string;
}

export interface ForkResult {
  readonly session: Session;
  /** Lines that were not copied. */
  readonly leftBehind: number;
}

/** Refuses with SESSION_EXISTS and disk errors; then nothing of it is there. */
export async function forkInto(host: Host, store: Store, parts: ForkParts): Promise<ForkResult> {
  const { head, agent } = parts;
  const id = parts.id ?? dialectNamed(store.dialect).writing?.forkId?.(parts.parent, randomUUID());
  const { session, filled: leftBehind } = await createWhole(
    host,
    store,
    {
      ...(id === undefined ? {} : { id }),
      ...(agent === null ? {} : { agent }),
      wait: true,
      from: head,
    },
    (fork) => fill(fork, parts),
  );
  return { session, leftBehind };
}

/** Answers how many lines were not carried over. */
async function fill(session: Session, { parent, entry, natives }: ForkParts): Promise<number> {
  const { forkStart } = session.dialect.writing ?? {};
  const { start, rest } = forkStart?.(parent, natives) ?? { start: null, rest: natives };
  if (start) await session.appendNative(start);
  await session.append(entry);
  let leftBehind = 0;
  const appends = new GroupedAppends(session, (reason) => {
    leftBehind += refusedBy(reason);
  });
  for (const native of rest) await appends.add(native);
  await appends.settle();
  return leftBehind;
}

/** The agent, from a line of a session or else from its id; null if neither has it. */
export function agentIn(dialect: string, id: string | null, native: Native): string | null {
  const {
    reading: { agentSaidIn },
    naming: { agentOf },
  } = dialectNamed(dialect);
  if (agentSaidIn) return agentSaidIn(native);
  return id === null ? null : (agentOf?.(id) ?? null);
}

/** Counts one line that is not copied; throws any error that is not a refusal of the line. */
function refusedBy(reason: unknown): number {
  if (reason instanceof VerbatimError && reason.code === "INVALID_ENTRY") return 1;
  throw reason;
}

interface WholeSession<Filled> {
  /** Open to append. */
  readonly session: Session;
  readonly filled: Filled;
}

/**
 * Creates a session with all its first lines, or not at all.
 *
 * For sessions that begin with lines of another one: a part of them would look like a conversation
 * that ended there.
 *
 * - When anything fails, the session is removed, with its pin, and the failure is thrown. A process
 *   that is killed meanwhile leaves the beginning, whose first entry says what it was to be.
 *
 * Creates a session and appends its first lines; refuses with SESSION_EXISTS, and the errors of
 * `fill`.
 */
export async function createWhole<Filled>(
  host: Host,
  store: Store,
  options: BeginOptions,
  fill: (session: Session) => Promise<Filled>,
): Promise<WholeSession<Filled>> {
  const { dialect, root } = store;
  const placeOf = (id: string) => ({ dialect, root, path: store.pathOf(id) });
  const { id } = options;
  const before = id === undefined ? null : await Traces.before(host, placeOf(id));
  const session = await store.begin(options);
  try {
    await session.openToAppend();
    return { session, filled: await fill(session) };
  } catch (cause) {
    await session.close().catch(() => {}); // The first failure is the one to throw.
    await (before ?? Traces.ofNew(host, placeOf(session.id))).remove();
    await store.forget(session);
    throw cause;
  }
}

/** Adds the link; returns null, or why the session could not be linked. */
export async function linkSession(
  store: Store,
  id: string,
  to: LinkTo["linkTo"],
  /** The expected log; null: any. */
  log: string | null,
): Promise<string | null> {
  if (!store.isSigning) return "the store does not sign";
  let reason: string | null = null;
  try {
    if (!(await store.has(id))) return `there is no session ${id} in ${store.root}`;
  } catch (cause) {
    return reasonOf(cause);
  }
  const session = store.sessionBy(id, { isBrief: true });
  try {
    await session.addCheckpoints(async (signer): Promise<readonly Due[]> => {
      if (log !== null && signer.log !== log) reason = "another log is in its place";
      else if (!signer.isOurs) reason = "it is not signed by your own key";
      else if (signer.mustState) reason = "not all of it is signed";
      return reason === null ? [{ linkTo: to }] : [];
    });
  } catch (cause) {
    reason = reasonOf(cause);
  }
  try {
    await session.release();
  } catch {
    // Opening it failed, which is reported above.
  }
  return reason;
}

function reasonOf(cause: unknown): string {
  return cause instanceof VerbatimError ? `${cause.message} (${cause.code})` : String(cause);
}
