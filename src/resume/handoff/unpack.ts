/**
 * Unpack: puts a bundle's session into a store, to continue it.
 *
 * - Nothing is written before the bundle is judged (judge-bundle.ts), and a refused one leaves
 *   nothing behind.
 * - In its own dialect it is the same session: byte for byte, under its own id, verified at its new
 *   place, its head pinned there. Its signatures name it, so it cannot have another id.
 * - In another dialect it is another session, recorded through the store and signed by the user who
 *   unpacks it. It begins with its origin and the fate of every line. If the bundle's own session
 *   is in the same root and we may write it, it names the new one (resume/fork/fork.ts).
 */

import { basename, dirname, join, resolve } from "node:path";
import { checkChoice } from "../../core/base/choice.ts";
import { assert, ioError, VerbatimError } from "../../core/base/errors.ts";
import type { OpenFile } from "../../core/base/files.ts";
import type { Host } from "../../core/base/host.ts";
import { nodeSurroundings } from "../../core/base/node-surroundings.ts";
import type { Finding } from "../../core/findings/finding.ts";
import { readStretch } from "../../core/log/bytes.ts";
import { dialectNamed, loadDialects } from "../../dialects/all.ts";
import { DIALECT_NAMES, registryEntry } from "../../dialects/registry.ts";
import { examineOne } from "../../evidence/doctor/examine.ts";
import { mendSession } from "../../evidence/doctor/repair.ts";
import { SessionVerifier } from "../../evidence/verify/session-verifier.ts";
import { UserJudging } from "../../evidence/verify/user-judging.ts";
import type { FoundSession } from "../../sessions/list/session-place.ts";
import type { Session } from "../../sessions/store/session.ts";
import { sessionExists } from "../../sessions/store/session-ids.ts";
import { Store } from "../../sessions/store/store.ts";
import type { VerifyReport } from "../../trust/judge/report.ts";
import {
  beginsAsCopy,
  disclosedCopy,
  MAGIC_BYTES,
} from "../../trust/proof/disclosure/copy-file.ts";
import { sidecarOf } from "../../trust/session-log.ts";
import { STRICT_ADVICE, withAdvice } from "../advice.ts";
import { linkSession } from "../fork/fork.ts";
import { chunksOf, type Member, type OpenBundle } from "./bundle-archive.ts";
import { type InstalledFile, installSession } from "./install.ts";
import {
  bundledEntries,
  type JudgedBundle,
  judgeBundle,
  type SessionName,
} from "./judge-bundle.ts";
import { type BundleManifest, notVerified } from "./manifest.ts";
import { CHECKPOINTS, LOG, spillName, THREAD } from "./member-names.ts";
import { type AnewOptions, type Fidelity, type Original, recordAnew } from "./transcode.ts";

export interface UnpackOptions {
  /** The store: a project, or HomeAgent's base. Default: the current directory, or its base. */
  readonly root?: string;
  /** Default: the bundle's own. */
  readonly dialect?: string;
  /** The new session's id, in another dialect only. Default: one in the dialect's style. */
  readonly id?: string;
  /** In another dialect: the agent (rye's directive, HomeAgent's agent). Default: as it was. */
  readonly agent?: string;
  /** In another dialect: whether the new session is signed. Default: true. */
  readonly sign?: boolean;
  /** Refuse a session without a pinned head. Default: false. */
  readonly requirePin?: boolean;
  /** Called with problems that lose no data. Default: a process warning. */
  readonly onWarning?: (warning: string) => void;
}

export interface Unpacked {
  readonly schema: "verbatim.unpack/1";
  /** The session's id and path now. */
  readonly session: string;
  readonly dialect: string;
  readonly path: string;
  /** The verdict on the session at its new place; null where it is not signed. */
  readonly verdict: VerifyReport["verdict"] | null;
  /** The bundle's manifest. */
  readonly from: BundleManifest;
  readonly fidelity: Fidelity;
  /**
   * In another dialect: why the bundle's own session does not name the new one; null when it does.
   */
  readonly notLinked: string | null;
}

