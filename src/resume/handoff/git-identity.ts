/**
 * Git identity: which repository and commit a directory is at, for people far from it.
 *
 * GI1  No credentials and no paths: of a remote only a network address is told, without user,
 *      password, query and fragment.
 */

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { GitIdentity } from "./manifest.ts";

const execute = promisify(execFile);
const GIT_MS_MAX = 5000;
const SCHEMES: readonly string[] = ["https:", "http:", "ssh:", "git:"];
/** `user@host:path`, as git and scp write it; a host has a dot, so that no drive is one. */
const SCP = /^(?:[^@/\s]+@)?([A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+):([^\s?#:]+)$/;

/** Null where there is no repository, or no git. */
export async function gitIdentity(directory: string): Promise<GitIdentity | null> {
  const commit = await git(directory, ["rev-parse", "--verify", "HEAD"]);
  if (commit === null || !/^[0-9a-f]{40,64}$/.test(commit)) return null;
  const url = await git(directory, ["config", "--get", "remote.origin.url"]);
  return { remote: url === null ? null : withoutCredentials(url), commit };
}

/** A remote's address as others may know it; null for what is none (GI1). */
export function withoutCredentials(url: string): string | null {
  const [, host, path] = SCP.exec(url) ?? [];
  const text = host === undefined ? url : `ssh://${host}/${path?.replace(/^\/+/, "")}`;
  const parsed = URL.canParse(text) ? new URL(text) : null;
  if (!parsed || !SCHEMES.includes(parsed.protocol) || parsed.host === "") return null;
  return `${parsed.protocol}//${parsed.host}${parsed.pathname}`;
}

async function git(directory: string, args: readonly string[]): Promise<string | null> {
  try {
    // Set where a hook runs us, these would name another repository.
    const { GIT_DIR: _, GIT_WORK_TREE: __, ...rest } = process.env;
    const env = { ...rest, GIT_OPTIONAL_LOCKS: "0", GIT_TERMINAL_PROMPT: "0" };
    const options = { cwd: directory, env, timeout: GIT_MS_MAX, encoding: "utf8" } as const;
    const { stdout } = await execute("git", [...args], options);
    return stdout.trim() || null;
  } catch {
    return null; // No git, no repository, nothing committed, no remote: there is nothing to tell.
  }
}
