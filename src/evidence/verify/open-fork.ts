/**
 * Open fork: the lines of a signed fork, from exactly the bytes that were judged: those inherited
 * from its sources, then its own.
 *
 * The checkpoints of each stream cover only its own file, so each is judged by itself, and a source
 * up to the fork point (judge-streams.ts, JS1). The lines are then read from the whole stream, and
 * used only if they have the digests of what was judged (trust/judge/open-verified.ts, N1).
 */

import type { OpenFile } from "../../core/base/files.ts";
import type { Host } from "../../core/base/host.ts";
import { hostOf } from "../../dialects/all.ts";
import { streamsIn } from "../../streams/files/reading/stream-list.ts";
import { streamPathToFilename } from "../../streams/files/stream-path.ts";
import { changedWhileRead } from "../../trust/judge/inspect.ts";
import {
  type OpenVerifiedOptions,
  openJudged,
  Pieces,
  type VerifiedLog,
} from "../../trust/judge/open-verified.ts";
import { nodeCrypto } from "../../trust/keys/node-crypto.ts";
import { STREAMS } from "../../trust/proof/envelopes.ts";
import { sidecarOf } from "../../trust/session-log.ts";
import type { KnownStreamState, StreamJudging } from "./judge-streams.ts";
import { judgeStream } from "./verify-directory.ts";

/** Whether a stream begins in another one and has checkpoints of its own. */
export async function isSignedFork(host: Host, root: string, id: string): Promise<boolean> {
  const stream = streamsIn(root).get(id);
  if (stream === undefined || stream.base === 0) return false;
  const logs = await host.files.openDirectory(`${root}/logs`, { create: false, root });
  try {
    return logs.names().includes(sidecarOf(stream.file));
  } finally {
    logs.close();
  }
}

/** Refuses with NOT_VERIFIED, also while the journal has bytes that the files lack. */
export async function openVerifiedFork(
  host: Host,
  { root, id }: { readonly root: string; readonly id: string },
  judging: StreamJudging,
  options: Omit<OpenVerifiedOptions, "crypto" | "keys">,
): Promise<VerifiedLog> {
  const chain = chainOf(streamsIn(root), id);
  const parts = new Map(chain.map(({ path, upTo }) => [path, new CappedPieces(upTo)]));
  const onBytes = ({ path }: KnownStreamState, bytes: Uint8Array) => parts.get(path)?.add(bytes);
  const report = await judgeStream(host, root, id, { judging, onBytes });
  const pieces = new Pieces(nodeCrypto);
  for (const part of parts.values()) {
    part.end();
    pieces.append(part);
  }
  const base = streamsIn(root).get(id)?.base ?? 0;
  if (report.signed_through && pieces.bytes !== base + report.file.bytes) {
    throw changedWhileRead(report.path, pieces.bytes);
  }
  const isVerified =
    report.signed_through !== null &&
    !report.findings.some(({ code }) => code === "SOURCE_NOT_VERIFIED");
  const log = await openWhole(host, root, id);
  try {
    const all = { ...options, crypto: nodeCrypto } as OpenVerifiedOptions;
    return await openJudged(log, pieces, report, all, { bytes: base, isVerified });
  } catch (cause) {
    log.close();
    throw cause;
  }
}

/** Keeps only the part of a source that the fork inherits. */
class CappedPieces extends Pieces {
  readonly #max: number;

  constructor(max: number) {
    super(nodeCrypto);
    this.#max = max;
  }

  override add(bytes: Uint8Array): void {
    super.add(bytes.subarray(0, Math.max(0, this.#max - this.bytes)));
  }
}

/** The streams that make up a fork, the first source first, and how much of each file. */
function chainOf(
  streams: ReturnType<typeof streamsIn>,
  id: string,
): { readonly path: string; readonly upTo: number }[] {
  const chain: { path: string; upTo: number }[] = [];
  let end = Infinity;
  for (let at = streams.get(id); at !== undefined; ) {
    if (at.base < end) chain.unshift({ path: at.path, upTo: end - at.base });
    end = Math.min(end, at.base);
    const { source } = at;
    const isSeen = chain.some(({ path }) => path === source);
    at = end === 0 || source === null || isSeen ? undefined : streams.get(source);
  }
  return chain;
}

async function openWhole(host: Host, root: string, id: string): Promise<OpenFile> {
  const path = `${root}/logs`;
  const logs = await hostOf(host, { dialect: STREAMS, root: root }).files.openDirectory(path, {
    create: false,
    root,
  });
  try {
    return logs.open(streamPathToFilename(id), "read");
  } finally {
    logs.close();
  }
}
