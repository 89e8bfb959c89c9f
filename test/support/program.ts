/**
 * Program: a TypeScript program of this repository, made into one JavaScript file that Node starts
 * by itself. Loading TypeScript module by module costs a child most of a second, and the tests
 * start hundreds of them.
 *
 * Each is made once in a run, whichever test asks first, in the folder that run.ts makes and
 * removes. There it finds its packages as the sources do.
 */

import assert from "node:assert/strict";
import { existsSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type BuildOptions, build, buildSync, type Plugin } from "esbuild";
import { inject } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));

const OPTIONS = {
  absWorkingDir: root,
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node20",
  // Native packages find their binaries beside themselves.
  external: ["fs-native-extensions", "@photostructure/sqlite", "esbuild", "vitest"],
  // CommonJS inside asks for Node's own modules with `require`.
  banner: {
    js: 'import { createRequire as makeRequire } from "node:module"; const require = makeRequire(import.meta.url);',
  },
  logLevel: "error",
} as const satisfies BuildOptions;

let made = 0;

/** Where the compiled program is; compiles it if that was not done yet. `program`: from the root. */
export function compiledProgram(program: string): string {
  const path = inRun(`${program.replaceAll("/", "-")}.js`);
  if (!existsSync(path)) {
    const mine = inRun(`${process.pid}-${made++}.js`); // Another worker may be at the same one.
    buildSync({ ...OPTIONS, entryPoints: [program], outfile: mine });
    renameSync(mine, path);
  }
  return path;
}

/** A bug put in on purpose: a piece of text that a source file has once, and what it becomes. */
export interface Mutation {
  readonly file: string;
  readonly line: string;
  readonly becomes: string;
}

/** The same for a program that is given as text and imports as a file in the root would. */
export async function compiledText(text: string, mutation?: Mutation): Promise<string> {
  const outfile = inRun(`${process.pid}-${made++}.js`);
  const stdin = { contents: text, resolveDir: root, loader: "ts" } as const;
  const plugins = mutation ? [mutating(mutation)] : [];
  await build({ ...OPTIONS, outfile, stdin, plugins });
  return outfile;
}

function mutating({ file, line, becomes }: Mutation): Plugin {
  const path = join(root, file);
  const sound = readFileSync(path, "utf8");
  assert.equal(sound.split(line).length, 2, `${file} has this line once: ${line}`);
  const contents = sound.replace(line, () => becomes);
  return {
    name: "mutation",
    setup({ onLoad }) {
      // Only this file is asked about: a question for each would take longer than compiling them.
      const filter = new RegExp(`^${path.replaceAll(/[^\w/-]/g, "\\$&")}$`);
      onLoad({ filter }, () => ({ contents, loader: "ts" }));
    },
  };
}

/** Two levels below the copy of package.json that run.ts puts there, as the sources are below theirs. */
function inRun(name: string): string {
  return join(inject("runDirectory"), "programs", "made", name);
}
