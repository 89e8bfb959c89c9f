/**
 * Trust file: `trust.json`, the keys that a user trusts besides their own. Format:
 * docs/formats/trust.md.
 *
 * - It is the user's, never a project's: its path comes from the user's directories alone.
 * - One refused entry refuses the file. Without that entry, a revocation may be missing.
 * - Replaced atomically, under a lock, and durably: an acknowledged revocation is on disk.
 */

import { basename, dirname } from "node:path";
import { VerbatimError } from "../../core/base/errors.ts";
import type { Host } from "../../core/base/host.ts";
import { readUserFile, userDirectoryFault } from "../../core/base/node-user-files.ts";
import { replaceFileDurably } from "../../core/base/replace.ts";
import { withLockedDirectory } from "../keys/key-files.ts";
import { entryFault, orderFields, type TrustEntry } from "./trust-entry.ts";

const VERSION = 1;
export const TRUST_BYTES_MAX = 1024 * 1024;
export const ENTRIES_MAX = 1000;

/** The entries; none without a file. Refuses with TRUST_REFUSED. */
export function readTrustFile(path: string): readonly TrustEntry[] {
  const directoryFault = userDirectoryFault(dirname(path));
  if (directoryFault !== null) throw trustRefused(path, `its directory: ${directoryFault}`);
  const file = readUserFile(path, { bytesMax: TRUST_BYTES_MAX, access: "own" });
  if (file === null) return [];
  if (file.fault !== null) throw trustRefused(path, file.fault);
  let value: unknown;
  try {
    value = JSON.parse(file.text);
  } catch {
    throw trustRefused(path, "it is not JSON");
  }
  return checked(path, value);
}

/** Changes the entries, under a lock; resolves to them once they are durable. */
export async function changeTrustFile(
  host: Host,
  path: string,
  change: (entries: readonly TrustEntry[]) => readonly TrustEntry[],
): Promise<readonly TrustEntry[]> {
  return withLockedDirectory(host, dirname(path), basename(path), async (directory) => {
    const keys = change(readTrustFile(path)).map(orderFields);
    const text = `${JSON.stringify({ version: VERSION, keys }, null, 2)}\n`;
    // What could not be read back is not written.
    checked(path, { version: VERSION, keys });
    if (Buffer.byteLength(text) > TRUST_BYTES_MAX) {
      throw trustRefused(path, `it would be larger than ${TRUST_BYTES_MAX} bytes`);
    }
    await replaceFileDurably(directory, basename(path), text);
    return keys;
  });
}

export function trustRefused(path: string, reason: string): VerbatimError<"TRUST_REFUSED"> {
  return new VerbatimError("TRUST_REFUSED", `${path} is refused: ${reason}`, { path, reason });
}

function checked(path: string, value: unknown): readonly TrustEntry[] {
  const { version, keys, ...others } = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (version !== VERSION) throw trustRefused(path, "this version of Verbatim cannot read it");
  if (!Array.isArray(keys) || Object.keys(others).length > 0) {
    throw trustRefused(path, "it holds something else than version and keys");
  }
  if (keys.length > ENTRIES_MAX) throw trustRefused(path, `it has over ${ENTRIES_MAX} keys`);
  const kids = new Set<string>();
  for (const [index, entry] of keys.entries()) {
    const fault = entryFault(entry);
    if (fault !== null) throw trustRefused(path, `key ${index + 1}: ${fault}`);
    const { kid } = entry as TrustEntry;
    if (kids.has(kid)) throw trustRefused(path, `key ${index + 1}: it is listed twice`);
    kids.add(kid);
  }
  return keys;
}
