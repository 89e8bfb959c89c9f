/** Doors: the public entry points as package.json names them. */

import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));

export interface Door {
  /** What users import: `verbatim-log/log`. */
  readonly specifier: string;
  /** What it is made from, below the root: `src/doors/log.ts`. */
  readonly source: string;
}

export interface Names {
  readonly types: readonly string[];
  readonly values: readonly string[];
}

interface Manifest {
  readonly name: string;
  readonly exports: Readonly<Record<string, unknown>>;
}

function readManifest(): Manifest {
  return JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
}

/** Where the first entry point is built: all are in one folder. */
function builtFolder({ exports }: Manifest): string {
  return posix.dirname(posix.normalize((exports["."] as { default: string }).default));
}

/** The doors in the order of package.json. Throws on a key that is not a plain, typed door. */
export function declaredDoors(): Door[] {
  const manifest = readManifest();
  const folder = builtFolder(manifest);
  const keys = Object.keys(manifest.exports).filter((key) => key !== "./package.json");
  return keys.map((key) => {
    const name = key === "." ? "index" : key.replace(/^\.\//, "");
    const built = `./${folder}/${name}`;
    const types = { require: `${built}.d.cts`, default: `${built}.d.ts` };
    const target = { types, default: `${built}.js` };
    if (
      !/^[a-z-]+$/.test(name) ||
      JSON.stringify(manifest.exports[key]) !== JSON.stringify(target)
    ) {
      throw new Error(`exports["${key}"] in package.json is not ${JSON.stringify(target)}`);
    }
    return { specifier: manifest.name + key.slice(1), source: sourceOf(folder, `${name}.ts`) };
  });
}

/** The files in the folder of the entry points: each must be one. */
export function doorSources(): string[] {
  const folder = builtFolder(readManifest());
  return readdirSync(join(root, sourceOf(folder, "")), { withFileTypes: true })
    .filter(({ name }) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
    .map(({ name }) => sourceOf(folder, name));
}

function sourceOf(folder: string, name: string): string {
  return posix.join("src", posix.relative("dist", folder), name);
}
