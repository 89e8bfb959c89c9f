/**
 * Handoff: a session in one file, for another person to continue from. Always strict, except for
 * sessions of other programs, which sign nothing (of-program.ts).
 *
 * - The log in a bundle consists of the same bytes that were judged
 *   (trust/judge/open-verified.ts, N1).
 * - Sidecar files are read a second time, so the bundle is judged by its own bytes, as at
 *   unpacking, before it gets its name. Derived members are made from there too.
 * - Whole or not at all: until then an existing file of that name stays.
 *
 * Git identity: the repository and commit of a directory, for people elsewhere.
 *
 * - No credentials and no paths: of a remote only a network address is stated, without user,
 *   password, query and fragment.
 * - The address is safe to pass to git: a scheme that runs nothing, and a host that is not an
 *   option of ssh. A reader refuses others (manifest.ts).
 */

import { execFile } from "node:child_process";
import { basename, dirname, relative, resolve } from "node:path";
import { promisify } from "node:util";
import { checkChoice } from "../../core/base/choice.ts";
import { assert, VerbatimError } from "../../core/base/errors.ts";
import type { Directory, OpenFile } from "../../core/base/files.ts";
import type { Host } from "../../core/base/host.ts";
import { userPaths } from "../../core/base/node-paths.ts";
import { packageVersion } from "../../core/package-file.ts";
import { dialectNamed } from "../../dialects/all.ts";
import type { SignedFile } from "../../dialects/facets/files.ts";
import type { SpillReference } from "../../dialects/facets/writing.ts";
import { readSpill } from "../../dialects/files/spill-files.ts";
import { registryEntry } from "../../dialects/registry.ts";
import { openWithCopy } from "../../evidence/verify/erased-copy.ts";
import { UserJudging } from "../../evidence/verify/user-judging.ts";
import { entriesOf } from "../../evidence/verify/verified-entries.ts";
import { type FoundSession, noStoreError } from "../../sessions/list/session-place.ts";
import { renderEntry } from "../../sessions/render/entry-markdown.ts";
import type { Session } from "../../sessions/store/session.ts";
import { listedAside, SummaryFold } from "../../sessions/store/summaries.ts";
import type { VerifiedLine, VerifiedLog } from "../../trust/judge/open-verified.ts";
import type { VerifyReport } from "../../trust/judge/report.ts";
import { loadSigner } from "../../trust/keys/keys.ts";
import { LF } from "../../trust/proof/bytes.ts";
import { publicKeyPem } from "../../trust/proof/ed25519-keys.ts";
import { type CheckpointProfile, hasSidecar, LEGACY_PROFILE } from "../../trust/proof/envelopes.ts";
import { type SessionLog, sidecarOf } from "../../trust/session-log.ts";
import { STRICT_ADVICE, withAdvice } from "../advice.ts";
import { refuseWhenBusy, sessionRequestOf } from "../resume.ts";
import { BLOCK_BYTES, BundleWriter, type Member } from "./bundle-archive.ts";
import { refuseOutput, writeBundle } from "./bundle-files.ts";
import { type BundleJudge, bundledEntries, bundledSession, judgeBundle } from "./judge-bundle.ts";
import {
  type BundleManifest,
  type GitIdentity,
  isCommit,
  remoteAddress,
  signManifest,
} from "./manifest.ts";
import {
  CHECKPOINTS,
  keyMember,
  LOG,
  MANIFEST,
  SUMMARY,
  spillMember,
  THREAD,
  TRANSCRIPT,
  USAGE,
} from "./member-names.ts";
import { type RecordedFrom, withRecorded } from "./of-program.ts";

const execute = promisify(execFile);
const GIT_MS_MAX = 5000;
const LEFT_OUT = "it is not an https, ssh or git address";
/** Lines are short; a write for each would be slow. */
const CHUNK_BYTES = 64 * 1024;

export interface HandoffOptions {
  /** The store to look in: a project, or HomeAgent's base. Default: those found from here. */
  readonly root?: string;
  readonly dialect?: string;
  /** The file to write. Default: `<id>.vbx` here, `__` for each `/` of the id. */
  readonly output?: string;
  /** A text for the person who continues; it is marked as derived, and proves nothing. */
  readonly summary?: string;
  /** Refuse a session without a pinned head. Default: false. */
  readonly requirePin?: boolean;
  /** Read checkpoints of the Python original, too, by keys that the user allowed that format. */
  readonly profile?: CheckpointProfile;
}

