/**
 * Signed head: the head of the session that a person names, verified, and what it lacks; or of a
 * stream, by its path, where `--root` is a server's data directory.
 */

import { relative, resolve } from "node:path";
import { VerbatimError } from "../base/errors.ts";
import { nodeHost } from "../base/node-host.ts";
import { userPlaces } from "../base/node-places.ts";
import type { Head, Pin } from "../proof/pin.ts";
import type { Rollback } from "../proof/pins.ts";
import { EXIT_CODES, type Verdict } from "../proof/verdict.ts";
import { type Heads, placeOf } from "../signing/heads.ts";
import { nodeCrypto } from "../signing/node-crypto.ts";
import { readHead, type StoredLog } from "../signing/session-head.ts";
import { Trust } from "../signing/trust.ts";
import { transcriptKeys } from "../signing/trusted-keys.ts";
import { findSession } from "../store/find-session.ts";
import { withSignedStream } from "../streams/verify-directory.ts";
import { type Run, UsageError } from "./command.ts";
import { whereOf } from "./reading.ts";
import { isDataDirectory, streamNamed } from "./verify-streams.ts";

export interface NamedHead {
  readonly head: Head;
  /** What is pinned for the session, and in which way its log contradicts that. */
  readonly loss: { readonly pin: Pin; readonly rollback: Rollback } | null;
}

/** The head of what `name` means; the verdict's exit code when it does not hold. */
export async function readNamedHead(
  name: string,
  run: Run,
  heads: Heads,
): Promise<NamedHead | number> {
  const where = whereOf(run.options);
  try {
    if (where.root !== undefined && isDataDirectory(where.root)) {
      return await withSignedStream(nodeHost, resolve(where.root), streamNamed(name), (log) =>
        readHeadOf(log, run, heads),
      );
    }
    const { dialect, root, id, path } = await findSession(nodeHost, name, where);
    if (id === null) {
      throw new UsageError(`${path} lies in no store, and has no place to be pinned`);
    }
    return await readHeadOf({ dialect, root, id, logId: relative(root, path) }, run, heads);
  } catch (cause) {
    if (!(cause instanceof VerbatimError && cause.code === "NOT_VERIFIED")) throw cause;
    run.io.err(`error: ${cause.message} (${cause.code})`);
    return EXIT_CODES[cause.details.verdict as Verdict];
  }
}

async function readHeadOf(log: StoredLog, { io }: Run, heads: Heads): Promise<NamedHead> {
  const { id } = log;
  const remembered = await heads.remembered({ place: await placeOf(nodeHost, log), id });
  if (remembered.isDamaged) io.err(`warning: some lines of ${heads.path} cannot be read`);
  const keys = transcriptKeys(await Trust.load(userPlaces()), id);
  const verifying = { crypto: nodeCrypto, keys, remembered };
  const { head, rollback } = await readHead(nodeHost, log, verifying);
  const pin = remembered.here ?? remembered.ofLog(head.log);
  return { head, loss: pin && rollback && { pin, rollback } };
}

/** What a session lacks of what was seen of it, for people. */
export function describeLoss(
  head: Head,
  { pin, rollback }: NonNullable<NamedHead["loss"]>,
): string {
  const seen = `checkpoint ${pin.seq} of ${pin.ts}`;
  switch (rollback) {
    case "BEHIND":
      return (
        `checkpoints ${head.seq + 1} to ${pin.seq} of ${head.id} are lost: it was seen up to byte ` +
        `${pin.byteOffset} (${seen}), and now ends with checkpoint ${head.seq} of ${head.ts}, at ` +
        `byte ${head.byteOffset}`
      );
    case "FORK":
      return (
        `${head.id} has another checkpoint ${pin.seq} than it had (${seen}): what was signed from ` +
        "somewhere before it on is lost, and something else stands there"
      );
    case "REPLACED":
      return (
        `another log stands where ${head.id} stood: all of that one is lost, up to byte ` +
        `${pin.byteOffset} (${seen})`
      );
  }
}
