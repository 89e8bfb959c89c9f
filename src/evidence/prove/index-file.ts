/**
 * Index file: keeps leaf indexes in the user's cache, one file per log. Losing one, or failing to
 * write one, costs time only.
 */

import { createHash, randomUUID } from "node:crypto";
import { readFile, realpath, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { writeAll } from "../../core/base/file-steps.ts";
import type { Host } from "../../core/base/host.ts";
import type { ProofCrypto } from "../../trust/proof/crypto.ts";
import type { SignableLog } from "../../trust/session-log.ts";
import { LeafIndex } from "./leaf-index.ts";

/** A larger file is not read. */
const INDEX_BYTES_MAX = 1024 ** 3;

/** The file of a log's index: named by the log's real path. */
export async function indexName({ root, logId }: Pick<SignableLog, "root" | "logId">) {
  const path = join(root, logId);
  const real = await realpath(path).catch(() => path);
  return `${createHash("sha256").update(real).digest("hex").slice(0, 32)}.vbi`;
}

/** Null if there is none, or it is damaged. */
export async function loadIndex(
  directory: string,
  target: SignableLog,
  crypto: ProofCrypto,
): Promise<LeafIndex | null> {
  try {
    const path = join(directory, await indexName(target));
    if ((await stat(path)).size > INDEX_BYTES_MAX) return null;
    return LeafIndex.read(await readFile(path), crypto);
  } catch {
    return null;
  }
}

export async function saveIndex(
  host: Host,
  directory: string,
  target: SignableLog,
  bytes: Uint8Array,
): Promise<void> {
  const temporary = `.${randomUUID()}.tmp`;
  try {
    const folder = await host.files.openDirectory(directory, { create: true });
    try {
      const file = folder.open(temporary, "new");
      try {
        writeAll(file, bytes);
      } finally {
        file.close();
      }
      folder.rename(temporary, await indexName(target));
    } finally {
      folder.close();
    }
  } catch {
    await rm(join(directory, temporary), { force: true }).catch(() => {});
  }
}

export async function removeIndex(
  directory: string,
  target: Pick<SignableLog, "root" | "logId">,
): Promise<void> {
  await rm(join(directory, await indexName(target)), { force: true });
}
