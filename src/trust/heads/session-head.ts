/**
 * Session head: the newest checkpoint of a session, as a head to be pinned. Only for a verified
 * session: a pin says that its content was accepted.
 *
 * Everything signed must be valid, under a trusted key. Lines after it do not matter. A pin that
 * the log contradicts, and checkpoints in a sidecar that cover more than the log holds, are
 * returned and not judged: `verbatim keys head` asks the user about them.
 */

import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import { VerbatimError } from "../../core/base/errors.ts";
import type { Host } from "../../core/base/host.ts";
import type { ByteOffset } from "../../core/base/offset.ts";
import { LogReader } from "../../core/log/reader.ts";
import type { VerifyReport } from "../judge/report.ts";
import { verifyLog } from "../judge/verify.ts";
import type { VerifyOptions } from "../judge/verify-options.ts";
import { concat, LF, toHex } from "../proof/bytes.ts";
import { type Checkpoint, type EnvelopeName, readCheckpoint } from "../proof/checkpoint.ts";
import { hasSidecar, INSIDE } from "../proof/envelopes.ts";
import type { PinnedHead } from "../proof/pin.ts";
import type { Rollback } from "../proof/pins.ts";
import type { Verdict } from "../proof/verdict.ts";
import { type SignableLog, sidecarOf } from "../session-log.ts";
import { placeThatWas, type RootNames, storePlaceOf } from "./heads.ts";

/** A session of a store, or a stream. */
export interface StoredLog extends SignableLog {
  readonly id: string;
}

export interface SessionHead {
  readonly head: PinnedHead;
  /** How the log contradicts its pin; null if it does not. */
  readonly rollback: Rollback | null;
  /** The newest sidecar checkpoint if the log has lost bytes that it covers; else null. */
  readonly surplus: Checkpoint | null;
}

/** Verdicts under which everything signed is valid. */
const HOLDS: ReadonlySet<Verdict> = new Set(["verified", "incomplete", "unpinned", "rollback"]);
const ROLLBACKS: ReadonlySet<string> = new Set<Rollback>(["REPLACED", "BEHIND", "FORK"]);

/** The head of a session whose signed part is valid; else refuses with NOT_VERIFIED. */
export async function readHead(
  host: Host,
  session: StoredLog,
  options: VerifyOptions,
): Promise<SessionHead> {
  const report = await verifyLog(host, session, options);
  const { log, signed_through: through, findings } = report;
  const against = findings.find(({ verdict }) => verdict !== null && !HOLDS.has(verdict));
  if (against || !log || !through) throw notVerified(report, session, against?.message);
  const isShorter = findings.some(({ code }) => code === "LOG_SHORTER_THAN_SIDECAR");
  const surplus = isShorter ? await newestInSidecar(host, session) : null;
  const checkpoint = await findCheckpoint(host, session, through, options.crypto);
  if (!checkpoint || (isShorter && !surplus)) {
    throw notVerified(report, session, "it was changed while it was verified");
  }
  const { seq, byteOffset, kind, kid, ts } = checkpoint;
  const place = await storePlaceOf(host, session);
  const found = findings.find(({ code }) => ROLLBACKS.has(code))?.code as Rollback | undefined;
  const pin = options.remembered?.here ?? options.remembered?.ofLog(log) ?? null;
  // The pinned checkpoint may be in the sidecar although the bytes it covers are gone.
  const rollback = found ?? (surplus && pin && pin.seq > seq ? "BEHIND" : null);
  const head = { place, id: session.id, log, seq, byteOffset, line: through.line, kind, kid, ts };
  return { head, rollback, surplus };
}

/** The last checkpoint of a sidecar. */
async function newestInSidecar(
  host: Host,
  { root, logId }: SignableLog,
): Promise<Checkpoint | null> {
  const reader = new LogReader(host, sidecarOf(logId), { root, onBadLine: "skip" });
  for await (const { bytes } of reader.backward()) return readCheckpoint(bytes, "sidecar");
  return null;
}

/** The checkpoint that was verified, found by the hash of its line. */
async function findCheckpoint(
  host: Host,
  { root, logId, dialect }: SignableLog,
  through: NonNullable<VerifyReport["signed_through"]>,
  crypto: VerifyOptions["crypto"],
): Promise<Checkpoint | null> {
  const isSidecar = hasSidecar(dialect);
  const path = isSidecar ? sidecarOf(logId) : logId;
  const reader = new LogReader(host, path, { root, onBadLine: "skip" });
  const range = isSidecar ? {} : { to: through.end as ByteOffset };
  for await (const { bytes } of reader.backward(range)) {
    if (toHex(crypto.sha256(concat(bytes, Uint8Array.of(LF)))) !== through.line) continue;
    // It was verified; the envelope only decides how to parse it.
    const envelopes: readonly EnvelopeName[] = isSidecar ? ["sidecar"] : INSIDE;
    return (
      envelopes.map((name) => readCheckpoint(bytes, name)).find((checkpoint) => checkpoint) ?? null
    );
  }
  return null;
}

function notVerified(
  { path, verdict }: VerifyReport,
  { dialect }: SignableLog,
  why: string | undefined,
): VerbatimError {
  const begun = `\`verbatim keys head forget\`${hasSidecar(dialect) ? `, and move ${sidecarOf(path)} away` : ""}`;
  const nothing =
    verdict === "rollback"
      ? `no checkpoint is left that holds: restore it from a copy, or start over: ${begun}`
      : "nothing in it is signed";
  const reason = why ?? nothing;
  return new VerbatimError(
    "NOT_VERIFIED",
    `${path} is ${verdict}, and its head is not pinned: ${reason}; \`verbatim verify\` says more`,
    { path, verdict },
  );
}

/**
 * The names a store may have in pins. Pins are written under the real path of its root.
 * Replacing the root by a link to another store changes the real path, and would hide every pin. So
 * pins count under each name by which the root is reached: the path as given, with its first
 * components resolved or not. This sees through a link anywhere in the path, and finds what was
 * pinned before the link was created.
 *
 * The names of a store's root, which may be gone.
 */
export async function rootNames(
  host: Host,
  { dialect, root }: { readonly dialect: string; readonly root: string },
): Promise<RootNames> {
  const real = (path: string) => placeThatWas(host, { dialect, root: path });
  const given = resolve(root);
  const place = await real(given);
  const path = place.slice(dialect.length + 1);
  const others = new Set<string>();
  const typed = await typedName(path, async (name) => (await real(name)) === place);
  // No link in the path.
  if (path === given && typed === null) return { place, others: [], leadsTo: null };
  for (const name of typed === null ? [given] : [given, typed]) {
    for (let [at, below] = [name, ""]; ; [at, below] = [dirname(at), join(basename(at), below)]) {
      others.add(join(await real(at), below));
      if (at === dirname(at)) break;
    }
  }
  others.delete(place);
  const heading = typed ?? given;
  const isLink =
    join(await real(dirname(heading)), basename(heading)) !== place && heading !== dirname(heading);
  return { place, others: [...others], leadsTo: isLink ? path : null };
}

/**
 * The name of the directory `path` if the user is in it or below, and came there by a link: the
 * kernel knows only the real path, the shell has the path that was typed.
 */
async function typedName(
  path: string,
  isSame: (name: string) => Promise<boolean>,
): Promise<string | null> {
  const { PWD: shell } = process.env;
  const below = relative(path, process.cwd());
  if (shell === undefined || !isAbsolute(shell) || below.startsWith("..")) return null;
  const name = resolve(shell, ...below.split("/").map((part) => (part === "" ? "." : "..")));
  return name !== path && (await isSame(name)) ? name : null;
}
