/**
 * Makes few files of the command line's many modules: loading them one by one is a good part of what
 * a short command costs (docs/decisions/0007-bundled-cli.md). What every command loads is in one, with
 * what `ls` needs to print what it printed before; the rest is in chunks that are loaded when needed.
 * `main.js` and what an agent's hooks need are bundled apart from the rest.
 *
 *     node scripts/bundle-cli.mjs <directory with the compiled sources>
 */

import { chmodSync, renameSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "rolldown";

const [, , compiled = "dist"] = process.argv;
const bundled = join(compiled, "cli.bundled");
const program = resolve(compiled, "cli", "program.js");
const hookDrain = resolve(compiled, "dialects", "claude", "door", "hook-drain.js");
/** @type {Set<string>} */
const first = new Set();

/**
 * Finds what is loaded at once with these modules.
 *
 * @type {import("rolldown").Plugin}
 */
const findFirst = {
  name: "find-first",
  buildEnd() {
    /** @param {string} id */
    const add = (id) => {
      if (first.has(id)) return;
      first.add(id);
      for (const imported of this.getModuleInfo(id)?.importedIds ?? []) add(imported);
    };
    add(program);
    add(resolve(compiled, "cli", "reading", "listing.js"));
    first.delete(program);
  },
};

/**
 * Leaves modules of these names out: they are bundled already, next to `main.js`.
 *
 * @param {string[]} names
 * @returns {import("rolldown").Plugin}
 */
function besides(names) {
  return {
    name: "bundled-already",
    resolveId(source) {
      const name = source.split("/").at(-1) ?? "";
      return names.includes(name) ? { id: `./${name}`, external: "relative" } : null;
    },
  };
}

// Native packages find their binaries beside themselves.
const natives = ["fs-native-extensions", "@photostructure/sqlite"];

await build({
  input: { program, "hook-drain": hookDrain },
  platform: "node",
  external: natives,
  plugins: [findFirst],
  checks: { ineffectiveDynamicImport: false },
  output: {
    dir: bundled,
    entryFileNames: "[name].js",
    chunkFileNames: "[name]-[hash].js",
    codeSplitting: { groups: [{ name: "first", test: (id) => first.has(id) }] },
  },
});
// By itself: what a hook needs must not be in a chunk with what it does not need.
await build({
  input: { main: resolve(compiled, "cli", "main.js") },
  platform: "node",
  plugins: [besides(["program.js", "hook-drain.js"])],
  output: { dir: bundled, entryFileNames: "[name].js", chunkFileNames: "[name].js" },
});
chmodSync(join(bundled, "main.js"), 0o755);
rmSync(join(compiled, "cli"), { recursive: true });
renameSync(bundled, join(compiled, "cli"));