export interface HandedOff {
  /** The file. */
  readonly path: string;
  readonly bytes: number;
  readonly manifest: BundleManifest;
  /** Why the dialect's signed file was left out; null when it was not. */
  readonly metaDoubt: string | null;
  /** Why the git remote was left out; null when it was not, or there is none. */
  readonly remoteDoubt: string | null;
  /** Of another program's session: which it was. The bundle holds a new session of our own. */
  readonly recordedFrom: RecordedFrom | null;
}

/** Refuses with NOT_VERIFIED, SESSION_BUSY, SESSION_NOT_FOUND, BUNDLE_TOO_LARGE, NO_SPACE. */
export async function handoffSession(
  host: Host,
  named: string | Session,
  options: HandoffOptions = {},
): Promise<HandedOff> {
  const found = await refuseWhenBusy(host, sessionRequestOf(named, options), "signed", "");
  const {
    program,
    naming: { nameOf },
  } = dialectNamed(found.dialect);
  const id = found.id ?? basename(found.path);
  const name = program ? (nameOf?.(id) ?? id) : id;
  const path = resolve(options.output ?? `${name.replaceAll("/", "__")}.vbx`);
  if (!program) return { ...(await handoffFound(host, found, path, options)), recordedFrom: null };
  await refuseOutput(path, found.path);
  return withRecorded(host, found, async (recorded, recordedFrom) => {
    return { ...(await handoffFound(host, recorded, path, options)), recordedFrom };
  });
}

async function handoffFound(
  host: Host,
  found: FoundSession,
  path: string,
  options: HandoffOptions,
): Promise<Omit<HandedOff, "recordedFrom">> {
  const target = targetOf(found);
  const judging = await UserJudging.load(host, { onWarning: () => {} });
  const { requirePin = false } = options;
  const judge: BundleJudge = { host, judging, rootFor: () => target.root, requirePin };
  const { signedFile } = (await dialectNamed(target.dialect).files?.load?.()) ?? {};
  const meta = (await signedFile?.read(host, target)) ?? null;
  checkChoice("profile", options.profile, [LEGACY_PROFILE]);
  const opened = await openStrictly(target, judge, meta, options.profile !== undefined);
  try {
    if (opened.report.log === null) throw olderFormat(found.path);
    await refuseOutput(path, found.path);
    const packed = await writeBundle(host, path, (file) => {
      return new Packing(judge, target, { file, path }).pack(opened, meta, options);
    });
    return { ...packed, path };
  } finally {
    opened.close();
  }
}

type StoredTarget = SessionLog & { readonly id: string };

function targetOf({ id, root, dialect, path }: FoundSession): StoredTarget {
  if (!dialectNamed(dialect).writing) {
    const reason =
      "bundles cannot hold streams; `verbatim server backup` copies the data directory";
    const details = { setting: "dialect", from: dialect, reason };
    throw new VerbatimError("BAD_SETTING", `${id} cannot be handed off: ${reason}`, details);
  }
  if (id !== null) return { dialect, root, id, logId: relative(root, path) };
  throw noStoreError(path);
}

async function openStrictly(
  target: StoredTarget,
  { host, judging, requirePin = false }: BundleJudge,
  meta: SignedFile | null,
  isLegacyProfile: boolean,
) {
  const onCheckpoint = meta?.onCheckpoint ?? (() => {});
  const judged = await judging.optionsFor(target);
  const options = { ...judged, requirePin, onCheckpoint, isLegacyProfile };
  try {
    return await openWithCopy(host, target, options);
  } catch (cause) {
    throw withAdvice(cause, STRICT_ADVICE);
  }
}

/** One bundle under construction. */
class Packing {
  readonly #judge: BundleJudge;
  readonly #target: StoredTarget;
  readonly #bundle: { readonly file: OpenFile; readonly path: string };
  readonly #writer: BundleWriter;

