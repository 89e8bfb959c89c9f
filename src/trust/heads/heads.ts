/**
 * Heads: the user's head pins. A signer records here, outside the log, how far the log has come;
 * verifying compares the log with it. The file is `head-file.ts`, the meaning of its lines
 * `trust/proof/pins.ts`. Format: docs/formats/heads.md.
 *
 * - A head is pinned only after its checkpoint is durable, and no append waits for it: a pin that
 *   lags is harmless, a pin ahead would be a false alarm.
 * - Pinning never fails an append. A failed write is reported and retried with the next pin; only
 *   the newest pin of each session waits.
 * - What the user requested (pin, accept, forget, import) is durable when the call returns, or the
 *   call fails.
 */

import { readlinkSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { Host } from "../../core/base/host.ts";
import { userDirectoryFault, userFileFault } from "../../core/base/node-user-files.ts";
import type { RememberedPins } from "../judge/verify-options.ts";
import { type Pin, type PinnedHead, pinFields, readPin } from "../proof/pin.ts";
import { concerns, PinBook, type PinLookup, type SessionPin } from "../proof/pins.ts";
import { type BadPins, HeadFile } from "./head-file.ts";
import { type HeadMerge, merge } from "./head-merge.ts";

/** Checkpoints in quick succession share one opening of the file. */
const GATHER_MS = 100;
/** Limit of sessions whose pins wait while the file cannot be written. */
export const PINS_WAITING_MAX = 10_000;

export interface HeadsOptions {
  readonly host: Host;
  /** The user's own (core/base/node-paths.ts); created with mode 0700 by the first pin. */
  readonly stateDirectory: string;
  readonly onWarning: (warning: string) => void;
}

export interface InHeadsFile<T> {
  readonly found: T;
  /** A warning: some lines are not pins, or the file is not ours alone, so a pin may be missing. */
  readonly problem: string | null;
}

/** `lost`: a head that the user gave up, for the next signer of the session. */
export interface RememberedHead extends RememberedPins {
  readonly lost: Pin | null;
}

/** The names a store may have in pins (session-head.ts). */
export interface RootNames {
  /** By its real path: pins are written under this name. */
  readonly place: string;
  /** By other paths that lead there. */
  readonly others: readonly string[];
  /** The target of the root, if it is a link. */
  readonly leadsTo: string | null;
}

/** A session as pins name it; `names`: its store's names, if known (session-head.ts). */
export interface NamedSession extends Omit<PinLookup, "log"> {
  readonly names?: Pick<RootNames, "others" | "leadsTo">;
}

/** The pins of one session, among all that were read. */
export function rememberedIn(
  { found: book, problem }: InHeadsFile<PinBook>,
  { place, id, names = { others: [], leadsTo: null } }: NamedSession,
): RememberedHead {
  const pinned = [place, ...names.others].flatMap((each) => {
    return book.lookup({ place: each, id, log: null }) ?? [];
  });
  const here = pinned.reduce<SessionPin | null>(
    (so, each) => (so ? further(so, each) : each),
    null,
  );
  const conflict = pinned.map(({ pin }) => here && contradiction(here.pin, pin)).find(Boolean);
  return {
    here: here?.pin ?? null,
    ofLog: (log) => book.lookup({ place, id, log })?.pin ?? null,
    isDamaged: problem !== null,
    conflict: conflict ?? null,
    leadsTo: names.leadsTo,
    otherPlaces: pinned.map(({ pin }) => pin.place).filter((each) => each !== place),
    lost: here?.lost ?? null,
    ...(here?.deleted && { deleted: here.deleted }),
  };
}

/** The later of two pins of one session; for two different logs, the first. */
function further(one: SessionPin, other: SessionPin): SessionPin {
  return one.pin.log === other.pin.log && other.pin.seq > one.pin.seq ? other : one;
}

/** A pair of pins that no single log can satisfy. */
function contradiction(one: Pin, other: Pin): "REPLACED" | "FORK" | null {
  if (one.log !== other.log) return "REPLACED";
  return one.seq === other.seq && one.line !== other.line ? "FORK" : null;
}

/** A store's name in pins: its dialect, and the real path of its root. */
export async function storePlaceOf(
  host: Host,
  { dialect, root }: { readonly dialect: string; readonly root: string },
): Promise<string> {
  const directory = await host.files.openDirectory(root, { create: false });
  directory.close();
  return `${dialect}:${directory.path}`;
}

/** The number of links that Linux follows in one path. */
const LINKS_MAX = 40;

/**
 * The same for a store that may be gone: its name, from what is left of the path. A dangling link
 * still has its target.
 */
export async function placeThatWas(
  host: Host,
  { dialect, root }: { readonly dialect: string; readonly root: string },
  linksMax = LINKS_MAX,
): Promise<string> {
  const path = resolve(root);
  try {
    return await storePlaceOf(host, { dialect, root: path });
  } catch {
    const above = dirname(path);
    const target = linksMax > 0 ? linkTarget(path) : null;
    if (target !== null) {
      return placeThatWas(host, { dialect, root: resolve(above, target) }, linksMax - 1);
    }
    if (above === path) return `${dialect}:${path}`;
    return join(await placeThatWas(host, { dialect, root: above }, linksMax), basename(path));
  }
}

/** The target of a link, existing or not; null if `path` is not a link. */
function linkTarget(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}

export class Heads {
  readonly path: string;
  readonly #host: Host;
  readonly #file: HeadFile;
  readonly #onWarning: (warning: string) => void;
  /** By session and log, the most recently pinned last. */
  readonly #waiting = new Map<string, Pin>();
  #writing: Promise<void> | null = null;
  #lastWriteMs = Number.NEGATIVE_INFINITY;
  #hurry = new AbortController();
  #isUnsynced = false;
  /** The last reported failure, so that it is reported once and not for every pin. */
  #toldFailure: string | null = null;

  constructor({ host, stateDirectory, onWarning }: HeadsOptions) {
    this.#host = host;
    this.#file = new HeadFile(host, stateDirectory);
    this.#onWarning = onWarning;
    this.path = this.#file.path;
  }

  /** Records a head whose checkpoint is durable. */
  pin(head: PinnedHead, why: "signed" | "verified"): void {
    const pin: Pin = { ...head, why };
    const key = `${pin.place}\0${pin.id}\0${pin.log}`;
    const waiting = this.#waiting.get(key);
    if (waiting && waiting.seq >= pin.seq) return; // trust/proof/pins.ts, PB1
    this.#waiting.delete(key);
    this.#waiting.set(key, pin);
    this.#dropSurplus();
    this.#writing ??= this.#write(false);
  }

  /** Resolves when every pin is on disk, or its failure was reported. Never rejects. */
  async flush(): Promise<void> {
    this.#hurry.abort();
    while (this.#writing) await this.#writing;
    this.#hurry = new AbortController();
    if (this.#waiting.size === 0 && !this.#isUnsynced) return;
    this.#writing = this.#write(true);
    await this.#writing;
  }

  /**
   * The pin of a session. Call this before reading the log's end: otherwise a log that is being
   * appended to would look rolled back.
   */
  async lookup(whose: PinLookup): Promise<InHeadsFile<SessionPin | null>> {
    const book = new PinBook();
    const bad = await this.#file.read((pin) => concerns(pin, whose) && book.add(pin));
    return { found: book.lookup(whose), problem: this.#problemOf(bad) };
  }

  /**
   * The pins that verifying a session needs. For many sessions: `read` once, then `rememberedIn`
   * for each.
   */
  async remembered(session: NamedSession): Promise<RememberedHead> {
    return rememberedIn(await this.read(), session);
  }

  async read(): Promise<InHeadsFile<PinBook>> {
    const book = new PinBook();
    const bad = await this.#file.read((pin) => book.add(pin));
    return { found: book, problem: this.#problemOf(bad) };
  }

  /** Pins heads at the user's request; `pin` is for callers that do not wait. */
  pinNow(heads: readonly PinnedHead[]): Promise<void> {
    return this.#record(heads.map((head) => ({ ...head, why: "verified" })));
  }

  /** Pins a head in place of a later one that is lost, at the user's request. */
  accept(head: PinnedHead): Promise<void> {
    return this.#record([{ ...head, why: "accepted" }]);
  }

  /** Unpins a session that was deleted on purpose; returns its pin, or null. */
  async forget(session: { readonly place: string; readonly id: string }): Promise<Pin | null> {
    await this.flush();
    return this.#file.locked(async (heads) => {
      const pinned = (await heads.readBook()).lookup({ ...session, log: null });
      if (!pinned) return null;
      await heads.append([{ ...pinned.pin, why: "forgotten" }], { isDurable: true });
      return pinned.pin;
    });
  }

  /**
   * Unpins sessions of one place that were deleted on purpose, by id. A pin signed after the given
   * time is kept: it belongs to a new session with the same id. Returns the new lines.
   */
  async forgetAll(place: string, ids: ReadonlyMap<string, number>): Promise<readonly Pin[]> {
    await this.flush();
    return this.#file.locked(async (heads) => {
      const book = await heads.readBook();
      const forgotten: Pin[] = [];
      for (const [id, untilMs] of ids) {
        const pinned = book.lookup({ place, id, log: null });
        if (!pinned || Date.parse(pinned.pin.ts) > untilMs) continue;
        forgotten.push({ ...pinned.pin, why: "forgotten" });
      }
      if (forgotten.length > 0) await heads.append(forgotten, { isDurable: true });
      return forgotten;
    });
  }

  /** The pins of a session that is about to be deleted. */
  async pinsOf({ place, others }: RootNames, id: string): Promise<readonly Pin[]> {
    await this.flush();
    const { found: book } = await this.read();
    return [place, ...others].flatMap((each) => {
      return book.lookup({ place: each, id, log: null })?.pin ?? [];
    });
  }

  /** Adds tombstones that are not there yet, of heads that are still pinned. */
  async bury(tombstones: readonly Pin[]): Promise<void> {
    await this.#addEach(tombstones, (book, pin) => {
      const known = book.lookup({ ...pin, log: null });
      return known?.pin.line === pin.line && known.deleted === undefined;
    });
  }

  /** Takes tombstones back: the sessions were restored. */
  async exhume(tombstones: readonly Pin[]): Promise<void> {
    const pins = tombstones.map(({ tombstone: _, ...head }): Pin => ({ ...head, why: "verified" }));
    await this.#addEach(pins, (book, pin) => {
      return book.lookup({ ...pin, log: null })?.deleted?.line === pin.line;
    });
  }

  async #addEach(
    pins: readonly Pin[],
    isNeeded: (book: PinBook, pin: Pin) => boolean,
  ): Promise<void> {
    if (pins.length === 0) return;
    await this.flush();
    await this.#file.locked(async (heads) => {
      const book = await heads.readBook();
      const needed = pins.filter((pin) => isNeeded(book, pin));
      if (needed.length > 0) await heads.append(needed, { isDurable: true });
    });
  }

  /** Adds the pins of another machine that are newer than ours. */
  async import(pins: readonly Pin[]): Promise<HeadMerge> {
    await this.flush();
    return this.#file.locked(async (heads) => {
      const merged = merge(await heads.readBook(), pins);
      if (merged.added.length > 0) await heads.append(merged.added, { isDurable: true });
      return merged;
    });
  }

  async #record(pins: readonly Pin[]): Promise<void> {
    await this.flush();
    await this.#file.locked((heads) => heads.append(pins, { isDurable: true }));
  }

  /**
   * Writes waiting pins, with a pause after the previous write; for `flush`, at once and durably.
   */
  async #write(forFlush: boolean): Promise<void> {
    // Always awaits: `#writing` is this promise, and is set only after the first await.
    await (forFlush ? null : this.#gather());
    const isDurable = forFlush || this.#hurry.signal.aborted; // A flush has started meanwhile.
    this.#dropUnwritable();
    const batch = new Map(this.#waiting);
    if (batch.size === 0 && !(isDurable && this.#isUnsynced)) {
      this.#writing = null;
      return;
    }
    try {
      await this.#file.locked((heads) => heads.append([...batch.values()], { isDurable }));
      for (const [key, pin] of batch) {
        if (this.#waiting.get(key) === pin) this.#waiting.delete(key);
      }
      this.#isUnsynced = !isDurable;
      this.#toldFailure = null;
      this.#lastWriteMs = this.#host.clock.monotonicMs();
    } catch (cause) {
      if (isDurable) this.#isUnsynced = false; // A failed sync is not retried.
      this.#tellFailure(cause);
      this.#writing = null;
      return;
    }
    this.#writing = this.#waiting.size > 0 ? this.#write(false) : null;
  }

  async #gather(): Promise<void> {
    const { clock } = this.#host;
    const restMs = this.#lastWriteMs + GATHER_MS - clock.monotonicMs();
    // Rejects when a flush starts; then it is time to write as well.
    if (restMs > 0) await clock.sleep(restMs, this.#hurry.signal).catch(() => {});
  }

  /** Drops pins that could not be read back. */
  #dropUnwritable(): void {
    for (const [key, pin] of this.#waiting) {
      const { fault } = readPin(pinFields(pin));
      if (fault === null) continue;
      this.#waiting.delete(key);
      this.#onWarning(`a head of ${pin.id} cannot be pinned (${fault}); a rollback may be missed`);
    }
  }

  #dropSurplus(): void {
    for (const [key, { id }] of this.#waiting) {
      if (this.#waiting.size <= PINS_WAITING_MAX) return;
      this.#waiting.delete(key);
      this.#onWarning(
        `${this.path} cannot be written and too many pins wait; the head of ${id} is not pinned, ` +
          "and a rollback of it may be missed",
      );
    }
  }

  #tellFailure(cause: unknown): void {
    const failure = cause instanceof Error ? cause.message : String(cause);
    if (failure === this.#toldFailure) return;
    this.#toldFailure = failure;
    this.#onWarning(
      `heads could not be pinned, and rollbacks may be missed; tried again at the next ` +
        `checkpoint: ${failure}`,
    );
  }

  #problemOf(bad: BadPins | null): string | null {
    if (bad) {
      const lines = bad.count === 1 ? "1 line" : `${bad.count} lines`;
      return (
        `${lines} of ${this.path} cannot be read, and a pin may be missing: line ${bad.line} is ` +
        `bad (${bad.reason}); mend or delete it by hand`
      );
    }
    const directory = dirname(this.path);
    const directoryFault = userDirectoryFault(directory);
    const fault = directoryFault ?? userFileFault(this.path);
    const which = directoryFault ? directory : this.path;
    return fault && `a pin may be missing, or not ours: of ${which}, ${fault}`;
  }
}
