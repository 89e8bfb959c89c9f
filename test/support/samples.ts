/**
 * Samples: sessions of each agent that are part of this repository (test/samples/README.md).
 *
 * A folder holds the files as they are below the agent's own directory (`program.roots` of its
 * dialect), so a copy of it can be read as a root.
 */

import { cpSync, existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { dialectNamed } from "../../src/dialects/all.ts";
import { READ_DIALECT_NAMES } from "../../src/dialects/registry.ts";
import type { SharedFiles } from "./shared-files.ts";
import { tempDirectory } from "./temp-directory.ts";

const SAMPLES = fileURLToPath(new URL("../samples/", import.meta.url));

export interface SampleFolder {
  /** The version of the program that wrote it, or `by-hand`. */
  readonly name: string;
  readonly path: string;
}

export interface SampleLog {
  /** For the name of a test: the folder, and the session. */
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
        const id = dialectNamed(agent).naming.idAt(below.split("/"));
        if (id === null) return [];
        return { name: `${folder.name} ${id}`, folder, id, path: join(folder.path, below) };
      }),
  );
}

/** The bytes of every file in a folder, by the path below it. */
export function filesBelow({ path }: SampleFolder): Readonly<Record<string, Uint8Array>> {
  const names = readdirSync(path, { recursive: true, encoding: "utf8" }).sort();
  const files = names.filter((name) => statSync(join(path, name)).isFile());
  return Object.fromEntries(files.map((name) => [name, readFileSync(join(path, name))]));
}

/**
 * The logs of an agent, and these files of a folder of public ones, if it is there: names and paths,
 * for `test.each`.
 */
export function logsWith(
  agent: string,
  shared: SharedFiles,
  files: (folder: string) => readonly string[],
): readonly (readonly [name: string, path: string])[] {
  const others = shared.isThere ? files(shared.path) : [];
  return [
    ...sampleLogs(agent).map(({ name, path }) => [name, path] as const),
    ...others.map((path) => [`public ${relative(shared.path, path)}`, path] as const),
  ];
}

/**
 * Copies the samples of agents into a home, where each agent keeps its own. Returns the
 * directories of those that have samples.
 */
export function copySamplesTo(
  home: string,
  agents: readonly string[] = READ_DIALECT_NAMES,
): readonly string[] {
  return agents.flatMap((agent) => {
    const roots = dialectNamed(agent).program?.roots({ environment: {}, home, platform: "linux" });
    const folders = sampleFolders(agent);
    if (roots?.[0] === undefined || folders.length === 0) return [];
    for (const { path } of folders) cpSync(path, roots[0], { recursive: true });
    return [roots[0]];
  });
}

/** A copy of a folder, removed after the test: reading as a root may write next to the files. */
export function copyOfSamples({ path }: SampleFolder): string {
  const root = tempDirectory();
  cpSync(path, root, { recursive: true });
  return root;
}