  constructor(
    judge: BundleJudge,
    target: StoredTarget,
    bundle: { readonly file: OpenFile; readonly path: string },
  ) {
    this.#judge = judge;
    this.#target = target;
    this.#bundle = bundle;
    this.#writer = new BundleWriter(bundle.file);
  }

  async pack(
    { lines, report }: VerifiedLog,
    meta: SignedFile | null,
    { summary }: HandoffOptions,
  ): Promise<Omit<HandedOff, "path" | "recordedFrom">> {
    const { host, judging } = this.#judge;
    const { root, logId, id, dialect } = this.#target;
    const path = dirname(`${root}/${logId}`);
    const directory = await host.files.openDirectory(path, { create: false, root });
    let metaDoubt: string | null;
    try {
      const { usage, spills } = await this.#addLog(lines);
      if (hasSidecar(dialect)) await this.#addFile(directory, sidecarOf(basename(logId)));
      for (const reference of spills.values()) {
        const read = await readSpill(directory, reference);
        if ("fault" in read) throw spillChanged(`${path}/${reference.name}`, read.fault);
        this.#writer.add(spillMember(reference.path), read.content);
      }
      metaDoubt = meta && this.#addMeta(meta, report);
      this.#writer.add(USAGE, `${JSON.stringify({ derived: true, ...usage })}\n`);
    } finally {
      directory.close();
    }
    const signer = await loadSigner(host, userPaths());
    const kids = new Set([signer.kid, ...report.keys.map(({ kid }) => kid)]);
    for (const kid of kids) {
      const key = kid === signer.kid ? signer : judging.trust.key(kid ?? "");
      if (key) this.#writer.add(keyMember(key.kid), publicKeyPem(key.publicKey));
    }
    await this.#addTranscript();
    if (summary !== undefined) this.#writer.add(SUMMARY, `${LABEL}${summary}\n`);
    // A directory of the user's is no project.
    const found = registryEntry(dialect).usersRoot ? null : await gitIdentity(root);
    const manifest: BundleManifest = {
      schema: "verbatim.bundle/1",
      session: id,
      dialect,
      made: new Date().toISOString(),
      by: `verbatim-log ${packageVersion()}`,
      head: headOf(report),
      git: found?.git ?? null,
      members: [...this.#writer.members],
      kid: signer.kid,
    };
    const sign = (message: Uint8Array) => signer.sign(message);
    this.#writer.add(MANIFEST, await signManifest(manifest, sign));
    this.#writer.finish();
    await judgeBundle(this.#bundle, this.#judge);
    const remoteDoubt = found?.remoteDoubt ?? null;
    return { bytes: this.#writer.end, manifest, metaDoubt, remoteDoubt };
  }

  /** Collects usage and the files that lines refer to on the way. */
  async #addLog(lines: AsyncGenerator<VerifiedLine>) {
    const { root, logId, id } = this.#target;
    const { reading, turns, writing } = dialectNamed(this.#target.dialect);
    const spills = new Map<string, SpillReference>();
    const logName = basename(logId);
    const fold = new SummaryFold();
    const member = this.#writer.begin(LOG);
    const copied = copying(lines, (bytes) => member.write(bytes));
    const entries = entriesOf(`${root}/${logId}`, copied, reading.decode, () => fold.addBadLine());
    for await (const entry of entries) {
      const mark = turns.turnMark(entry.native, id);
      fold.add(entry, listedAside(reading, entry.native, id), mark);
      const references = writing?.spilling?.referencesOf(entry.native, logName) ?? [];
      for (const reference of references) spills.set(reference.path, reference);
    }
    member.end();
    const { title: _, agent: __, status: ___, ...usage } = fold.summary({ agent: null });
    return { usage, spills };
  }

  async #addFile(directory: Directory, name: string): Promise<void> {
    const file = directory.open(name, "read");
    try {
      const bytes = new Uint8Array(file.size());
      const count = await file.read(bytes, 0);
      this.#writer.add(CHECKPOINTS, bytes.subarray(0, count));
    } finally {
      file.close();
    }
  }

  /**
   * Only a verified one is passed on. The verdict on the log has refused a forged one by now; one
   * that is in doubt for another reason, such as a key without that purpose, is rebuilt from the log.
   */
  #addMeta(meta: SignedFile, report: VerifyReport): string | null {
    const doubt = meta.doubtOf(this.#target.id, this.#judge.judging.trust, report);
    if (doubt === null) this.#writer.add(THREAD, meta.text);
    return doubt?.why ?? null;
  }

  /** The transcript for people, from the entries in the bundle. */
  async #addTranscript(): Promise<void> {
    const { id, dialect } = this.#target;
    const members = new Map(this.#membersSoFar().map((member) => [member.name, member]));
    const session = bundledSession(this.#bundle, members, { session: id, dialect }, this.#judge);
    const member = this.#writer.begin(TRANSCRIPT);
    let text = LABEL;
    for await (const entry of bundledEntries(session, () => {})) {
      text += renderEntry(entry, {});
      if (text.length < CHUNK_BYTES) continue;
      member.write(Buffer.from(text));
      text = "";
    }
    member.write(Buffer.from(text));
    member.end();
  }

  #membersSoFar(): Member[] {
    let end = 0;
    return this.#writer.members.map(({ name, bytes }) => {
      const start = end + BLOCK_BYTES;
      end = start + Math.ceil(bytes / BLOCK_BYTES) * BLOCK_BYTES;
      return { name, start, bytes };
    });
  }
}

