/**
 * Surplus: sidecar checkpoints that cover more than the log holds. They are moved to another file
 * once the user has given up what is lost; until then nothing can be signed after them.
 *
 * The log's own bytes stay unchanged, and the cut checkpoints are kept (log/repair.ts, R1). Only
 * what was shown is given up: with the log locked, it must be unchanged.
 */

import { VerbatimError } from "../../core/base/errors.ts";
import type { OpenFile } from "../../core/base/files.ts";
import type { Host } from "../../core/base/host.ts";
import { openLogPath } from "../../core/log/log-path.ts";
import { keepAside } from "../../core/log/repair.ts";
import { readHead, type StoredLog } from "../heads/session-head.ts";
import { toHex } from "../proof/bytes.ts";
import type { PinnedHead } from "../proof/pin.ts";
import { sidecarOf } from "../session-log.ts";
import { readSidecar } from "./inspect-sidecar.ts";
import type { VerifyOptions } from "./verify-options.ts";

/**
 * Copies the checkpoints after `shown` to a file next to the sidecar, and cuts them; returns its
 * path. The caller holds the log's lock. Refuses with CHANGED_WHILE_READ if they are no longer as
 * shown.
 */
export async function putSurplusAside(
  host: Host,
  session: StoredLog,
  shown: PinnedHead,
  options: VerifyOptions,
): Promise<string> {
  const { head, surplus } = await readHead(host, session, options);
  if (!surplus || head.line !== shown.line) throw changed(session);
  const place = await openLogPath(host, sidecarOf(session.logId), {
    create: false,
    root: session.root,
  });
  try {
    const file = place.directory.open(place.name, "append");
    try {
      const end = await endOf(file, place.path, head.line, options.crypto);
      if (end === null) throw changed(session);
      const keptAt = await keepAside(place, file, end, file.size());
      file.truncate(end);
      await file.sync();
      return keptAt;
    } finally {
      file.close();
    }
  } finally {
    place.directory.close();
  }
}

/** The end offset of a checkpoint's line; null if it is not there. */
async function endOf(
  sidecar: OpenFile,
  path: string,
  hash: string,
  { sha256 }: VerifyOptions["crypto"],
): Promise<number | null> {
  let end = 0;
  for await (const { line } of readSidecar(sidecar, path).checkpoints) {
    end += line.length;
    if (toHex(sha256(line)) === hash) return end;
  }
  return null;
}

function changed({ root, logId }: StoredLog): VerbatimError {
  const path = `${root}/${logId}`;
  return new VerbatimError(
    "CHANGED_WHILE_READ",
    `${path} has changed since what it lacks was shown; nothing was given up, look at it again`,
    { path, offset: 0 },
  );
}