/** Refuses with BAD_BUNDLE, NOT_VERIFIED, SESSION_EXISTS, BAD_ID, NO_SPACE. */
export async function unpackBundle(
  host: Host,
  path: string,
  options: UnpackOptions = {},
): Promise<Unpacked> {
  checkChoice("dialect", options.dialect, DIALECT_NAMES);
  const full = resolve(path);
  const file = await openBundle(host, full);
  try {
    if (beginsAsCopy(await readStretch(file, 0, MAGIC_BYTES))) throw disclosedCopy(full);
    return await unpackOpen(host, { file, path: full }, options);
  } catch (cause) {
    throw withAdvice(cause, STRICT_ADVICE);
  } finally {
    file.close();
  }
}

async function unpackOpen(
  host: Host,
  bundle: OpenBundle,
  options: UnpackOptions,
): Promise<Unpacked> {
  const judging = await UserJudging.load(host, { onWarning: () => {} });
  const { requirePin = false, dialect: asked } = options;
  const rootIn = (dialect: string) => {
    return resolve(options.root ?? registryEntry(dialect).usersRoot?.() ?? ".");
  };
  const rootFor = ({ dialect }: SessionName) => {
    return asked === undefined || asked === dialect ? rootIn(dialect) : null;
  };
  const judged = await judgeBundle(bundle, { host, judging, rootFor, requirePin });
  const { dialect: own, session: id } = judged.manifest;
  const dialect = asked ?? own;
  await loadDialects([dialect]);
  const root = rootIn(dialect);
  if (dialect !== own) return recorded(host, judged, { ...options, dialect, root });
  if (options.id !== undefined && options.id !== id) throw otherId(options.id, id);
  if (await new Store(host, { dialect, root }).has(id)) throw sessionExists(id);
  return installed(host, judged, root, options);
}

async function installed(
  host: Host,
  judged: JudgedBundle,
  root: string,
  options: UnpackOptions,
): Promise<Unpacked> {
  const { manifest, target, metaDoubt } = judged;
  const { id, dialect, logId } = target;
  const onWarning = warningsOf(options);
  const traces = await installSession(host, {
    dialect,
    root,
    id,
    log: fileOf(judged, LOG, basename(logId)),
    others: otherFiles(judged),
  });
  const where = { cwd: root, root, dialect };
  const verifier = await SessionVerifier.open(host, { where, pins: true, onWarning });
  const report = await verifier.verify({ ...target, root });
  await verifier.close().catch((cause: unknown) => onWarning(notPinned(id, cause)));
  // The disk has what was judged, unless the disk itself or another program changed it.
  if (report.verdict !== "verified") {
    await traces.remove();
    const why = report.findings.find(({ verdict }) => verdict === report.verdict)?.message;
    throw notVerified(report.path, report.verdict, why ?? "it changed while it was written");
  }
  if (metaDoubt !== null) {
    onWarning(`${THREAD} of ${id} was left out (${metaDoubt}) and is rebuilt from the log`);
  }
  const path = join(root, logId);
  await makeFollowers(host, { dialect, root, id, path }, onWarning);
  const lines = await linesIn(judged);
  const fidelity: Fidelity = {
    byteExact: true,
    times: "kept",
    entries: lines,
    kept: lines,
    approximated: 0,
    dropped: 0,
    changes: [],
  };
  const { verdict } = report;
  return {
    schema: "verbatim.unpack/1",
    session: id,
    dialect,
    path,
    verdict,
    from: manifest,
    fidelity,
    notLinked: null,
  };
}

async function recorded(
  host: Host,
  judged: JudgedBundle,
  options: UnpackOptions & Pick<AnewOptions, "dialect" | "root">,
): Promise<Unpacked> {
  const { dialect, root, sign = true } = options;
  const onWarning = warningsOf(options);
  const writing = { ...options, sign, onWarning };
  const { session, fidelity } = await recordAnew(host, originalIn(judged), writing);
  let verdict: Unpacked["verdict"] = null;
  if (sign) {
    const where = { cwd: root, root, dialect };
    const verifier = await SessionVerifier.open(host, { where, onWarning });
    const { id, logId } = session;
    verdict = (await verifier.verify({ dialect, root, id, logId })).verdict;
    await verifier.close();
  }
  const { id, path } = session;
  const from = judged.manifest;
  const notLinked = await linkOrigin(host, judged, session, { root, onWarning });
  const said = { session: id, dialect, path, verdict, from, fidelity, notLinked };
  return { schema: "verbatim.unpack/1", ...said };
}

