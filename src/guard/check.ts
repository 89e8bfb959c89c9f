/** Check: reads what was copied again, against the sources, the recorded hashes and the signatures. */

import { lstatSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { openIfThere } from "../core/base/file-steps.ts";
import type { Host } from "../core/base/host.ts";
import { userPaths } from "../core/base/node-paths.ts";
import { readStretch } from "../core/log/bytes.ts";
import { dialectNamed, loadDialects } from "../dialects/all.ts";
import { convertedHost } from "../dialects/files/converted-host.ts";
import { generationFile, type Kept, readGeneration } from "../dialects/files/guard-store.ts";
import { isSourceGone } from "../dialects/files/guarded.ts";
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

function remedyOf(verdict: string, kind: Kept["kind"]): string {
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
  { files }: Host,
  { root, kept }: GuardedSession,
  generation: number,
): Promise<string | null> {
  const options = { create: false, root: root.source };
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
