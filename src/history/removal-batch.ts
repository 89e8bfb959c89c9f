/**
 * Removal batch: removes sessions of our own stores, and the guard's copies of others. Sessions are
 * listed once for all of them, those of one store are removed in groups, and the indexes are cleaned
 * at the end, once for each store.
 *
 * A process that is killed before the end leaves records of removals that the next one finishes.
 */

import { join } from "node:path";
import { dataDirectory } from "../core/base/node-paths.ts";
import { guardOf } from "../dialects/files/guarded.ts";
import {
  refuseForked,
  refuseHeld,
  removalRefused,
  sharesToRevoke,
} from "../evidence/removal/obstacles.ts";
import type { Removing } from "../evidence/removal/open-sessions.ts";
import {
  filesThere,
  finishRemovals,
  GROUP_MAX,
  isOf,
  type RemovalRequest,
  removeGroup,
} from "../evidence/removal/removals.ts";
import { isOwnSession, type OwnSession } from "../evidence/removal/session-removal.ts";
import type { Removal, TrashEntry } from "../evidence/removal/trash.ts";
import { FileShares } from "../evidence/share/share-files.ts";
import { thisSender } from "../guard/remote/remote-url.ts";
import { removingAt } from "../guard/removal.ts";
import { listPage } from "../sessions/list/list-page.ts";
import type { FoundSession } from "../sessions/list/session-place.ts";
import { keyOf as noteKeyOf, subjectOf } from "../sessions/notes/notes-book.ts";
import { noteLinesOf } from "../sessions/notes/notes-file.ts";
import { summaryOf } from "../sessions/store/list.ts";
import type { RemoveOptions } from "./options.ts";
import type { Places } from "./places.ts";

/** A session that was removed, or of which the guard's copy was. */
export interface RemovedSession {
  readonly session: string;
  readonly dialect: string;
  /** Of its store. */
  readonly root: string;
  /** Of its log, as it was. */
  readonly path: string;
  /** Of all its files. */
  readonly bytes: number;
  readonly at: string;
  /** Until when it can be restored; null: it was removed for good. */
  readonly until: string | null;
  readonly by: string;
  readonly reason: string;
  /** A signed tombstone says that it was deleted. */
  readonly hasTombstone: boolean;
  /** Shares that were revoked, by their ids. */
  readonly revokedShares: readonly string[];
  /** It was the guard's copy of an agent's session. */
  readonly isGuardCopy: boolean;
  /** The agent's own file, which `rm` never touches; null: there is none. */
  readonly agentFile: string | null;
}

/** A store, the sessions to be removed next, and those whose files are gone. */
interface StoreBatch {
  readonly removing: Removing;
  readonly group: GroupMember[];
  readonly entries: TrashEntry[];
}

interface GroupMember extends RemovalRequest {
  readonly key: string;
  readonly revokedShares: string[];
}

interface ListedSession {
  readonly id: string;
  readonly key: string;
  readonly parent: string | null;
  /** As the file of notes names it. */
  readonly noteKey: string;
}

const DAY_MS = 86_400_000;

export class RemovalBatch {
  readonly removals: RemovedSession[] = [];
  readonly #places: Places;
  readonly #options: RemoveOptions;
  readonly #onRefused: (refusal: unknown) => void;
  readonly #until: string | null;
  readonly #nowMs = Date.now();
  readonly #shares: FileShares;
  readonly #stores = new Map<string, StoreBatch>();
  /** Sessions that are removed, or are about to be, by key. */
  readonly #gone = new Set<string>();
  #listed: Promise<ListedSession[]> | null = null;

  /** `days` in the trash; null: for good. */
  constructor(
    places: Places,
    options: RemoveOptions,
    days: number | null,
    onRefused: (refusal: unknown) => void,
  ) {
    this.#places = places;
    this.#options = options;
    this.#onRefused = onRefused;
    this.#until = days === null ? null : new Date(this.#nowMs + days * DAY_MS).toISOString();
    this.#shares = new FileShares(places.host, dataDirectory(), () => this.#nowMs);
  }

