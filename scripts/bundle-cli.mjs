/**
 * Bundles the command line's many modules into few files: loading them one by one is a large part of
 * the cost of a short command (docs/decisions/0007-bundled-cli.md). One file has what every command
 * loads, and what `ls` needs to print a cached listing; the rest is in chunks that are loaded when
 * needed. `main.js` and the code for an agent's hooks are bundled separately.
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

// Native packages find their binaries next to their own files.
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
// Separate: what a hook needs must not share a chunk with what it does not need.
await build({
  input: { main: resolve(compiled, "cli", "main.js") },
  platform: "node",
  plugins: [besides(["program.js", "hook-drain.js"])],
  output: { dir: bundled, entryFileNames: "[name].js", chunkFileNames: "[name].js" },
});
chmodSync(join(bundled, "main.js"), 0o755);
rmSync(join(compiled, "cli"), { recursive: true });
renameSync(bundled, join(compiled, "cli"));