function originalIn(judged: JudgedBundle): Original {
  const { session, dialect, head, made, kid } = judged.manifest;
  const { log, seq, line } = head;
  return {
    origin: { session, dialect, head, made, kid },
    from: { log, seq, line, at: judged.members.get(LOG)?.bytes ?? 0 },
    entries: (onBadLine) => bundledEntries(judged, onBadLine),
  };
}

/** If the bundle's own session is in the same root, it names the one that continues it. */
async function linkOrigin(
  host: Host,
  { manifest }: JudgedBundle,
  { id, signedLog: log }: Session,
  { root, onWarning }: { readonly root: string; readonly onWarning: (warning: string) => void },
): Promise<string | null> {
  if (log === null) return "the new session is not signed";
  const { dialect, session, head } = manifest;
  const store = new Store(host, { dialect, root, sign: true, onWarning });
  try {
    return await linkSession(store, session, { id, log }, head.log);
  } finally {
    await store.close();
  }
}

/** Not an error: the session is there and verified, and a pin that is behind is harmless. */
function notPinned(id: string, cause: unknown): string {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return (
    `the head of ${id} could not be pinned, and a rollback may be missed; ` +
    `\`verbatim keys head pin ${id}\` tries again: ${reason}`
  );
}

function otherFiles(judged: JudgedBundle): InstalledFile[] {
  const { members, target, metaDoubt } = judged;
  const names: [string, string][] = [];
  const logName = basename(target.logId);
  const { spilling } = dialectNamed(target.dialect).writing ?? {};
  for (const name of members.keys()) {
    const spill = spillName(name);
    if (spill !== null && spilling) names.push([name, spilling.fileName(spill, logName)]);
    if (name === CHECKPOINTS) names.push([name, sidecarOf(logName)]);
    if (name === THREAD && metaDoubt === null) names.push([name, THREAD]);
  }
  return names.map(([member, name]) => fileOf(judged, member, name));
}

function fileOf({ bundle, members, manifest }: JudgedBundle, of: string, name: string) {
  const member = members.get(of) as Member;
  const listed = manifest.members.find((each) => each.name === of);
  assert(member && listed, "a bundle that was judged has what it lists");
  return { name, sha256: listed.sha256, chunks: () => chunksOf(bundle, member) };
}

async function linesIn({ bundle, members }: JudgedBundle): Promise<number> {
  let lines = 0;
  for await (const chunk of chunksOf(bundle, members.get(LOG) as Member)) {
    for (const byte of chunk) if (byte === 0x0a) lines++;
  }
  return lines;
}

async function openBundle(host: Host, path: string): Promise<OpenFile> {
  try {
    const directory = await host.files.openDirectory(dirname(path), { create: false });
    try {
      return directory.open(basename(path), "read");
    } finally {
      directory.close();
    }
  } catch (cause) {
    throw ioError(path, "opening", cause);
  }
}

function warningsOf({ onWarning }: UnpackOptions): (warning: string) => void {
  return onWarning ?? ((warning) => process.emitWarning(warning, "VerbatimWarning"));
}

function otherId(id: string, own: string): VerbatimError {
  const reason = `the log is signed as that of ${own}`;
  return new VerbatimError(
    "BAD_ID",
    `the id ${JSON.stringify(id)} is refused: ${reason}; leave it, or unpack into another dialect`,
    { id, reason },
  );
}

/**
 * The derived files of a log, for a session that came from elsewhere. The session is
 * whole without them: a failure is a warning, and `verbatim doctor --fix` makes them later.
 */
async function makeFollowers(
  host: Host,
  found: FoundSession & { readonly id: string },
  onWarning: (warning: string) => void,
): Promise<void> {
  const doctor = { host, surroundings: nodeSurroundings, nowMs: Date.now };
  try {
    const missing: Finding[] = [];
    for await (const step of examineOne(doctor, found)) {
      if ("finding" in step && step.finding.mends) missing.push(step.finding);
    }
    for await (const _ of mendSession(doctor, found, missing));
    const files = await dialectNamed(found.dialect).files?.load?.();
    await files?.installed?.(host, found, onWarning);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    onWarning(
      `the derived files of ${found.id} could not be written; run \`verbatim doctor --fix\`: ${why}`,
    );
  }
}
