/**
 * Node places: where a user's own files are, by the XDG rules (docs/architecture.md).
 *
 * NP1  No place is ever taken from a project or a transcript: whoever could name it could bring
 *      keys and trust of their own.
 */

import { userInfo } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { VerbatimError } from "./errors.ts";

/** What a user keeps for Verbatim beside the sessions themselves. */
export interface UserPlaces {
  /** Settings (`config.json`). */
  readonly configPath: string;
  /** Whose keys are trusted, and for what (`trust.json`). */
  readonly trustPath: string;
  /** The user's own keys. */
  readonly keyDirectory: string;
  /** What must not be lost but is no setting, such as head pins. */
  readonly stateDirectory: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The user's places; refuses a VERBATIM_KEY_DIR that is no absolute path. */
export function userPlaces(environment: Environment = process.env): UserPlaces {
  const config = join(xdg(environment, "XDG_CONFIG_HOME", ".config"), "verbatim");
  return {
    configPath: join(config, "config.json"),
    trustPath: join(config, "trust.json"),
    keyDirectory: keyDirectory(environment) ?? join(config, "keys"),
    stateDirectory: join(xdg(environment, "XDG_STATE_HOME", ".local/state"), "verbatim"),
  };
}

/** The index of sessions: a cache, safe to delete. */
export function catalogPath(): string {
  return join(xdg(process.env, "XDG_CACHE_HOME", ".cache"), "verbatim", "catalog.db");
}

/** The user's head pins (docs/formats/heads.md). */
export function headsPath(): string {
  return join(userPlaces().stateDirectory, "heads.jsonl");
}

/** What was last listed: a cache, safe to delete. */
export function keptListingPath(): string {
  return join(xdg(process.env, "XDG_CACHE_HOME", ".cache"), "verbatim", "last-listing");
}

/** The search index, beside the index of sessions: a cache as well. */
export function searchPathBeside(catalog: string): string {
  return join(dirname(catalog), "search.db");
}

/** Sessions to look at for who has none: as safe to delete as the caches beside them. */
export function demoRoot(): string {
  return join(xdg(process.env, "XDG_CACHE_HOME", ".cache"), "verbatim", "demo");
}

/** Where the server keeps its streams. */
export function dataDirectory(environment: Environment = process.env): string {
  return join(xdg(environment, "XDG_DATA_HOME", ".local/share"), "verbatim");
}

/** Where HomeAgent keeps its sessions. */
export function homeagentRoot(): string {
  return join(home(process.env), ".homeagent");
}

/**
 * Relative, it would name another directory wherever we are started: in a project, that project's
 * keys. And to pass over it would be to sign with a key that was not meant.
 */
function keyDirectory({ VERBATIM_KEY_DIR: path }: Environment): string | null {
  if (!path) return null;
  if (isAbsolute(path)) return path;
  throw new VerbatimError(
    "BAD_SETTING",
    "VERBATIM_KEY_DIR is refused: it is no absolute path; give one that begins with /",
    { setting: "VERBATIM_KEY_DIR", from: "environment", reason: "it is no absolute path" },
  );
}

/** The XDG rules say that a relative path in such a variable is to be ignored. */
function xdg(environment: Environment, variable: string, fallback: string): string {
  const value = environment[variable];
  return value && isAbsolute(value) ? value : join(home(environment), fallback);
}

/**
 * As the environment says it, else the system's list of users. Empty or relative, HOME would name
 * another directory wherever we are started: in a project, what that project brings (NP1).
 */
function home({ HOME }: Environment): string {
  if (HOME && isAbsolute(HOME)) return HOME;
  const listed = listedHome();
  if (isAbsolute(listed)) return listed;
  throw new VerbatimError(
    "BAD_SETTING",
    "HOME is refused: it is no absolute path, and the system knows no other; " +
      "give one that begins with /",
    { setting: "HOME", from: "environment", reason: "it is no absolute path" },
  );
}

function listedHome(): string {
  try {
    return userInfo().homedir;
  } catch {
    return ""; // A user who is in no list, as in a container.
  }
}
