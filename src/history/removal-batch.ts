/**
 * Removal batch: removes sessions one after the other: of our own stores, and the guard's copies of
 * others. Sessions are listed once for all of them, and the indexes are cleaned at the end, once
 * for each store.
 *
 * A process that is killed before the end leaves records of removals that the next one finishes.
 */

import { statSync } from "node:fs";
import { dataDirectory } from "../core/base/node-paths.ts";
import { type GuardedRoot, guardedPlace, readGuardedRoot } from "../dialects/files/guard-store.ts";
import { guardOf } from "../dialects/files/guarded.ts";
import {
  refuseForked,
  refuseHeld,
  removalRefused,
  sharesToRevoke,
} from "../evidence/removal/obstacles.ts";
import { finishRemovals, type Locked, type Removing } from "../evidence/removal/removals.ts";
import {
  isOwnSession,
  type OwnSession,
  removedPath,
  removeSession,
} from "../evidence/removal/session-removal.ts";
import type { Removal, TrashEntry } from "../evidence/removal/trash.ts";
import { FileShares } from "../evidence/share/share-files.ts";
import { thisSender } from "../guard/remote/remote-url.ts";
import {
  agentFileOf,
  copiesOf,
  type GuardCopies,
  removeCopies,
  removingAt,
} from "../guard/removal.ts";
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

interface OpenStore {
  readonly removing: Removing;
  readonly locked: Locked;
  readonly removals: TrashEntry[];
}

interface ListedSession {
  readonly id: string;
  readonly key: string;
  readonly parent: string | null;
  /** As the file of notes names it. */
  readonly noteKey: string;
}

export class RemovalBatch {
  readonly #places: Places;
  readonly #options: RemoveOptions;
  readonly #days: number | null;
  readonly #nowMs = Date.now();
  readonly #shares: FileShares;
  readonly #stores = new Map<string, OpenStore>();
  readonly #guarded = new Map<string, GuardedRoot | null>();
  readonly #gone = new Set<string>();
  #listed: Promise<ListedSession[]> | null = null;

  /** `days` in the trash; null: for good. */
  constructor(places: Places, options: RemoveOptions, days: number | null) {
    this.#places = places;
    this.#options = options;
    this.#days = days;
    this.#shares = new FileShares(places.host, dataDirectory(), () => this.#nowMs);
  }

