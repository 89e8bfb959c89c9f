/**
 * Data directories: which names are data directories, and the user's trust and pins for their
 * streams.
 */

import { type Stats, statSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Host } from "../../core/base/host.ts";
import { namesOfData } from "../../streams/signing/signing-user.ts";
import type { InHeadsFile, NamedSession, RootNames } from "../../trust/heads/heads.ts";
import type { RememberedPins, VerifyOptions } from "../../trust/judge/verify-options.ts";
import { nodeCrypto } from "../../trust/keys/node-crypto.ts";
import type { PinBook } from "../../trust/proof/pins.ts";
import type { Trust } from "../../trust/trusted-keys/trust.ts";
import { transcriptKeys } from "../../trust/trusted-keys/trust.ts";
import type { StreamJudging } from "./judge-streams.ts";

/** Whether this is a server's data directory. */
export function isDataDirectory(name: string): boolean {
  const path = resolve(name);
  const isOurs = ["journal", "logs"].some((each) => statOf(join(path, each))?.isDirectory());
  return isOurs && (statOf(join(path, "meta.jsonl"))?.isFile() ?? false);
}

/**
 * The names that are data directories. A directory that is gone, or has lost its streams, still
 * counts while heads of its streams are pinned.
 */
export async function dataDirectoriesAmong(
  host: Host,
  names: readonly string[],
  judging: StreamJudging,
): Promise<string[]> {
  const directories: string[] = [];
  for (const name of names) {
    const pinned = judging.pinnedIn(await namesOfData(host, name));
    if (isDataDirectory(name) || pinned.length > 0) directories.push(name);
  }
  return directories;
}

/** The user's trusted keys and pins. */
export interface UserTrust {
  readonly trust: Trust;
  readonly book: InHeadsFile<PinBook>;
  remembered(session: NamedSession): RememberedPins;
}

export function streamJudgingBy(
  user: UserTrust,
  flags: Pick<VerifyOptions, "isDeep" | "requirePin">,
): StreamJudging {
  return {
    optionsFor: ({ id }, names): VerifyOptions => {
      const remembered = user.remembered({ place: names.place, id, names });
      return { crypto: nodeCrypto, keys: transcriptKeys(user.trust, id), remembered, ...flags };
    },
    pinnedIn: (names) => pinnedUnder(user.book.found, names),
  };
}

/** The ids with a pinned head, under any of the names. */
export function pinnedUnder(book: PinBook, { place, others }: RootNames): string[] {
  const places = new Set([place, ...others]);
  const pins = book.current().filter(({ pin }) => places.has(pin.place));
  return [...new Set(pins.map(({ pin }) => pin.id))];
}

/** Null if it does not exist, or cannot be a path at all. */
function statOf(path: string): Stats | null {
  try {
    return statSync(path);
  } catch {
    return null;
  }
}
