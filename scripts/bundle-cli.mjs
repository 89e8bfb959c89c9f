/**
 * Makes one file and a few lazily loaded chunks of the command line's many modules: loading them
 * one by one is a good part of what a short command costs (docs/decisions/0007-bundled-cli.md).
 *
 *     node scripts/bundle-cli.mjs <directory with the compiled sources>
 */

import { renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

const [, , compiled = "dist"] = process.argv;
const bundled = join(compiled, "cli.bundled");

await build({
  entryPoints: [join(compiled, "cli", "main.js")],
  outdir: bundled,
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node20",
  // Native packages find their binaries beside themselves.
  external: ["fs-native-extensions", "@photostructure/sqlite"],
  // CommonJS inside (commander) asks for Node's own modules with `require`.
  banner: {
    js: 'import { createRequire as makeRequire } from "node:module"; const require = makeRequire(import.meta.url);',
  },
  logLevel: "warning",
});
rmSync(join(compiled, "cli"), { recursive: true });
renameSync(bundled, join(compiled, "cli"));
