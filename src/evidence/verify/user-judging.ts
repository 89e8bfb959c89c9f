/**
 * User judging: what a user's sessions are judged by: their trusted keys and pinned heads.
 *
 * Read once, before any log is opened: a concurrent writer can only be ahead (verify.ts, V4).
 * Writes nothing. While a log is judged, lines in its signed part that state an erasure are
 * collected; those outside of it do not count.
 */

import type { Host } from "../../core/base/host.ts";
import { type UserPaths, userPaths } from "../../core/base/node-paths.ts";
import { decodeLine } from "../../core/log/json.ts";
import { ERASE_REPORT, type Erasure, erasureIn } from "../../core/model/erasure.ts";
import { dialectNamed } from "../../dialects/all.ts";
import { SpillProof } from "../../dialects/files/spill-proof.ts";
import { isReceived } from "../../sessions/list/whose.ts";
import { readPinFile } from "../../trust/heads/head-export.ts";
import { type Conflict, describeConflict, merge } from "../../trust/heads/head-merge.ts";
import {
  Heads,
  type InHeadsFile,
  type NamedSession,
  type RootNames,
  rememberedIn,
} from "../../trust/heads/heads.ts";
import { rootNames } from "../../trust/heads/session-head.ts";
import { isOwnTombstone } from "../../trust/heads/tombstones.ts";
import type {
  FilesProof,
  RememberedPins,
  StatedErasures,
  VerifyOptions,
} from "../../trust/judge/verify-options.ts";
import { nodeCrypto } from "../../trust/keys/node-crypto.ts";
import { LF } from "../../trust/proof/bytes.ts";
import type { FoundRange } from "../../trust/proof/checkpoint.ts";
import type { Pin } from "../../trust/proof/pin.ts";
import { PinBook } from "../../trust/proof/pins.ts";
import { WholeLines } from "../../trust/proof/whole-lines.ts";
import type { SessionLog } from "../../trust/session-log.ts";
import { Trust, transcriptKeys } from "../../trust/trusted-keys/trust.ts";
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
    const { writing, files } = dialectNamed(target.dialect);
    const { spilling } = writing ?? {};
    if (spilling) return new SpillProof(this.#host, target, spilling, isReceived(target.root));
    if (id === null) return null;
    return (await files?.load?.())?.proofOf?.(this.#host, { ...target, id }, this.trust) ?? null;
  }

  remembered(session: NamedSession): RememberedPins {
    const { place, id, names } = session;
    const theirs = this.#conflicts.find(({ theirs }) => {
      return theirs.id === id && [place, ...(names?.others ?? [])].includes(theirs.place);
    });
    const { conflict, deleted, ...remembered } = rememberedIn(this.book, session);
    const isOwn = deleted !== undefined && isOwnTombstone(deleted, this.trust);
    return {
      ...remembered,
      conflict: theirs?.why ?? conflict ?? null,
      ...(isOwn && { deleted }),
    };
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

/** Not escaped: a report that is quoted in a text is not one. */
const NEEDLE = Buffer.from(`"${ERASE_REPORT}"`);
/** Much longer than any report. */
const REPORT_BYTES_MAX = 1024 * 1024;

class ErasureReports implements StatedErasures {
  readonly #dialect: string;
  readonly #reports: { readonly start: number; readonly erasure: Erasure }[] = [];
  readonly #whole: WholeLines;
  #at = 0;

  constructor(dialect: string) {
    this.#dialect = dialect;
    const skipped = (bytes: number) => {
      this.#at += bytes;
    };
    const long = { bytesMax: REPORT_BYTES_MAX, skipped };
    this.#whole = new WholeLines((lines) => this.#look(lines), long);
  }

  onBytes(bytes: Uint8Array): void {
    this.#whole.feed(bytes);
  }

  within(signedEnd: number, found: readonly FoundRange[]): readonly Erasure[] {
    const isSigned = (at: number) =>
      at < signedEnd && !found.some(([from, to]) => from <= at && at < to);
    return this.#reports.filter(({ start }) => isSigned(start)).map(({ erasure }) => erasure);
  }

  #look(lines: Uint8Array): void {
    const bytes = Buffer.from(lines.buffer, lines.byteOffset, lines.length);
    for (let at = bytes.indexOf(NEEDLE); at !== -1; at = bytes.indexOf(NEEDLE, at + 1)) {
      const start = bytes.lastIndexOf(LF, at) + 1;
      const end = bytes.indexOf(LF, at);
      this.#read(bytes.subarray(start, end), this.#at + start);
      at = end;
    }
    this.#at += lines.length;
  }

  #read(line: Buffer, start: number): void {
    const { value, fault } = decodeLine(line, 0, line.length);
    if (fault !== null) return;
    const { entry } = dialectNamed(this.#dialect).reading.decode(value);
    const erasure = entry && erasureIn(entry);
    if (erasure) this.#reports.push({ start, erasure });
  }
}