  /** Removes a session, now or with others; refuses if it can be seen now that it must stay. */
  async add(session: FoundSession): Promise<void> {
    const { id } = session;
    const store = id === null ? null : await this.#storeOf({ ...session, id });
    if (id === null || store === null) {
      const why = `${session.path} is not in a store of yours; its agent keeps it, delete it there`;
      throw removalRefused(id ?? session.path, "not ours", why);
    }
    const target: OwnSession = { ...session, id };
    const { removing, group } = store;
    const key = keyOf(target);
    if (group.some((member) => member.key === key)) return; // It was named twice.
    const { reason = "", dryRun = false, signal } = this.#options;
    const isLast = (removing.agentFile?.(id) ?? null) === null;
    const forks = isLast ? await this.#forksOf(target) : [];
    await this.#obstacles(target, forks);
    signal?.throwIfAborted();
    if (isLast) this.#gone.add(key);
    const at = new Date(this.#nowMs).toISOString();
    const until = this.#until;
    const stated = { dialect: target.dialect, id, by: whoIsHere(), at, reason, until };
    if (dryRun) {
      const all = filesThere(removing, target);
      const removals = all.map((files) => ({ ...stated, ...files, tombstones: [] }));
      this.removals.push(factsOf(removing, removals));
      return;
    }
    const notes = isLast ? await this.#notesOf(target) : [];
    const revokedShares: string[] = [];
    const begin = async () => {
      revokedShares.push(...(await this.#obstacles(target, forks)));
      for (const share of revokedShares) await this.#shares.revoke(share);
    };
    group.push({ ...stated, notes, begin, key, revokedShares });
    if (group.length === GROUP_MAX) await this.#removeGroup(store);
  }

  /** Removes what is left of groups, and cleans the indexes. */
  async finish(): Promise<void> {
    try {
      for (const store of this.#stores.values()) await this.#removeGroup(store);
    } finally {
      for (const { removing, entries } of this.#stores.values()) {
        await finishRemovals(removing, entries);
      }
      await this.#shares.close();
    }
  }

  async #removeGroup({ removing, group, entries }: StoreBatch): Promise<void> {
    const members = group.splice(0);
    if (members.length === 0) return;
    const { removals, refusals } = await removeGroup(removing, members);
    entries.push(...removals);
    for (const member of members) {
      if (refusals.has(member)) {
        this.#gone.delete(member.key);
        continue;
      }
      const parts = removals.filter(isOf(member)).map(({ removal }) => removal);
      this.removals.push({ ...factsOf(removing, parts), revokedShares: member.revokedShares });
    }
    for (const refusal of refusals.values()) this.#onRefused(refusal);
  }

  /** Refuses a session that is held, forked or shared; returns the shares to be revoked. */
  async #obstacles(target: OwnSession, forks: readonly string[]): Promise<string[]> {
    const { leaveForks = false, revokeShares = false } = this.#options;
    const consent = { leaveForks, revokeShares };
    refuseHeld(target);
    refuseForked(target.id, forks, consent);
    return sharesToRevoke(target, this.#shares, consent, this.#nowMs);
  }

  /** Where the session is removed: where the guard has copies of it, or its own store. */
  async #storeOf(target: OwnSession): Promise<StoreBatch | null> {
    const guarded = guardOf(target.dialect, target.root);
    const copies = guarded && (await this.#storeAt(guarded.directory));
    if (copies && filesThere(copies.removing, target).length > 0) return copies;
    return (await isOwnSession(target)) ? this.#storeAt(target.root) : null;
  }

  async #storeAt(root: string): Promise<StoreBatch> {
    const { host, onWarning } = this.#places;
    let store = this.#stores.get(root);
    store ??= { removing: await removingAt(host, root, onWarning), group: [], entries: [] };
    this.#stores.set(root, store);
    return store;
  }

  /** Sessions that name this one as the one they come from. Those in groups are removed first. */
  async #forksOf(target: OwnSession): Promise<string[]> {
    if (this.#options.leaveForks) return [];
    this.#listed ??= listed(this.#places);
    const forks = (await this.#listed).filter(({ parent }) => parent === target.id);
    if (forks.some(({ key }) => this.#gone.has(key))) {
      for (const store of this.#stores.values()) await this.#removeGroup(store);
    }
    const others = forks.filter(({ key }) => key !== keyOf(target) && !this.#gone.has(key));
    return others.map(({ id }) => id);
  }

  /** Notes that no other session has: a record of hooks shares those of its program's session. */
  async #notesOf(target: OwnSession): Promise<string[]> {
    const subject = subjectOf(target, target.id);
    const lines = noteLinesOf(subject);
    if (lines.length === 0) return [];
    this.#listed ??= listed(this.#places);
    const noteKey = noteKeyOf(subject);
    const others = (await this.#listed).filter(({ key }) => !this.#gone.has(key));
    return others.some((other) => other.noteKey === noteKey) ? [] : lines;
  }
}

async function listed(places: Places): Promise<ListedSession[]> {
  const page = await listPage(await places.stores(), {
    host: places.host,
    limit: Number.POSITIVE_INFINITY,
    onWarning: places.onWarning,
  });
  return (page?.sessions ?? []).map(summaryOf).map((session) => {
    const { id, parent } = session;
    return { id, parent, key: keyOf(session), noteKey: noteKeyOf(subjectOf(session, id)) };
  });
}

function keyOf({ dialect, root, id }: { dialect: string; root: string; id: string }): string {
  return `${dialect}\0${root}\0${id}`;
}

/** Of the removals of a session, which has one for each of its files that are logs. */
export function factsOf(
  { root, agentFile }: Removing,
  removals: readonly Omit<Removal, "state" | "notes">[],
): RemovedSession {
  const [{ id, dialect, at, until, by, reason, folder, files }] = removals as [Removal];
  return {
    session: id,
    dialect,
    root,
    path: join(root, folder, files[0]?.name ?? ""),
    bytes: removals.flatMap((each) => each.files).reduce((sum, { bytes }) => sum + bytes, 0),
    at,
    until,
    by,
    reason,
    hasTombstone: removals.some(({ tombstones }) => tombstones.length > 0),
    revokedShares: [],
    isGuardCopy: agentFile !== null,
    agentFile: agentFile?.(id) ?? null,
  };
}

export function whoIsHere(): string {
  const { user, machine } = thisSender();
  return `${user}@${machine}`;
}