  /** Removes the files of a session; `finish` does the rest, also when one was refused. */
  async remove(found: FoundSession): Promise<RemovedSession> {
    const { id } = found;
    const copies = id === null ? null : await this.#copiesOf(found, id);
    if (id === null || !(copies || (await isOwnSession(found)))) {
      const why = `${found.path} is not in a store of yours; its agent keeps it, delete it there`;
      throw removalRefused(id ?? found.path, "not ours", why);
    }
    const own: OwnSession = { ...found, id };
    const { reason = "", leaveForks = false, dryRun = false, signal } = this.#options;
    const isLast = copies === null || copies.agentFile === null;
    const consent = { leaveForks, revokeShares: this.#options.revokeShares === true };
    refuseHeld(own);
    refuseForked(id, leaveForks || !isLast ? [] : await this.#forksOf(own), consent);
    await sharesToRevoke(own, this.#shares, consent, this.#nowMs);
    signal?.throwIfAborted();
    if (isLast) this.#gone.add(keyOf(own));
    if (dryRun) return this.#asRemoved(own, copies);
    const revokedShares: string[] = [];
    const removals = await this.#removeFiles(own, copies, {
      by: whoIsHere(),
      reason,
      days: this.#days,
      nowMs: this.#nowMs,
      notes: isLast ? await this.#notesOf(own) : [],
      begin: async () => {
        refuseHeld(own);
        revokedShares.push(...(await sharesToRevoke(own, this.#shares, consent, this.#nowMs)));
        for (const share of revokedShares) await this.#shares.revoke(share);
      },
      onWarning: this.#places.onWarning,
    }).catch((cause: unknown) => {
      this.#gone.delete(keyOf(own));
      throw cause;
    });
    const bytes = removals.reduce((sum, { removal }) => sum + bytesOf(removal), 0);
    const [{ removal }] = removals as [TrashEntry];
    return { ...factsOf(copies?.root.directory ?? own.root, removal), bytes, revokedShares };
  }

  /** Cleans the indexes, and writes what the records say. */
  async finish(): Promise<void> {
    try {
      for (const { removing, removals } of this.#stores.values()) {
        await finishRemovals(removing, removals);
      }
    } finally {
      for (const { locked } of this.#stores.values()) await locked.close();
      this.#stores.clear();
      await this.#shares.close();
    }
  }

  async #removeFiles(
    own: OwnSession,
    copies: GuardCopies | null,
    request: Parameters<typeof removeSession>[2],
  ): Promise<TrashEntry[]> {
    const root = copies?.root.directory ?? own.root;
    const store = this.#stores.get(root) ?? (await this.#open(root));
    const { removing } = store;
    const removals = copies
      ? await removeCopies(removing, copies, request)
      : [await removeSession(removing, own, request)];
    store.removals.push(...removals);
    return removals;
  }

  async #open(root: string): Promise<OpenStore> {
    const removing = removingAt(this.#places.host, root, this.#places.onWarning);
    const store = { removing, locked: await removing.lock(null, ""), removals: [] };
    this.#stores.set(root, store);
    return store;
  }

  async #copiesOf({ dialect, root }: FoundSession, id: string): Promise<GuardCopies | null> {
    const key = `${dialect}\0${root}`;
    const guarded = this.#guarded.get(key) ?? guardOf(dialect, root);
    this.#guarded.set(key, guarded);
    return guarded && copiesOf(guarded, id);
  }

  /** Sessions that name this one as the one they come from. */
  async #forksOf(own: OwnSession): Promise<string[]> {
    const forks = (await this.#others(own)).filter(({ parent }) => parent === own.id);
    return forks.map(({ id }) => id);
  }

  /** Notes that no other session has: a record of hooks shares those of its program's session. */
  async #notesOf(own: OwnSession): Promise<string[]> {
    const subject = subjectOf(own, own.id);
    const lines = noteLinesOf(subject);
    if (lines.length === 0) return [];
    const key = noteKeyOf(subject);
    return (await this.#others(own)).some(({ noteKey }) => noteKey === key) ? [] : lines;
  }

  /** The sessions that are left, without this one. */
  async #others(own: OwnSession): Promise<ListedSession[]> {
    this.#listed ??= listed(this.#places);
    const itself = keyOf(own);
    return (await this.#listed).filter(({ key }) => key !== itself && !this.#gone.has(key));
  }

  #asRemoved(own: OwnSession, copies: GuardCopies | null): RemovedSession {
    const { id, dialect, path } = own;
    const at = new Date(this.#nowMs).toISOString();
    const root = copies?.root.directory ?? own.root;
    const bytes = copies?.bytes ?? statSync(path).size;
    const { reason = "" } = this.#options;
    const said = { at, until: at, by: whoIsHere(), reason, hasTombstone: false, revokedShares: [] };
    const agents = { isGuardCopy: copies !== null, agentFile: copies?.agentFile ?? null };
    return { session: id, dialect, root, path, bytes, ...said, ...agents };
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

export function factsOf(root: string, removal: Removal): RemovedSession {
  const { id, dialect, at, until, by, reason, tombstones } = removal;
  const guarded = guardedPlace(root) && readGuardedRoot(root);
  const said = { at, until, by, reason, hasTombstone: tombstones.length > 0, revokedShares: [] };
  return {
    session: id,
    dialect,
    root,
    path: removedPath(root, removal),
    bytes: bytesOf(removal),
    ...said,
    isGuardCopy: guarded !== null,
    agentFile: guarded ? agentFileOf(guarded, id) : null,
  };
}

function bytesOf({ files }: Removal): number {
  return files.reduce((sum, file) => sum + file.bytes, 0);
}

export function whoIsHere(): string {
  const { user, machine } = thisSender();
  return `${user}@${machine}`;
}
