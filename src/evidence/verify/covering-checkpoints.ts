/**
 * Covering checkpoints: those that cover a range of a log, unchanged, for clients that verify by
 * themselves. Nothing is judged here: every line in the form of a checkpoint is returned.
 *
 * Both the search and the result are bounded. A search that ended early says so.
 */

import type { OpenFile } from "../../core/base/files.ts";
import type { Host } from "../../core/base/host.ts";
import { LOG_LIMITS } from "../../core/base/limits.ts";
import { NUL, readChunks } from "../../core/log/bytes.ts";
import type { LogWindow } from "../../core/log/window.ts";
import { hostOf } from "../../dialects/all.ts";
import type { Session } from "../../sessions/store/session.ts";
import { SidecarOrder } from "../../trust/judge/inspect-sidecar.ts";
import { nodeCrypto } from "../../trust/keys/node-crypto.ts";
import { LF } from "../../trust/proof/bytes.ts";
import type { Checkpoint, EnvelopeName } from "../../trust/proof/checkpoint.ts";
import type { Claim } from "../../trust/proof/claims.ts";
import { envelopeOf, hasSidecar } from "../../trust/proof/envelopes.ts";
import { Walk } from "../../trust/proof/walk.ts";
import { openSidecar } from "../../trust/signer/session-files.ts";

export interface StandingCheckpoint {
  /** Its line without the LF; ASCII. */
  readonly line: string;
  /** Offset of the line, in the log or in its sidecar. */
  readonly start: number;
  readonly end: number;
  readonly seq: number;
  readonly kind: Checkpoint["kind"];
  readonly keyId: string;
  /** The range that its `hash` covers: the log's bytes up to `to`. */
  readonly covers: { readonly from: 0; readonly to: number };
}

export interface RangeCover {
  /** Where the checkpoints of this session are. */
  readonly place: "log" | "sidecar";
  /** The first checkpoint, whose salt the leaves need; null if none was found. */
  readonly genesis: StandingCheckpoint | null;
  /** Those inside the range, and the first that covers all of it, with any at the same offset. */
  readonly checkpoints: readonly StandingCheckpoint[];
  /** Lines of the sidecar that are not checkpoints; nothing else belongs there. */
  readonly foreignLines: number;
  /** Lines of the sidecar that are checkpoints of a version unknown to this program. */
  readonly newerLines: number;
  /** Whether the range is covered to its end. */
  readonly isCovered: boolean;
  /** Whether all possible checkpoints of the range were read. */
  readonly isComplete: boolean;
}

export interface CoveringLimits {
  readonly checkpointsMax: number;
  /** Limit of bytes read past the range, or in the sidecar. */
  readonly searchedBytesMax: number;
}

/** How far to search for a genesis: it follows the first lines, and one of them may be long. */
const FIRST_LINES_BYTES = LOG_LIMITS.lineBytesMax + 1024 * 1024;

export async function coveringCheckpoints(
  host: Host,
  session: Session,
  log: LogWindow,
  stretch: { readonly from: number; readonly to: number },
  limits: CoveringLimits,
): Promise<RangeCover> {
  const { logId, root, id, dialect } = session;
  const search = new Search(stretch.from, stretch.to, limits);
  if (!hasSidecar(dialect.name)) {
    const envelope = envelopeOf(dialect.name);
    await search.genesisIn(log.chunks(0, FIRST_LINES_BYTES), envelope);
    const until = stretch.to + limits.searchedBytesMax;
    await search.walk(log.chunks(stretch.from, until), stretch.from, envelope);
    return search.found("log", until >= log.bytesEnd);
  }
  const signed = { dialect: dialect.name, root, logId, id };
  const sidecar = await openSidecar(hostOf(host, { dialect: dialect.name, root }), signed);
  if (sidecar === null) return search.found("sidecar", true);
  try {
    return await searchSidecar(sidecar, search, limits);
  } finally {
    sidecar.close();
  }
}

async function searchSidecar(
  sidecar: OpenFile,
  search: Search,
  { searchedBytesMax }: CoveringLimits,
): Promise<RangeCover> {
  const size = sidecar.size();
  await search.genesisIn(readChunks(sidecar, 0, Math.min(size, FIRST_LINES_BYTES)), "sidecar");
  await search.walk(readChunks(sidecar, 0, Math.min(size, searchedBytesMax)), 0, "sidecar");
  return search.found("sidecar", size <= searchedBytesMax);
}

