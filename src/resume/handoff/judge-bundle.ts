/**
 * Judge bundle: whether a bundle is valid, by the keys that the user trusts and their pinned heads.
 * Reads only, from one descriptor.
 *
 * - In this order, and nothing is used before all of it holds: the form of the file, the manifest's
 *   signature, every member's hash, the verdict on the log in the bundle, the head that the
 *   manifest names, the signature of the dialect's small file.
 * - The file's own contents decide nothing: its keys are for people, and are not trusted.
 * - Later reads return what was judged: the file may have been replaced by then.
 * - The verdict is the one that the session will have at its destination: pins of the session at
 *   that place count, and pins of this log elsewhere.
 */

import type { Host } from "../../core/base/host.ts";
import { BUNDLE_LIMITS } from "../../core/base/limits.ts";
import { dialectNamed, loadDialects } from "../../dialects/all.ts";
import type { SignedFile } from "../../dialects/facets/files.ts";
import { decodeWhole } from "../../dialects/files/spill-files.ts";
import { SpillProof } from "../../dialects/files/spill-proof.ts";
import type { UserJudging } from "../../evidence/verify/user-judging.ts";
import {
  type BadVerifiedLine,
  entriesOf,
  type VerifiedEntry,
} from "../../evidence/verify/verified-entries.ts";
import { rememberedIn } from "../../trust/heads/heads.ts";
import { changedWhileRead } from "../../trust/judge/inspect.ts";
import { openVerifiedLog } from "../../trust/judge/open-verified.ts";
import type { VerifyReport } from "../../trust/judge/report.ts";
import { verifyLog } from "../../trust/judge/verify.ts";
import type { VerifyOptions } from "../../trust/judge/verify-options.ts";
import { nodeCrypto } from "../../trust/keys/node-crypto.ts";
import { toHex } from "../../trust/proof/bytes.ts";
import { hasSidecar } from "../../trust/proof/envelopes.ts";
import type { SessionLog } from "../../trust/session-log.ts";
import { transcriptKeys } from "../../trust/trusted-keys/trust.ts";
import {
  type Member,
  type OpenBundle,
  readMember,
  readMembers,
  sha256Of,
} from "./bundle-archive.ts";
import { bundleFiles } from "./bundle-files.ts";
import {
  type BundleManifest,
  notVerified,
  type ReadManifest,
  readManifest,
  requireSigned,
} from "./manifest.ts";
import { badBundle, CHECKPOINTS, isDerived, spillName, THREAD } from "./member-names.ts";

export interface BundleJudge {
  readonly host: Host;
  readonly judging: UserJudging;
  /** The store that the session comes from or goes to; null when it becomes another session. */
  readonly rootFor: (manifest: SessionName) => string | null;
  readonly requirePin?: boolean;
}

/** Which session it is. */
export type SessionName = Pick<BundleManifest, "session" | "dialect">;

/** A session in a bundle, read like one in a store. */
export interface BundledSession {
  readonly bundle: OpenBundle;
  readonly members: ReadonlyMap<string, Member>;
  readonly target: SessionLog & { readonly id: string };
  /** The bundle as a disk. */
  readonly host: Host;
  /** Options for judging; new ones for each verdict. */
  readonly options: () => Promise<VerifyOptions>;
}

export interface JudgedBundle extends BundledSession {
  readonly manifest: BundleManifest;
  readonly report: VerifyReport;
  /**
   * Why its signed file is not used, though nothing is wrong with it; null when it is used or
   * missing.
   */
  readonly metaDoubt: string | null;
}

/** Refuses with BAD_BUNDLE a file that is not a bundle, with NOT_VERIFIED one that is not valid. */
export async function judgeBundle(bundle: OpenBundle, judge: BundleJudge): Promise<JudgedBundle> {
  const { path } = bundle;
  const { members, manifest: member } = await readMembers(bundle);
  const read = await manifestIn(bundle, member);
  const { manifest } = read;
  await loadDialects([manifest.dialect]);
  const keys = transcriptKeys(judge.judging.trust, manifest.session);
  requireSigned(read, path, keys, nodeCrypto);
  requirePlace(path, manifest);
  await requireMembers(bundle, members, manifest);
  const session = bundledSession(bundle, members, manifest, judge);
  const meta = await bundledMeta(session, manifest);
  const onCheckpoint = meta?.onCheckpoint ?? (() => {});
  const options = { ...(await session.options()), onCheckpoint };
  const report = await verifyLog(session.host, session.target, options);
  requireVerdict(path, report, manifest);
  const metaDoubt = meta && judgedMeta(session, meta, judge, report);
  return { ...session, manifest, report, metaDoubt };
}

/** The members of a bundle as a session, judged or not. */
export function bundledSession(
  bundle: OpenBundle,
  members: ReadonlyMap<string, Member>,
  { session: id, dialect }: SessionName,
  { host: disk, judging, rootFor, requirePin = false }: BundleJudge,
): BundledSession {
  const root = rootFor({ session: id, dialect });
  const { naming, writing } = dialectNamed(dialect);
  const { spilling } = writing ?? {};
  const target = { dialect, root: bundle.path, logId: naming.logPath(id).join("/"), id };
  const host = { ...disk, files: bundleFiles(bundle, members, target) };
  const options = async (): Promise<VerifyOptions> => {
    const whose = await judging.whose({ ...target, ...(root === null ? { id: null } : { root }) });
    return {
      crypto: nodeCrypto,
      keys: transcriptKeys(judging.trust, id),
      remembered: rememberedIn(judging.book, whose),
      requirePin,
      filesProof: spilling ? new SpillProof(host, target, spilling) : null,
    };
  };
  return { bundle, members, target, host, options };
}

