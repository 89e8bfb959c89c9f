/**
 * Program: a TypeScript program of this repository, bundled into one JavaScript file for Node. Loading
 * TypeScript module by module costs a child most of a second, and the tests start hundreds of them.
 *
 * Each is bundled once per run, by the first test that needs it, in the folder that run.ts creates and
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
  // A native package finds its binary next to its own files.
  external: ["@photostructure/sqlite", "esbuild", "vitest"],
  // CommonJS modules in the bundle load Node's own modules with `require`.
  banner: {
    js: 'import { createRequire as makeRequire } from "node:module"; const require = makeRequire(import.meta.url);',
  },
  logLevel: "error",
} as const satisfies BuildOptions;

let made = 0;

/** The path of the compiled program; compiles it if needed. `program`: from the root. */
export function compiledProgram(program: string): string {
  const path = inRun(`${program.replaceAll("/", "-")}.js`);
  if (!existsSync(path)) {
    const mine = inRun(`${process.pid}-${made++}.js`); // Another worker may be compiling the same one.
    buildSync({ ...OPTIONS, entryPoints: [program], outfile: mine });
    renameSync(mine, path);
  }
  return path;
}

/** A planted bug: a piece of text that a source file has once, and its replacement. */
export interface Mutation {
  readonly file: string;
  readonly line: string;
  readonly becomes: string;
}

/** The same for a program whose text is passed; it imports like a file in the root. */
export function compiledText(text: string, mutation?: Mutation): Promise<string> {
  return compiledWith(text, mutation ? [mutating(mutation)] : []);
}

/**
 * The same for a program that writes which of our sources it loaded to the file in LOADED_TO when it
 * ends, one path per line. Modules are loaded as from the sources: dynamic imports when they are reached.
 */
export function compiledCounting(program: string): Promise<string> {
  const text = `
    import { writeFileSync } from "node:fs";
    process.on("exit", () => writeFileSync(process.env.LOADED_TO, globalThis.loaded.join("\\n")));
    await import(${JSON.stringify(`./${program}`)});
  `;
  return compiledWith(text, [counting]);
}

async function compiledWith(text: string, plugins: Plugin[]): Promise<string> {
  const outfile = inRun(`${process.pid}-${made++}.js`);
  const stdin = { contents: text, resolveDir: root, loader: "ts" } as const;
  await build({ ...OPTIONS, outfile, stdin, plugins });
  return outfile;
}

/** The text of a file that has this line once. */
export function sourceWith(path: string, line: string): string {
  const text = readFileSync(path, "utf8");
  assert.equal(text.split(line).length, 2, `${path} has this line once: ${line}`);
  return text;
}

/** Begins each module with a statement that notes that it is loaded. */
const counting: Plugin = {
  name: "counting",
  setup({ onLoad }) {
    const sources = join(root, "src/");
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      if (!path.startsWith(sources)) return undefined;
      const note = `(globalThis.loaded ??= []).push(${JSON.stringify(path)});`;
      return { contents: note + readFileSync(path, "utf8"), loader: "ts" };
    });
  },
};

function mutating({ file, line, becomes }: Mutation): Plugin {
  const path = join(root, file);
  const contents = sourceWith(path, line).replace(line, () => becomes);
  return {
    name: "mutation",
    setup({ onLoad }) {
      // Only for this file: a callback for each file would take longer than compiling them.
      const filter = new RegExp(`^${path.replaceAll(/[^\w/-]/g, "\\$&")}$`);
      onLoad({ filter }, () => ({ contents, loader: "ts" }));
    },
  };
}

/**
 * Two levels below the copy of package.json that run.ts puts there, as the sources are below
 * theirs.
 */
function inRun(name: string): string {
  return join(inject("runDirectory"), "programs", "made", name);
}
