/**
 * Publish: puts a signed head into a branch of a git repository, and reads it from there.
 *
 * Only objects and one branch are written: no file of the work tree, no index, no hook, no remote.
 * A branch can be rewritten, so this is `published`, never `witnessed`.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { NOTE_CHARS_MAX } from "../proof/tlog/note.ts";
import { type ProgramOptions, programFailed, runProgram } from "./run-program.ts";

export const BRANCH_DEFAULT = "verbatim-heads";
const GIT = "git";
/** A repository's own settings must not run programs. */
const SAFE = ["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "gc.auto=0"];

export interface Published {
  readonly note: string;
  readonly commit: string;
  /** The time of the commit, by its author's clock. */
  readonly time: string;
}

/** Commits the note of a log; returns the commit. */
export async function publishNote(
  directory: string,
  branch: string,
  log: string,
  note: string,
  message: string,
): Promise<string> {
  const git = gitIn(directory);
  const ref = await refOf(directory, branch);
  const parent = await commitOf(directory, ref);
  const blob = await git(["hash-object", "-w", "--stdin"], { input: Buffer.from(note) });
  const scratch = mkdtempSync(join(tmpdir(), "verbatim-publish-"));
  try {
    const env = { GIT_INDEX_FILE: join(scratch, "index") };
    await git(parent === null ? ["read-tree", "--empty"] : ["read-tree", parent], { env });
    await git(["update-index", "--add", "--cacheinfo", `100644,${blob},${fileOf(log)}`], { env });
    const tree = await git(["write-tree"], { env });
    const parents = parent === null ? [] : ["-p", parent];
    const commit = await git(["commit-tree", tree, ...parents, "-m", message]);
    // Fails if the branch moved meanwhile.
    await git(["update-ref", ref, commit, parent ?? "0".repeat(commit.length)]);
    return commit;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** The note of a log in the branch; null if there is none. */
export async function readPublished(
  directory: string,
  branch: string,
  log: string,
): Promise<Published | null> {
  const commit = await commitOf(directory, await refOf(directory, branch));
  if (commit === null) return null;
  const name = `${commit}:${fileOf(log)}`;
  const shown = await raw(directory, ["cat-file", "blob", name]);
  if (shown.code !== 0 || shown.stdout.length > NOTE_CHARS_MAX) return null;
  const git = gitIn(directory);
  const [found = "", time = ""] = (
    await git(["log", "-1", "--format=%H %cI", commit, "--", fileOf(log)])
  ).split(" ");
  return { note: shown.stdout.toString("utf8"), commit: found, time };
}

function fileOf(log: string): string {
  return `heads/${log}.note`;
}

async function refOf(directory: string, branch: string): Promise<string> {
  await gitIn(directory)(["rev-parse", "--git-dir"]); // Otherwise a missing repository is no branch.
  const ref = `refs/heads/${branch}`;
  const { code } = await raw(directory, ["check-ref-format", ref]);
  if (code !== 0) throw programFailed(GIT, `${JSON.stringify(branch)} is no name of a branch`);
  return ref;
}

async function commitOf(directory: string, ref: string): Promise<string | null> {
  const { code, stdout } = await raw(directory, ["rev-parse", "--verify", "--quiet", ref]);
  return code === 0 ? stdout.toString().trim() : null;
}

function raw(directory: string, args: readonly string[], options: ProgramOptions = {}) {
  return runProgram(GIT, ["-C", directory, ...SAFE, ...args], options);
}

function gitIn(directory: string) {
  return async (args: readonly string[], options: ProgramOptions = {}): Promise<string> => {
    const { code, stdout, stderr } = await raw(directory, args, options);
    if (code !== 0) throw programFailed(GIT, `${args[0]}: ${stderr.split("\n")[0]}`);
    return stdout.toString().trim();
  };
}
