/**
 * Whose: by which agent and for which project a session was made, in a user's words, and the
 * filters by these.
 */

import { realpathSync } from "node:fs";
import { basename, resolve } from "node:path";
import { dialectNamed } from "../../dialects/all.ts";
import { labelOf, programOf, READ_DIALECT_NAMES, registryEntry } from "../../dialects/registry.ts";

/** What a listing knows of a session. */
export interface SessionOwner {
  readonly dialect: string;
  readonly root: string;
  readonly agent: string | null;
  readonly project: string | null;
}

/** For a session that names no agent, in a layout that several programs write. */
export const UNNAMED_AGENT = "Unnamed agent";

/** The program as its users call it, else the agent. */
export function agentOf({ dialect, agent }: Pick<SessionOwner, "dialect" | "agent">): string {
  return labelOf(dialect) ?? agent ?? UNNAMED_AGENT;
}

/** Agent and project of a row of a store. */
export function ownerOf(
  { dialect, root }: Pick<SessionOwner, "dialect" | "root">,
  { agent, project }: Pick<SessionOwner, "agent" | "project">,
): { readonly agent: string; readonly project: string | null } {
  const whose = { dialect, root, agent, project };
  return { agent: agentOf(whose), project: projectOf(whose) };
}

/** The directory that the agent worked in, as recorded; else the project that has the store. */
export function projectOf({ dialect, root, project }: SessionOwner): string | null {
  if (project !== null) return project;
  const { usersRoot, mark } = registryEntry(dialect);
  const isInProject = !programOf(dialect) && !usersRoot && mark === undefined;
  return isInProject ? root : null;
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

export function isAgentMeant({ dialect, agent }: SessionOwner, asked: string): boolean {
  return isDialectMeant(dialect, asked) || (agent !== null && plain(agent) === plain(asked));
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[\s_-]+/g, "");
}

/** Whether a session is of the project: by its directory, and the repository of that. */
export type ProjectFilter = (project: string | null, repository: string | null) => boolean;

/**
 * Which projects are meant: a repository (`owner/name`, as the viewer shows it), a path and
 * everything below it, or all directories and repositories of a name.
 */
export function projectFilter(asked: string, cwd: string): ProjectFilter {
  const wanted = asked.toLowerCase();
  const isPath = asked.startsWith(".") || asked.includes("/");
  if (!isPath) {
    const isOfName = (path: string | null) => path !== null && basename(path) === wanted;
    return (project, repository) => {
      return (
        isOfName(project?.toLowerCase() ?? null) || isOfName(repository?.toLowerCase() ?? null)
      );
    };
  }
  const path = resolve(cwd, asked);
  const paths = [path, realPath(path)];
  return (project, repository) => {
    if (repository?.toLowerCase() === wanted) return true;
    return project !== null && paths.some((each) => `${project}/`.startsWith(withSlash(each)));
  };
}

function withSlash(path: string): string {
  return path.endsWith("/") ? path : `${path}/`;
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path; // The project may be gone.
  }
}
