/**
 * Bundles the command line's many modules into few files: loading them one by one is a large part of
 * the cost of a short command (docs/decisions/0007-bundled-cli.md). One file has what every command
 * loads, and what `ls` needs to print a cached listing; one what reads a session; one what `search`
 * needs besides. The rest is in chunks that are loaded when needed. `entry.js` and the code for an
 * agent's hooks are bundled separately. All are scripts without comments and spaces, which `main.js`
 * loads with the code that V8 compiled earlier (src/cli/loader.ts).
 *
 * The packages that only the command line uses are in these files, so that users do not install them;
 * Zod is in the one library module that uses it (docs/decisions/0022-install-size.md).
 *
 *     node scripts/bundle-cli.mjs <directory with the compiled sources>
 */

import { chmodSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "rolldown";
import { collectPackages, licensesPage } from "./bundled-licenses.mjs";

const [, , compiled = "dist"] = process.argv;
const bundled = join(compiled, "cli.bundled");
const program = resolve(compiled, "cli", "program.js");
const scanWorker = resolve(compiled, "usage", "scan", "scan-worker.js");
const callWorker = resolve(compiled, "integrations", "proxy", "call-worker.js");
const hookDrain = resolve(compiled, "integrations", "hooks", "hook-drain.js");

/** Loaded by name; together, since a listing on most machines needs several. */
const dialects = readdirSync(join(compiled, "dialects"), { recursive: true, encoding: "utf8" })
  .filter((path) => /^[^/]+\/dialect\.js$/.test(path) || path === "files/guarded-dialect.js")
  .map((path) => `dialects/${path}`)
  .sort();

/**
 * The files that short commands load, and the modules that each begins from. A file has what is
 * loaded at once with its modules, except what an earlier file has.
 */
const FILES = {
  first: ["cli/program.js", "cli/record/waiting-hooks.js", "cli/look/ls.js", ...dialects],
  sessions: ["sessions/store/store.js"],
  search: ["cli/look/search.js"],
};

/**
 * The file of each module that is in one of `FILES`.
 *
 * @type {Map<string, string>}
 */
const fileOf = new Map();

/** @type {import("rolldown").Plugin} */
const assignFiles = {
  name: "assign-files",
  buildEnd() {
    /**
     * @param {string} file
     * @param {string} id
     */
    const add = (file, id) => {
      if (fileOf.has(id)) return;
      fileOf.set(id, file);
      for (const imported of this.getModuleInfo(id)?.importedIds ?? []) add(file, imported);
    };
    for (const [file, modules] of Object.entries(FILES)) {
      for (const module of modules) add(file, resolve(compiled, module));
    }
    fileOf.delete(program);
  },
};

/**
 * Leaves modules of these names out: they are bundled already, next to `entry.js`.
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

/** Scripts without comments and spaces, with all names: loading takes less, and stacks can be read. */
const OUTPUT = /** @type {const} */ ({
  dir: bundled,
  format: "cjs",
  dynamicImportInCjs: false, // All by main.js.
  entryFileNames: "[name].js",
  minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
});

await build({
  input: { program, "hook-drain": hookDrain, "call-worker": callWorker },
  platform: "node",
  plugins: [assignFiles, collectPackages],
  checks: { ineffectiveDynamicImport: false },
  output: {
    ...OUTPUT,
    chunkFileNames: "[name]-[hash].js",
    codeSplitting: {
      groups: Object.keys(FILES).map((name) => ({ name, test: (id) => fileOf.get(id) === name })),
    },
  },
});
// Separate: a thread loads it alone.
await build({
  input: { "scan-worker": scanWorker },
  platform: "node",
  plugins: [collectPackages],
  output: OUTPUT,
});
// Separate: what a hook needs must not share a chunk with what it does not need.
await build({
  input: { entry: resolve(compiled, "cli", "main.js") },
  platform: "node",
  plugins: [besides(["program.js", "hook-drain.js", "statusline.js"])],
  output: {
    ...OUTPUT,
    chunkFileNames: "[name].js",
    // Errors have no file of their own, which every command would load.
    codeSplitting: { groups: [{ name: "hook-spool", test: /\/(?:hook-spool|errors)\.js$/ }] },
  },
});
// Separate: one file. What only other commands use of it is left out.
await build({
  input: { statusline: resolve(compiled, "cli", "look", "statusline.js") },
  platform: "node",
  external: [/price-table\.js$/, /base\/lock\.js$/],
  output: OUTPUT,
});
await build({
  input: { main: resolve(compiled, "cli", "loader.js") },
  platform: "node",
  output: OUTPUT,
});
// Modules of the library that have the code of the package that they use in them.
for (const path of ["dialects/homeagent/schema.js", "evidence/scan/secretlint.js"]) {
  const file = resolve(compiled, path);
  await build({
    input: file,
    platform: "node",
    external: /entry-check\.js$/,
    plugins: [collectPackages],
    output: {
      file,
      format: "esm",
      codeSplitting: false,
      minify: { compress: true, mangle: true, codegen: { removeWhitespace: true } },
    },
  });
}
writeFileSync(join(compiled, "licenses.md"), licensesPage());
writeFileSync(join(bundled, "package.json"), JSON.stringify({ type: "commonjs" }));
chmodSync(join(bundled, "main.js"), 0o755);
rmSync(join(compiled, "cli"), { recursive: true });
renameSync(bundled, join(compiled, "cli"));
