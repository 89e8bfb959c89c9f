/**
 * Node places: the directories of a user's own files, by the XDG rules (docs/architecture.md).
 *
 * NP1  No place is ever taken from a project or a transcript: an attacker who could name it could
 *      bring their own keys and trust.
 */

import { userInfo } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { VerbatimError } from "./errors.ts";

/** Paths of a user's files, other than sessions. */
export interface UserPaths {
  /** Settings (`config.json`). */
  readonly configPath: string;
  /** Trusted keys, and what each is trusted for (`trust.json`). */
  readonly trustPath: string;
  /** The user's own keys. */
  readonly keyDirectory: string;
  /** Data that must not be lost but is not a setting, such as head pins. */
  readonly stateDirectory: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Refuses a VERBATIM_KEY_DIR that is not an absolute path. */
export function userPaths(environment: Environment = process.env): UserPaths {
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
  return join(userPaths().stateDirectory, "heads.jsonl");
}

/** Where the user recorded sessions (docs/formats/stores.md). */
export function storesPath(): string {
  return join(userPaths().stateDirectory, "stores.jsonl");
}

/** The user's own notes on sessions (docs/formats/notes.md). */
export function notesPath(): string {
  return join(userPaths().stateDirectory, "notes.jsonl");
}

/** The last session listing: a cache, safe to delete. */
export function keptListingPath(): string {
  return join(xdg(process.env, "XDG_CACHE_HOME", ".cache"), "verbatim", "last-listing");
}

/** Leaf indexes of large logs, for proofs: a cache, safe to delete. */
export function leafIndexDirectory(): string {
  return join(xdg(process.env, "XDG_CACHE_HOME", ".cache"), "verbatim", "leaves");
}

/** The search index, next to the session index: a cache too. */
export function searchPathNextTo(catalog: string): string {
  return join(dirname(catalog), "search.db");
}

/** Example sessions for users who have none: safe to delete. */
export function demoRoot(): string {
  return join(xdg(process.env, "XDG_CACHE_HOME", ".cache"), "verbatim", "demo");
}

/** Where the server keeps its streams. */
export function dataDirectory(environment: Environment = process.env): string {
  return join(xdg(environment, "XDG_DATA_HOME", ".local/share"), "verbatim");
}

/** What decides where other programs keep their sessions. */
export function surroundings() {
  const platform = process.platform === "darwin" ? "darwin" : "linux";
  return { environment: process.env, home: home(process.env), platform } as const;
}

/**
 * A relative path would depend on the working directory: in a project, it would use that project's
 * keys. Ignoring it instead would sign with the wrong key.
 */
function keyDirectory({ VERBATIM_KEY_DIR: path }: Environment): string | null {
  if (!path) return null;
  if (isAbsolute(path)) return path;
  throw new VerbatimError(
    "BAD_SETTING",
    "VERBATIM_KEY_DIR is refused: it is not an absolute path; set one that begins with /",
    { setting: "VERBATIM_KEY_DIR", from: "environment", reason: "it is not an absolute path" },
  );
}

/** The XDG rules say to ignore a relative path in such a variable. */
function xdg(environment: Environment, variable: string, fallback: string): string {
  const value = environment[variable];
  return value && isAbsolute(value) ? value : join(home(environment), fallback);
}

/**
 * HOME, else the home directory in the system's user list. An empty or relative HOME would depend
 * on the working directory: in a project, it would use files of that project (NP1).
 */
function home({ HOME }: Environment): string {
  if (HOME && isAbsolute(HOME)) return HOME;
  const listed = listedHome();
  if (isAbsolute(listed)) return listed;
  throw new VerbatimError(
    "BAD_SETTING",
    "HOME is refused: it is not an absolute path, and the system has none for this user; " +
      "set one that begins with /",
    { setting: "HOME", from: "environment", reason: "it is not an absolute path" },
  );
}

function listedHome(): string {
  try {
    return userInfo().homedir;
  } catch {
    return ""; // A user without an entry, as in a container.
  }
}
