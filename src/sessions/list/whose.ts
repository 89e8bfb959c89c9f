/**
 * Whose: by which agent, for which project and on whose machine a session was made, in a user's
 * words, and the filters by these.
 */

import { realpathSync } from "node:fs";
import { basename, isAbsolute, resolve } from "node:path";
import { dialectNamed } from "../../dialects/all.ts";
import { labelOf, READ_DIALECT_NAMES } from "../../dialects/registry.ts";
import type { ProjectFilter } from "../catalog/page.ts";

/** What a listing knows of a session. */
interface SessionOwner {
  readonly dialect: string;
  readonly agent: string | null;
}

/** For a session that names no agent, in a layout that several programs write. */
export const UNNAMED_AGENT = "Unnamed agent";

/** Whose session it is, as the machine that sent it to a server says. */
export interface Sender {
  readonly machine: string;
  readonly user: string;
}

/** In the data directory of a server: what it received. `server backup` leaves out names with a dot. */
export const RECEIVED = ".received";
const SENT_ROOT = /\/\.received\/[^/]+\/@([^/]+)\/([^/]+)\/[^/]+$/;

/** As in the paths of streams and of received files (docs/formats/remote.md). */
export function senderPath({ machine, user }: Sender): string {
  return `@${machine}/${user}`;
}

/** Whether a server keeps a store or log as a copy of what it received: only that server may write there. */
export function isReceived(path: string): boolean {
  return path.split("/").includes(RECEIVED);
}

/** Who sent the sessions of a store; null for sessions of this machine. */
export function senderOf(root: string): Sender | null {
  const [, machine, user] = SENT_ROOT.exec(root) ?? [];
  return machine === undefined || user === undefined ? null : { machine, user };
}

/** Whether a store is of the machine and of the user; null and undefined: of any. */
export function isSenderMeant(
  root: string,
  { machine, user }: { readonly [name in keyof Sender]?: string | null | undefined },
): boolean {
  if (!machine && !user) return true;
  const sender = senderOf(root);
  return (!machine || sender?.machine === machine) && (!user || sender?.user === user);
}

/** The program as its users call it, else the agent. */
export function agentOf({ dialect, agent }: SessionOwner): string {
  return labelOf(dialect) ?? agent ?? UNNAMED_AGENT;
}

/** A session's id in its program, else its id. */
export function programIdOf(dialect: string, id: string): string {
  return dialectNamed(dialect).naming.nameOf?.(id) ?? id;
}

/** The names of programs and dialects that `isDialectMeant` takes, for a message. */
export function knownAgents(): string[] {
  return READ_DIALECT_NAMES.map((name) => {
    const label = labelOf(name);
    return label === null ? name : `${label} (${name})`;
  });
}

/** Whether any program or dialect is meant. */
export function isKnownAgent(asked: string): boolean {
  return READ_DIALECT_NAMES.some((name) => isDialectMeant(name, asked));
}

/** Whether a dialect is meant: by its name, or its program's label or the label's first word. */
export function isDialectMeant(dialect: string, asked: string): boolean {
  const label = labelOf(dialect) ?? dialect;
  const names = [dialect, label, label.split(" ")[0] ?? ""];
  return names.some((name) => plain(name) === plain(asked));
}

export function isAgentMeant({ dialect, agent }: SessionOwner, name: string): boolean {
  return isDialectMeant(dialect, name) || (agent !== null && plain(agent) === plain(name));
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[\s_-]+/g, "");
}

/**
 * Which projects are meant: `=NAME` the one of that name, exactly; a path (`.`, `/src/app`) a
 * directory and all below it; anything else part of the name, in any case: of `owner/name`, or of
 * the last part of a directory. Without `cwd`, a path begins with `/`.
 */
export function projectFilter(asked: string, cwd: string | null): ProjectFilter {
  if (asked.startsWith("=")) return ({ project }) => project === asked.slice(1);
  const part = asked.toLowerCase();
  const isNamed: ProjectFilter = ({ project }) =>
    project !== null && projectName(project).toLowerCase().includes(part);
  if (!isAbsolute(asked) && (cwd === null || !/^\.|\//.test(asked))) return isNamed;
  const path = resolve(cwd ?? "/", asked);
  const paths = cwd === null ? [path] : [path, realPath(path)];
  const isBelow: ProjectFilter = ({ directory }) =>
    directory !== null && paths.some((each) => withSlash(directory).startsWith(withSlash(each)));
  if (isAbsolute(asked) || asked.startsWith(".")) return isBelow;
  return (session) => isBelow(session) || isNamed(session); // `src/app` and `owner/name`.
}

/** `owner/name` of a repository, or the last part of a directory. */
export function projectName(project: string): string {
  return isAbsolute(project) ? basename(project) || project : project;
}

function withSlash(path: string): string {
  return path.endsWith("/") ? path : `${path}/`;
}

export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path; // The project may be gone.
  }
}
