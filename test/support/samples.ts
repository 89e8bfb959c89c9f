/**
 * Samples: sessions of each agent that are part of this repository (test/samples/README.md).
 *
 * A folder holds the files as they are below the agent's own directory (`program.roots` of its
 * dialect), so a copy of it can be read as a root.
 */

import { cpSync, existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { dialectNamed } from "../../src/dialects/all.ts";
import { tempDirectory } from "./temp-directory.ts";

const SAMPLES = fileURLToPath(new URL("../samples/", import.meta.url));

export interface SampleFolder {
  /** The version of the program that wrote it, or `by-hand`. */
  readonly name: string;
  readonly path: string;
}

export interface SampleLog {
  /** For the name of a test: the folder, and the path below it. */
  readonly name: string;
  readonly folder: SampleFolder;
  /** Of the session. */
  readonly id: string;
  readonly path: string;
}

/** The folders of an agent, named by its dialect. */
export function sampleFolders(agent: string): readonly SampleFolder[] {
  const parent = join(SAMPLES, agent);
  if (!existsSync(parent)) return [];
  return readdirSync(parent, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => ({ name, path: join(parent, name) }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Every file in these folders that is the log of a session. */
export function sampleLogs(agent: string): readonly SampleLog[] {
  return sampleFolders(agent).flatMap((folder) =>
    readdirSync(folder.path, { recursive: true, encoding: "utf8" })
      .sort()
      .flatMap((below) => {
        const id = dialectNamed(agent).idAt(below.split("/"));
        if (id === null) return [];
        return { name: `${folder.name}/${below}`, folder, id, path: join(folder.path, below) };
      }),
  );
}

/** A copy of a folder, removed after the test: reading as a root may write next to the files. */
export function copyOfSamples({ path }: SampleFolder): string {
  const root = tempDirectory();
  cpSync(path, root, { recursive: true });
  return root;
}
