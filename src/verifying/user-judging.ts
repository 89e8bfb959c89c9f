/**
 * User judging: what a user's sessions are judged by: their trusted keys and pinned heads.
 *
 * Read once, before any log is opened: a concurrent writer can only be ahead (verify.ts, V4).
 * Writes nothing.
 */

import type { Host } from "../base/host.ts";
import { type UserPaths, userPaths } from "../base/node-paths.ts";
import { dialectNamed } from "../dialects/all.ts";
import { SpillProof } from "../dialects/files/spill-proof.ts";
import type { Pin } from "../proof/pin.ts";
import { PinBook } from "../proof/pins.ts";
import { readPinFile } from "../signing/heads/head-export.ts";
import { type Conflict, describeConflict, merge } from "../signing/heads/head-merge.ts";
import {
  Heads,
  type InHeadsFile,
  type NamedSession,
  type RootNames,
  rememberedIn,
} from "../signing/heads/heads.ts";
import { rootNames } from "../signing/heads/session-head.ts";
import type { FilesProof, Remembered, VerifyOptions } from "../signing/judging/verify-options.ts";
import { nodeCrypto } from "../signing/keys/node-crypto.ts";
import type { SessionLog } from "../signing/session-log.ts";
import { Trust, transcriptKeys } from "../signing/trust/trust.ts";
import { ErasureReports } from "./erasure-reports.ts";
import type { Against } from "./expected-pins.ts";

export interface JudgingOptions {
  /** A file of exported heads to use as well. */
  readonly against?: string | null;
  readonly places?: UserPaths;
  readonly onWarning: (warning: string) => void;
}

export class UserJudging {
  readonly trust: Trust;
  readonly heads: Heads;
  readonly book: InHeadsFile<PinBook>;
  readonly against: Against | null;
  readonly #host: Host;
  readonly #names = new Map<string, Promise<RootNames>>();
  /** Where the file of heads contradicts ours. */
  readonly #conflicts: readonly Conflict[];

  private constructor(
    host: Host,
    trust: Trust,
    heads: Heads,
    book: InHeadsFile<PinBook>,
    conflicts: readonly Conflict[],
    against: Against | null,
  ) {
    this.#host = host;
    this.trust = trust;
    this.heads = heads;
    this.book = book;
    this.#conflicts = conflicts;
    this.against = against;
  }

  /** Refuses if the user's keys, trust or the file of heads are faulty. */
  static async load(host: Host, options: JudgingOptions): Promise<UserJudging> {
    const { places = userPaths(), against = null, onWarning } = options;
    const trust = await Trust.load(places);
    const heads = new Heads({ host, stateDirectory: places.stateDirectory, onWarning });
    const book = await heads.read();
    if (book.problem !== null) onWarning(book.problem);
    // Theirs are added to ours and take nothing back (HM1): else the file could hide a rollback.
    const pins = against === null ? [] : await readPinFile(host, against);
    const { conflicts } = merge(book.found, pins);
    for (const conflict of conflicts) onWarning(describeConflict(conflict));
    const theirs = against === null ? null : { file: against, pins: newestOf(pins) };
    return new UserJudging(host, trust, heads, book, conflicts, theirs);
  }

  /** The options to judge a session. For one verdict: its proofs are used once. */
  async optionsFor(target: SessionLog): Promise<VerifyOptions> {
    return {
      crypto: nodeCrypto,
      keys: transcriptKeys(this.trust, target.id),
      remembered: this.remembered(await this.whose(target)),
      filesProof: await this.#filesProof(target),
      erasures: new ErasureReports(target.dialect),
    };
  }

  /** Judges the files that belong to a log; null if there are none. */
  async #filesProof(target: SessionLog): Promise<FilesProof | null> {
    const { id } = target;
    const { spilling, files } = dialectNamed(target.dialect);
    if (spilling) return new SpillProof(this.#host, target, spilling);
    if (id === null) return null;
    return (await files?.())?.proofOf?.(this.#host, { ...target, id }, this.trust) ?? null;
  }

  remembered(session: NamedSession): Remembered {
    const { place, id, names } = session;
    const theirs = this.#conflicts.find(({ theirs }) => {
      return theirs.id === id && [place, ...(names?.others ?? [])].includes(theirs.place);
    });
    const { conflict, ...remembered } = rememberedIn(this.book, session);
    return { ...remembered, conflict: theirs?.why ?? conflict ?? null };
  }

  /** A session's name in pins; a file outside any store is known by its log id alone. */
  async whose({ dialect, root, id }: SessionLog): Promise<NamedSession> {
    if (id === null) return { place: "", id: "" };
    const names = await this.namesOf({ dialect, root });
    return { place: names.place, id, names };
  }

  /** A store's names in pins; computed once for all its sessions. */
  namesOf(store: Pick<SessionLog, "dialect" | "root">): Promise<RootNames> {
    const key = `${store.dialect}:${store.root}`;
    const names = this.#names.get(key) ?? rootNames(this.#host, store);
    this.#names.set(key, names);
    return names;
  }
}

/** The newest pin of each session; none of a forgotten one. */
function newestOf(pins: readonly Pin[]): Pin[] {
  const book = new PinBook();
  for (const pin of pins) book.add(pin);
  return book.current().map(({ pin }) => pin);
}