/**
 * The entries, from bytes that are judged once more; refuses with NOT_VERIFIED. In a judged bundle
 * they end at the head that its manifest names.
 */
export async function* bundledEntries(
  { host, target, options, manifest }: BundledSession & Partial<Pick<JudgedBundle, "manifest">>,
  onBadLine: (bad: BadVerifiedLine) => void,
): AsyncGenerator<VerifiedEntry> {
  const opened = await openVerifiedLog(host, target, await options());
  const { root } = target;
  if (manifest && !isHeadOf(opened.report, manifest)) {
    opened.close();
    throw changedWhileRead(root, 0);
  }
  const openDirectory = () => host.files.openDirectory(root, { create: false, root });
  const dialect = dialectNamed(target.dialect);
  const decode = (value: unknown) =>
    decodeWhole({ dialect, path: target.logId, openDirectory }, value);
  try {
    yield* entriesOf(root, opened.lines, decode, onBadLine);
  } finally {
    opened.close();
  }
}

async function manifestIn(bundle: OpenBundle, member: Member): Promise<ReadManifest> {
  const { path } = bundle;
  if (member.bytes > BUNDLE_LIMITS.manifestBytesMax) {
    throw badBundle(path, "its manifest is too long");
  }
  const read = readManifest(await readMember(bundle, member));
  if (!read) throw badBundle(path, "its manifest cannot be read");
  return read;
}

/** The id must name a place in a store. */
function requirePlace(path: string, { session, dialect }: BundleManifest): void {
  try {
    dialectNamed(dialect).naming.logPath(session);
  } catch {
    throw badBundle(path, "its session id cannot be used in a store");
  }
}

async function requireMembers(
  bundle: OpenBundle,
  members: ReadonlyMap<string, Member>,
  manifest: BundleManifest,
): Promise<void> {
  const { path } = bundle;
  const { members: listed } = manifest;
  const found = [...members.values()];
  const isListed = ({ name, bytes }: Member, at: number): boolean => {
    const told = listed[at];
    return name === told?.name && bytes === told.bytes && isDerived(name) === told.derived;
  };
  if (found.length !== listed.length || !found.every(isListed)) {
    throw notVerified(path, "tampered", "it has other members than its manifest lists");
  }
  const stray = found.find(({ name }) => !belongs(name, manifest));
  if (stray) throw badBundle(path, `${stray.name} does not belong to ${manifest.dialect}`);
  for (const [at, member] of found.entries()) {
    if ((await sha256Of(bundle, member)) === listed[at]?.sha256) continue;
    throw notVerified(path, "tampered", `${member.name} is not what its manifest says`);
  }
}

function belongs(name: string, { dialect }: BundleManifest): boolean {
  if (name === CHECKPOINTS) return hasSidecar(dialect);
  if (name === THREAD) return dialectNamed(dialect).files?.signedFileName === THREAD;
  return spillName(name) === null || dialectNamed(dialect).writing?.spilling !== undefined;
}

function requireVerdict(path: string, report: VerifyReport, manifest: BundleManifest): void {
  const { verdict, findings } = report;
  if (verdict !== "verified") {
    const why = findings.find((finding) => finding.verdict === verdict)?.message;
    throw notVerified(path, verdict, why ?? "its log does not verify");
  }
  if (!isHeadOf(report, manifest)) {
    throw notVerified(path, "tampered", "its log has another head than its manifest says");
  }
}

/** Whether a verified log is the one that a manifest names: its head covers all its bytes. */
function isHeadOf({ signed_through: through, log }: VerifyReport, { head }: BundleManifest) {
  if (through === null) return false;
  const { seq, byte_offset, line } = through;
  return (
    [log, seq, byte_offset, line].join() ===
    [head.log, head.seq, head.byte_offset, head.line].join()
  );
}

async function bundledMeta(
  { bundle, members }: BundledSession,
  { members: listed, dialect }: BundleManifest,
): Promise<SignedFile | null> {
  const member = members.get(THREAD);
  if (!member) return null;
  const bytes = await readMember(bundle, member);
  const told = listed.find(({ name }) => name === THREAD)?.sha256;
  if (toHex(nodeCrypto.sha256(bytes)) !== told) throw changedWhileRead(bundle.path, member.start);
  const { signedFile } = (await dialectNamed(dialect).files?.load?.()) ?? {};
  return signedFile?.of(new TextDecoder().decode(bytes)) ?? null;
}

/** A key trusted for transcripts may not be trusted for the metadata of threads. */
function judgedMeta(
  { bundle, target }: BundledSession,
  meta: SignedFile,
  { judging }: BundleJudge,
  report: VerifyReport,
): string | null {
  const doubt = meta.doubtOf(target.id, judging.trust, report);
  if (!doubt || doubt.verdict === "untrusted") return doubt?.why ?? null;
  throw notVerified(bundle.path, doubt.verdict, `its ${THREAD}: ${doubt.why}`);
}
