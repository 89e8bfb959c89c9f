/** Proofs: that lines are part of a signed session, from its log or from a disclosed copy. */

import { resolve } from "node:path";
import { leafIndexDirectory, userPaths } from "../core/base/node-paths.ts";
import { hostOf } from "../dialects/all.ts";
import { type Proven, proveCopy, proveLog } from "../evidence/prove/prove.ts";
import { readOwnKeys, type Signer } from "../trust/keys/keys.ts";
import { COPY_EXTENSION } from "../trust/proof/disclosure/copy-file.ts";
import type { Verdict } from "../trust/proof/verdict.ts";
import { Trust, transcriptKeys } from "../trust/trusted-keys/trust.ts";
import type { ProveOptions } from "./options.ts";
import type { Places } from "./places.ts";

export interface Proof {
  /** The content of a file NAME.vbp. */
  readonly bytes: Uint8Array;
  /** By your own trusted keys. */
  readonly verdict: Verdict;
  /** The numbers of the lines that it shows, from 1. */
  readonly lines: readonly number[];
}

export async function proveEntries(
  places: Places,
  name: string,
  options: ProveOptions,
): Promise<Proof> {
  const { signal } = options;
  const { bytes, judgement } = await proven(places, name, options).catch((cause: unknown) => {
    signal?.throwIfAborted(); // An aborted read would look like an unreadable log.
    throw cause;
  });
  const lines = judgement.lines.map(({ index }) => index + 1);
  return { bytes, verdict: judgement.verdict, lines };
}

async function proven(places: Places, name: string, options: ProveOptions): Promise<Proven> {
  const { host } = places;
  const { entries = [], context = 0, consistency, signal } = options;
  const asked = { entries, context, consistency: consistency ?? null };
  const how = { signer: ownSigner(), nowMs: Date.now };
  if (name.endsWith(COPY_EXTENSION)) {
    const keys = transcriptKeys(await Trust.load(userPaths()), null);
    return proveCopy(host, resolve(places.cwd, name), asked, { keys, ...how });
  }
  const { log, judging } = await places.findSigned(name);
  return proveLog(hostOf(host, log), log, asked, {
    ...how,
    verify: () => judging.optionsFor(log),
    indexDirectory: leafIndexDirectory(),
    onProgress: () => signal?.throwIfAborted(),
  });
}

/** The user's current key, if there is one: a proof needs none. */
function ownSigner(): Signer | null {
  return readOwnKeys(userPaths()).find(({ state }) => state === "current")?.signer ?? null;
}
