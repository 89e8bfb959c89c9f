/**
 * Bundles the script of the page that `verbatim redact prove -o NAME.html` writes into `proof-page.js`: one
 * file, because the page loads nothing.
 *
 *     node scripts/bundle-proof-page.mjs <directory with the compiled sources>
 */

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";

const [, , compiled = "dist"] = process.argv;

await build({
  input: fileURLToPath(new URL("../viewer/src/proof-page/main.ts", import.meta.url)),
  platform: "browser",
  output: { file: join(compiled, "proof-page.js"), format: "iife", minify: true },
});
