/** Received stores: where a server keeps copies of the sessions that other machines sent to it. */

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { READ_DIALECT_NAMES } from "../../dialects/registry.ts";
import { RECEIVED } from "./whose.ts";

/** `claude-code`, `claude-code@2`, `claude-code@2.rows`: generations of a guard's copies. */
const STORE_NAME = /^([a-z0-9-]+)(?:@\d+(?:\.rows)?)?$/;

/** Those in a server's data directory; only that server may write to them. */
export function receivedStores(dataDirectory: string): { dialect: string; root: string }[] {
  const folders = directoriesIn(join(dataDirectory, RECEIVED));
  const ofSenders = folders
    .flatMap(directoriesIn)
    .filter((path) => path.slice(path.lastIndexOf("/") + 1).startsWith("@"))
    .flatMap(directoriesIn);
  return folders.concat(ofSenders).flatMap((folder) =>
    directoriesIn(folder).flatMap((root) => {
      const [, dialect = ""] = STORE_NAME.exec(root.slice(folder.length + 1)) ?? [];
      return READ_DIALECT_NAMES.some((name) => name === dialect) ? [{ dialect, root }] : [];
    }),
  );
}

function directoriesIn(path: string): string[] {
  try {
    return readdirSync(path, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => join(path, name))
      .sort();
  } catch {
    return []; // Nothing was received, or nothing that we may see.
  }
}