class Search {
  readonly #from: number;
  readonly #to: number;
  readonly #checkpointsMax: number;
  readonly #checkpoints: StandingCheckpoint[] = [];
  #genesis: StandingCheckpoint | null = null;
  #isFull = false;
  #foreignLines = 0;
  #newerLines = 0;

  constructor(from: number, to: number, { checkpointsMax }: CoveringLimits) {
    this.#from = from;
    this.#to = to;
    this.#checkpointsMax = checkpointsMax;
  }

  async genesisIn(chunks: AsyncIterable<Uint8Array>, envelope: EnvelopeName): Promise<void> {
    let isInPlace = false;
    const take = (found: StandingCheckpoint) => {
      if (found.kind !== "genesis" || isInPlace) return;
      isInPlace = envelope === "sidecar" || found.covers.to === found.start; // Else it may be void.
      if (isInPlace) this.#genesis = found;
      else this.#genesis ??= found;
    };
    await eachCheckpoint(chunks, 0, envelope, take, () => isInPlace);
  }

  async walk(
    chunks: AsyncIterable<Uint8Array>,
    base: number,
    envelope: EnvelopeName,
  ): Promise<void> {
    const take = (found: StandingCheckpoint) => {
      const last = this.#checkpoints.at(-1);
      if (found.covers.to <= this.#from) return;
      if (this.#isCovered && found.covers.to !== last?.covers.to) return;
      if (this.#checkpoints.length < this.#checkpointsMax) this.#checkpoints.push(found);
      else this.#isFull = true;
    };
    if (envelope !== "sidecar") {
      const isOver = () => this.#isFull || this.#isCovered;
      return eachCheckpoint(chunks, base, envelope, take, isOver);
    }
    // To its end: several may have the same offset, and any other line shows that the file was
    // changed.
    const order = new SidecarOrder();
    const takeFromSidecar = (found: StandingCheckpoint) => {
      if (order.kindOf("checkpoint", false) === "checkpoint") take(found);
      else this.#foreignLines++;
    };
    const onOther = (lines: Uint8Array, claim: Claim["is"] | null) => {
      for (let start = 0; start < lines.length; ) {
        const next = lines.indexOf(LF, start) + 1;
        const kind = order.kindOf(claim, lines.subarray(start, next).includes(NUL));
        if (kind === "newer") this.#newerLines++;
        if (kind === "foreign") this.#foreignLines++;
        start = next;
      }
    };
    await eachCheckpoint(chunks, base, envelope, takeFromSidecar, () => this.#isFull, onOther);
  }

  found(place: RangeCover["place"], isAllSearched: boolean): RangeCover {
    const isCovered = this.#isCovered;
    return {
      place,
      genesis: this.#genesis,
      checkpoints: this.#checkpoints,
      foreignLines: this.#foreignLines,
      newerLines: this.#newerLines,
      isCovered,
      isComplete: isCovered || (isAllSearched && !this.#isFull),
    };
  }

  get #isCovered(): boolean {
    const last = this.#checkpoints.at(-1);
    return last !== undefined && last.covers.to >= this.#to;
  }
}

async function eachCheckpoint(
  chunks: AsyncIterable<Uint8Array>,
  base: number,
  envelope: EnvelopeName,
  take: (found: StandingCheckpoint) => void,
  isOver: () => boolean,
  onOther: (lines: Uint8Array, claim: Claim["is"] | null) => void = () => {},
): Promise<void> {
  const walk = new Walk(nodeCrypto, envelope, {
    lines: (lines) => onOther(lines, null),
    claim: (line, start, claim) => {
      if (claim.is !== "checkpoint") return onOther(line, claim.is);
      const { seq, kind, kid, byteOffset } = claim.checkpoint;
      take({
        line: Buffer.from(line.subarray(0, -1)).toString("latin1"),
        start: base + start,
        end: base + start + line.length,
        seq,
        kind,
        keyId: kid,
        covers: { from: 0, to: byteOffset },
      });
    },
  });
  for await (const chunk of chunks) {
    walk.feed(chunk);
    if (isOver() || walk.restBytes > LOG_LIMITS.lineBytesMax) return;
  }
}
