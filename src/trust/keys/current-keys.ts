/**
 * Current keys: the user's own keys and trust as they are now, read again only if a file changed.
 *
 * They are needed whenever lines of other writers are judged, which may be for every checkpoint.
 * Reading and checking them takes longer than signing.
 */

import { lstatSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { errnoOf } from "../../core/base/errors.ts";
import { Trust } from "../trusted-keys/trust.ts";
import { PRIVATE_NAME, PUBLIC_NAME } from "./key-files.ts";
import { loadOwnSigners, type OwnKeys, RETIRED, type Signer, type TrustPaths } from "./keys.ts";

/** Two changes within this time may leave a file with the same stamp: clocks of disks are coarse. */
const SETTLED_MS = 1000;

interface ReadKeys {
  readonly stamp: string | null;
  readonly trust: Trust;
  readonly own: OwnKeys;
}

export class CurrentKeys {
  readonly #places: TrustPaths;
  readonly #signer: Signer;
  readonly #nowMs: () => number;
  #last: ReadKeys | null = null;

  /** `signer` signs if there is no key any more. */
  constructor(places: TrustPaths, signer: Signer, nowMs: () => number = Date.now) {
    this.#places = places;
    this.#signer = signer;
    this.#nowMs = nowMs;
  }

  async read(): Promise<Pick<ReadKeys, "trust" | "own">> {
    const stamp = stampOf(keyPaths(this.#places), this.#nowMs());
    if (this.#last !== null && stamp !== null && this.#last.stamp === stamp) return this.#last;
    const trust = await Trust.load(this.#places);
    const ownKeys = await loadOwnSigners(this.#places, this.#signer);
    this.#last = { stamp, trust, own: ownKeys };
    return this.#last;
  }
}

/** All files that the user's keys and trust are read from, and their directories. */
export function keyPaths({ keyDirectory, trustPath }: TrustPaths): readonly string[] {
  const retired = join(keyDirectory, RETIRED);
  const directories = [keyDirectory, ...namesIn(retired).map((kid) => join(retired, kid))];
  const files = directories.flatMap((each) => [join(each, PRIVATE_NAME), join(each, PUBLIC_NAME)]);
  return [dirname(trustPath), trustPath, retired, ...directories, ...files];
}

/** Changes with the files; null if one changed just now. */
export function stampOf(paths: readonly string[], nowMs: number): string | null {
  const settled = BigInt(Math.floor(nowMs) - SETTLED_MS) * 1_000_000n;
  const stamps: string[] = [];
  for (const path of paths) {
    const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    if (stat && stat.ctimeNs > settled) return null;
    stamps.push(stat ? `${stat.dev} ${stat.ino} ${stat.mode} ${stat.size} ${stat.ctimeNs}` : "");
  }
  return stamps.join("\n");
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (cause) {
    if (errnoOf(cause) === "ENOENT") return [];
    throw cause;
  }
}
