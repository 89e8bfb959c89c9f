/** Cold: compresses copies that the guard did not write to for long. */

import { basename, dirname, join } from "node:path";
import type { Host } from "../base/host.ts";
import { generationFile, type Kept } from "../dialects/files/guard-store.ts";
import { compress } from "./generation.ts";

export const COLD_DAYS = 7;
const DAY_MS = 86_400_000;

export async function compressCold(
  { files }: Host,
  root: string,
  sessions: ReadonlyMap<string, Kept>,
  nowMs: number,
): Promise<void> {
  for (const { path, generation } of sessions.values()) {
    for (let each = 1; each <= generation; each++) {
      const found = generationFile(root, path, each);
      if (!found || found.isCompressed || found.stats.size === 0) continue;
      if (nowMs - found.stats.ctimeMs < COLD_DAYS * DAY_MS) continue;
      const options = { create: false, root };
      const directory = await files.openDirectory(join(root, dirname(path)), options);
      try {
        await compress(directory, `${basename(path)}.${each}`, found.stats.mtimeMs);
      } finally {
        directory.close();
      }
    }
  }
}
