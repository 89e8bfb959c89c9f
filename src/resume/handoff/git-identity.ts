/**
 * Git identity: the repository and commit of a directory, for people elsewhere.
 *
 * - No credentials and no paths: of a remote only a network address is stated, without user,
 *   password, query and fragment.
 * - The address is safe to pass to git: a scheme that runs nothing, and a host that is not an
 *   option of ssh. A reader refuses others (manifest.ts).
 */

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { GitIdentity } from "./manifest.ts";
import { isCommit, remoteAddress } from "./manifest.ts";

const execute = promisify(execFile);
const GIT_MS_MAX = 5000;

export interface GitLookup {
  /** Null where there is no repository, or no git. */
  readonly git: GitIdentity | null;
  /** Why the remote was left out; null when it was not, or there is none. */
  readonly remoteDoubt: string | null;
}

export async function gitIdentity(directory: string): Promise<GitLookup> {
  const commit = await git(directory, ["rev-parse", "--verify", "HEAD"]);
  if (commit === null || !isCommit(commit)) return { git: null, remoteDoubt: null };
  const url = await git(directory, ["config", "--get", "remote.origin.url"]);
  const remote = url === null ? null : remoteAddress(url);
  const isLeftOut = url !== null && remote === null;
  return { git: { remote, commit }, remoteDoubt: isLeftOut ? LEFT_OUT : null };
}

const LEFT_OUT = "it is not an https, ssh or git address";

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
