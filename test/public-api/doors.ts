/** Doors: the public entry points as package.json names them. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));

export interface Door {
  /** What users import: `verbatim-log/log`. */
  readonly specifier: string;
  /** What it is made from, below the root: `src/log.ts`. */
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

/** The doors in the order of package.json. Throws on a key that is not a plain, typed door. */
export function declaredDoors(): Door[] {
  const manifest: Manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const keys = Object.keys(manifest.exports).filter((key) => key !== "./package.json");
  return keys.map((key) => {
    const name = key === "." ? "index" : key.replace(/^\.\//, "");
    const types = { require: `./dist/${name}.d.cts`, default: `./dist/${name}.d.ts` };
    const target = { types, default: `./dist/${name}.js` };
    if (
      !/^[a-z-]+$/.test(name) ||
      JSON.stringify(manifest.exports[key]) !== JSON.stringify(target)
    ) {
      throw new Error(`exports["${key}"] in package.json is not ${JSON.stringify(target)}`);
    }
    return { specifier: manifest.name + key.slice(1), source: `src/${name}.ts` };
  });
}

/** The files directly in `src`: each must be an entry point. */
export function doorSources(): string[] {
  return readdirSync(join(root, "src"), { withFileTypes: true })
    .filter(({ name }) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
    .map(({ name }) => `src/${name}`);
}
