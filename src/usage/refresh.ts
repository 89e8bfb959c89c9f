/**
 * Refresh: brings the ledger up to date with the sessions on this machine, reading only what is new.
 *
 * A log with the size and time of the last time is not opened. Files that only grow are continued;
 * all others are read again as a whole. What the guard keeps of sessions that are gone is read as
 * any other store (listing/find-stores.ts).
 */

import { join } from "node:path";
import type { Host } from "../base/host.ts";
import { eachLog } from "../catalog/find.ts";
import { dialectNamed } from "../dialects/all.ts";
import { guardedPlace } from "../dialects/files/guard-store.ts";
import type { FoundStore } from "../listing/find-stores.ts";
import { Store } from "../store/store.ts";
import { describe, type Found } from "./describe.ts";
import { countEntries } from "./entry-rows.ts";
import type { Ledger } from "./ledger/ledger.ts";
import type { FileToScan } from "./scan/file-scan.ts";
import { scanFiles } from "./scan/scan-files.ts";
import { countBytes } from "./window-rows.ts";

export interface RefreshOptions {
  readonly onProgress?: (done: number, total: number) => void;
  /** A session that cannot be read; it is tried again the next time. */
  readonly onFailure: (id: string, cause: unknown) => void;
}

export interface Refreshed {
  /** Logs that were looked at, and those that had changed. */
  readonly logs: number;
  readonly changed: number;
}

export async function refresh(
  host: Host,
  ledger: Ledger,
  stores: readonly FoundStore[],
  options: RefreshOptions,
): Promise<Refreshed> {
  let logs = 0;
  const changed: Found[] = [];
  for (const { dialect: name, root } of stores) {
    const dialect = dialectNamed(name);
    const onUnreadable = ({
      id,
      path,
      cause,
    }: {
      id: string | null;
      path: string;
      cause: unknown;
    }) => options.onFailure(id ?? path, cause);
    for (const log of eachLog(root, dialect.layout, { onUnreadable })) {
      logs++;
      const known = ledger.known(name, root, log.id);
      if (known?.size === log.size && known.mtimeMs === log.mtimeMs) continue;
      changed.push({ dialect, root, log, known });
    }
  }
  await countChanged(host, ledger, changed, options);
  return { logs, changed: changed.length };
}

async function countChanged(
  host: Host,
  ledger: Ledger,
  changed: readonly Found[],
  { onFailure, onProgress = () => {} }: RefreshOptions,
): Promise<void> {
  const total = changed.length;
  const inBytes = changed.filter(isPlainFile).sort((a, b) => b.log.size - a.log.size);
  const others = changed.filter((found) => !isPlainFile(found));
  await scanFiles(inBytes.map(toScan), {
    bytes: inBytes.reduce((sum, { log, known }) => sum + newBytes(log.size, known), 0),
    onProgress: (done) => onProgress(done, total),
    onScanned({ index, scan, errno }) {
      const found = inBytes[index] as Found;
      if (scan !== null) ledger.add(describe(found, scan), scan.rows);
      // A compressed file is listed under its plain name.
      else if (errno === "ENOENT") others.push(found);
      else onFailure(found.log.id, Object.assign(new Error(String(errno)), { code: errno }));
    },
  });
  for (const [n, found] of others.entries()) {
    onProgress(total - others.length + n, total);
    try {
      await countOther(host, ledger, found);
    } catch (cause) {
      onFailure(found.log.id, cause);
    }
  }
}

async function countOther(host: Host, ledger: Ledger, found: Found): Promise<void> {
  const { dialect, root, log } = found;
  const store = new Store(host, { dialect: dialect.name, root, onWarning: () => {} });
  const session = store.session(log.id);
  try {
    const { usageIn } = dialect;
    const { counted, rows } =
      usageIn === undefined
        ? await countEntries(host, session)
        : await countBytes(host, session, usageIn);
    ledger.add(describe(found, counted), rows);
  } finally {
    await session.release();
  }
}

function isPlainFile({ dialect, root }: Found): boolean {
  return dialect.usageIn !== undefined && guardedPlace(root) === null;
}

function toScan({ dialect, root, log, known }: Found): FileToScan {
  const shape = dialect.usageIn ?? "messages";
  return { path: join(root, log.path), shape, from: known?.reached ?? null };
}

function newBytes(size: number, known: Found["known"]): number {
  return Math.max(0, size - (known?.reached?.offset ?? 0));
}
