/**
 * Check: reads what was copied again, against the sources, the recorded hashes and the signatures;
 * and what sessions have that their copies lack.
 */

import { lstatSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { openIfThere } from "../core/base/file-steps.ts";
import type { Host } from "../core/base/host.ts";
import { userPaths } from "../core/base/node-paths.ts";
import { readStretch } from "../core/log/bytes.ts";
import { dialectNamed, loadDialects } from "../dialects/all.ts";
import { convertedHost } from "../dialects/files/converted-host.ts";
import { rowKey, wholeLines } from "../dialects/files/guard-rows.ts";
import {
  type GuardedRoot,
  type GuardRecord,
  generationBytes,
  generationFile,
  guardedRoots,
  readGeneration,
  readGuardedRoot,
} from "../dialects/files/guard-store.ts";
import { isSourceGone } from "../dialects/files/guarded.ts";
import { followingHost } from "../dialects/files/moved-directories.ts";
import { iterateLogs, type Unreadable } from "../dialects/find.ts";
import type { FoundLog } from "../dialects/session-row.ts";
import { Heads, type InHeadsFile, rememberedIn } from "../trust/heads/heads.ts";
import { rootNames } from "../trust/heads/session-head.ts";
import { verifyLog } from "../trust/judge/verify.ts";
import { nodeCrypto } from "../trust/keys/node-crypto.ts";
import type { PinBook } from "../trust/proof/pins.ts";
import { sidecarOf } from "../trust/session-log.ts";
import { Trust, transcriptKeys } from "../trust/trusted-keys/trust.ts";
import { hashGeneration, streamGeneration } from "./generation.ts";
import type { GuardedSession } from "./guarded-sessions.ts";
import { signedGeneration } from "./signatures.ts";
import { Sources } from "./source.ts";
import { readVersions, versionBytes } from "./versions.ts";

export type Pins = InHeadsFile<PinBook>;

export interface Problem {
  readonly agent: string;
  readonly id: string;
  readonly generation: number;
  readonly problem: string;
}

export interface CheckCounts {
  readonly generations: number;
  /** Generations with valid signatures over all their bytes. */
  readonly verified: number;
  readonly problems: readonly Problem[];
}

/** The user's pinned heads: signatures that were removed are missed by them. */
export function readPins(host: Host): Promise<Pins> {
  const { stateDirectory } = userPaths();
  return new Heads({ host, stateDirectory, onWarning: () => {} }).read();
}

/** Checks every generation of a session. */
export async function checkGuardedSession(
  host: Host,
  session: GuardedSession,
  pins: Pins,
): Promise<CheckCounts> {
  const { root, kept } = session;
  const problems: Problem[] = [];
  let verified = 0;
  let generations = 0;
  for (let generation = 1; generation <= kept.generation; generation++) {
    const tell = (problem: string) =>
      problems.push({ agent: root.agent, id: kept.id, generation, problem });
    if (generationFile(root.directory, kept.path, generation) === null) {
      tell("the copy is missing");
      continue;
    }
    generations++;
    try {
      await loadDialects([root.agent]);
      const fault = await faultOf(host, session, generation);
      if (fault !== null) tell(fault);
      const verdict = await verdictOf(host, session, generation, pins);
      if (verdict === "verified") verified++;
      else if (verdict !== null) tell(`its signatures: ${verdict}${remedyOf(verdict, kept.kind)}`);
    } catch (cause) {
      tell(cause instanceof Error ? cause.message : String(cause));
    }
  }
  return { generations, verified, problems };
}

function remedyOf(verdict: string, kind: GuardRecord["kind"]): string {
  if (verdict !== "incomplete") return "";
  const signs = "`verbatim guard --once --sign` signs it, if the agent's file still has it";
  const stays = "later signatures do not cover it";
  return `: something was copied without --sign; ${kind === "bytes" ? signs : stays}`;
}

async function faultOf(
  host: Host,
  { root, kept }: GuardedSession,
  generation: number,
): Promise<string | null> {
  const closed = kept.losses.find((loss) => loss.generation === generation);
  const isNewest = generation === kept.generation && !closed;
  const sha256 = closed?.sha256 ?? (isNewest ? kept.sha256 : null);
  const hash = await hashGeneration(root.directory, kept.path, generation);
  if (sha256 !== null && hash?.sha256 !== sha256) return "its bytes are not those that were copied";
  if (kept.kind === "rows" && kept.mode !== null && isNewest) {
    return versionsFault(host, root.directory, kept.path);
  }
  if (!isNewest || kept.kind === "rows" || isSourceGone(root, kept, dialectNamed(root.agent)))
    return null;
  return sourceFault(host, { root, kept }, generation);
}

/** Whether the source still begins with its copy. */
async function sourceFault(
  host: Host,
  { root, kept }: GuardedSession,
  generation: number,
): Promise<string | null> {
  const options = { create: false, root: root.source };
  const { files } = followingHost(host, root.agent, root.source);
  const directory = await files.openDirectory(join(root.source, dirname(kept.path)), options);
  const source = openIfThere(directory, basename(kept.path));
  try {
    if (source === null) return null; // It has another file now.
    let at = 0;
    for await (const bytes of streamGeneration(root.directory, kept.path, generation) ?? []) {
      if (!(await readStretch(source, at, at + bytes.length)).equals(bytes)) {
        return "the source no longer begins with the copy; run `verbatim guard --once`";
      }
      at += bytes.length;
    }
    return null;
  } finally {
    source?.close();
    directory.close();
  }
}

async function versionsFault({ files }: Host, root: string, path: string): Promise<string | null> {
  const directory = await files.openDirectory(join(root, dirname(path)), { create: false, root });
  try {
    const { versions } = await readVersions(directory, basename(path));
    const bad = versions.find(({ version }) => versionBytes(versions, version) === null);
    return bad ? `version ${bad.version} is not what was copied` : null;
  } finally {
    directory.close();
  }
}

/** The verdict on the signatures of a generation; null: it is not signed. */
async function verdictOf(
  host: Host,
  { root, kept }: GuardedSession,
  generation: number,
  pins: Pins,
): Promise<string | null> {
  const content = kept.kind === "bytes" ? "bytes" : "messages";
  const name = `${root.agent}/${kept.id}`;
  const target = signedGeneration(root.directory, name, kept.path, generation, content);
  const sidecar = join(root.directory, sidecarOf(target.logId));
  const names = await rootNames(host, target);
  const remembered = rememberedIn(pins, { place: names.place, id: target.id, names });
  if (!lstatSync(sidecar, { throwIfNoEntry: false }) && !remembered.here) return null;
  const keys = transcriptKeys(await Trust.load(userPaths()), target.id);
  const expanded = convertedHost(host, root.directory, (_, segments) => {
    if (segments.join("/") !== target.logId) return null;
    const found = generationFile(root.directory, kept.path, generation);
    if (!found?.isCompressed) return null;
    const bytes = readGeneration(root.directory, kept.path, generation);
    return bytes && { bytes, source: found.file };
  });
  return (await verifyLog(expanded, target, { crypto: nodeCrypto, keys, remembered })).verdict;
}

const REMEDY = "run `verbatim guard --once`";

/**
 * A problem for each session that is not guarded as it is now. Only directories that are guarded are
 * looked at: a guard may be for one agent alone. Whether a source still has what was copied is
 * checked with the copy.
 */
export async function* checkSources(host: Host): AsyncGenerator<Problem> {
  await loadDialects();
  for (const each of guardedRoots()) {
    const root = readGuardedRoot(each);
    if (root === null) continue;
    const { agent, source, sessions } = root;
    const found = { agent, generation: 0 };
    const unlisted: Problem[] = [];
    const onUnreadable = ({ id, path, cause }: Unreadable) =>
      unlisted.push({ ...found, id: id ?? path, problem: cause.message });
    const onNoId = (path: string) =>
      unlisted.push({ ...found, id: path, problem: "its name cannot be an id" });
    const sources = new Sources(host, agent, source);
    try {
      for (const log of iterateLogs(source, dialectNamed(agent).naming.layout, {
        onUnreadable,
        onNoId,
      })) {
        const kept = sessions.get(log.path);
        const problem = await lackOf(root, log, kept, sources);
        const generation = kept?.generation ?? 0;
        if (problem !== null) yield { ...found, id: log.id, generation, problem };
      }
    } finally {
      sources.close();
    }
    yield* unlisted;
  }
}

async function lackOf(
  root: GuardedRoot,
  log: FoundLog,
  kept: GuardRecord | undefined,
  sources: Sources,
): Promise<string | null> {
  if (kept === undefined) return `it has no copy; ${REMEDY}`;
  if (kept.isClosed || kept.deletedAt !== null) return `what it has now is not copied; ${REMEDY}`;
  if (kept.kind === "bytes") {
    const more = log.size - generationBytes(root.directory, kept.path, kept.generation);
    return more > 0 ? notCopied(more, "byte") : null;
  }
  try {
    const lines = await linesNotKept(root, log, kept, sources);
    return lines > 0 ? notCopied(lines, "line") : null;
  } catch (cause) {
    return cause instanceof Error ? cause.message : String(cause);
  }
}

function notCopied(count: number, of: "byte" | "line"): string {
  const those = count === 1 ? `1 ${of} of it is` : `${count} ${of}s of it are`;
  return `${those} not copied; ${REMEDY}`;
}

async function linesNotKept(
  { agent, directory }: GuardedRoot,
  log: FoundLog,
  kept: GuardRecord,
  sources: Sources,
): Promise<number> {
  const dialect = dialectNamed(agent);
  const copy = readGeneration(directory, kept.path, kept.generation) ?? Buffer.alloc(0);
  const copied = new Map(wholeLines(copy).map((line) => [rowKey(line, dialect), line]));
  const { file, raw } = await sources.open(log);
  try {
    const lines = wholeLines(await readStretch(file, 0, file.size()));
    // A program may write a message several times: the last one counts, as for the copy.
    const now = new Map(lines.map((line) => [rowKey(line, dialect), line]));
    return [...now].filter(([key, line]) => copied.get(key) !== line).length;
  } finally {
    file.close();
    raw?.close();
  }
}
