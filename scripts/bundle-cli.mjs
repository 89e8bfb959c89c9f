/**
 * Makes few files of the command line's many modules: loading them one by one is a good part of what
 * a short command costs (docs/decisions/0007-bundled-cli.md). What every command loads is in one, with
 * what `ls` needs to print what it printed before; the rest is in chunks that are loaded when needed.
 *
 *     node scripts/bundle-cli.mjs <directory with the compiled sources>
 */

import { chmodSync, renameSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "rolldown";

const [, , compiled = "dist"] = process.argv;
const bundled = join(compiled, "cli.bundled");
const main = resolve(compiled, "cli", "main.js");
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
    add(main);
    add(resolve(compiled, "cli", "listing.js"));
    first.delete(main);
  },
};

await build({
  input: { main },
  platform: "node",
  // Native packages find their binaries beside themselves.
  external: ["fs-native-extensions", "@photostructure/sqlite"],
  plugins: [findFirst],
  checks: { ineffectiveDynamicImport: false },
  output: {
    dir: bundled,
    entryFileNames: "[name].js",
    chunkFileNames: "[name]-[hash].js",
    codeSplitting: { groups: [{ name: "first", test: (id) => first.has(id) }] },
  },
});
chmodSync(join(bundled, "main.js"), 0o755);
rmSync(join(compiled, "cli"), { recursive: true });
renameSync(bundled, join(compiled, "cli"));