/** So that such a text by itself is not taken for the record. */
const LABEL =
  "<!-- derived: made from the log for reading; it proves nothing, the log does -->\n\n";

/** The same lines, copying their bytes on the way. */
async function* copying(
  lines: AsyncGenerator<VerifiedLine>,
  write: (bytes: Uint8Array) => void,
): AsyncGenerator<VerifiedLine> {
  let pieces: Uint8Array[] = [];
  let bytes = 0;
  const flush = () => {
    write(Buffer.concat(pieces));
    pieces = [];
    bytes = 0;
  };
  for await (const each of lines) {
    pieces.push(each.line, LINE_END);
    bytes += each.line.length + 1;
    if (bytes >= CHUNK_BYTES) flush();
    yield each;
  }
  flush();
}

const LINE_END = Uint8Array.of(LF);

function headOf({ signed_through: through, log, path }: VerifyReport): BundleManifest["head"] {
  assert(through && log !== null, `${path} is verified and has no head`);
  const { seq, byte_offset, line } = through;
  return { log, seq, byte_offset, line };
}

/** A bundle names its head, which the older format does not have. */
function olderFormat(path: string): VerbatimError {
  return new VerbatimError(
    "NOT_VERIFIED",
    `${path} is valid, but signed only in the older format, which bundles cannot name; look at it ` +
      "and sign it with `verbatim doctor --fix --vouch --profile rye`, then export it",
    { path, verdict: "untrusted" },
  );
}

function spillChanged(path: string, fault: string): VerbatimError {
  return new VerbatimError(
    "CHANGED_WHILE_READ",
    `${path} is ${fault} since it was verified; nothing was handed off`,
    { path, offset: 0 },
  );
}

export interface GitLookup {
  /** Null where there is no repository, or no git. */
  readonly git: GitIdentity | null;
  /** Why the remote was left out; null when it was not, or there is none. */
  readonly remoteDoubt: string | null;
}

async function gitIdentity(directory: string): Promise<GitLookup> {
  const commit = await git(directory, ["rev-parse", "--verify", "HEAD"]);
  if (commit === null || !isCommit(commit)) return { git: null, remoteDoubt: null };
  const url = await git(directory, ["config", "--get", "remote.origin.url"]);
  const remote = url === null ? null : remoteAddress(url);
  const isLeftOut = url !== null && remote === null;
  return { git: { remote, commit }, remoteDoubt: isLeftOut ? LEFT_OUT : null };
}

async function git(directory: string, args: readonly string[]): Promise<string | null> {
  try {
    // Set when a hook runs us, these would name another repository.
    const { GIT_DIR: _, GIT_WORK_TREE: __, ...rest } = process.env;
    const env = { ...rest, GIT_OPTIONAL_LOCKS: "0", GIT_TERMINAL_PROMPT: "0" };
    const options = { cwd: directory, env, timeout: GIT_MS_MAX, encoding: "utf8" } as const;
    const { stdout } = await execute("git", [...args], options);
    return stdout.trim() || null;
  } catch {
    return null; // No git, no repository, no commit or no remote.
  }
}
