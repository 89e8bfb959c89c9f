/**
 * Deletes the files that no entry point of the package reaches, which users would install for nothing:
 * three of four type declarations, and the modules that only the command line uses, which are in its
 * bundle. Entry points are those of package.json. Compiled code loses its comments, except licenses:
 * declarations have what users read. In these, an import of an optional peer is no error for users who
 * do not have it.
 *
 *     node scripts/unused-files.mjs <directory with the compiled sources>
 */

import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { transformSync } from "esbuild";
import { entryPoints } from "./entry-points.mjs";

const [, , compiled = "dist"] = process.argv;
const paths = readdirSync(compiled, { recursive: true, encoding: "utf8" });

const manifest = new URL("../package.json", import.meta.url);
const peers = Object.keys(JSON.parse(readFileSync(manifest, "utf8")).peerDependencies);
const ofPeers = new RegExp(`^import .* from "(?:${peers.join("|")})(?:/[^"]*)?";$`, "gm");

for (const path of filesReached(".d.ts", [])) {
  const text = readFileSync(path, "utf8");
  const marked = text.replace(ofPeers, "// @ts-ignore: an optional peer.\n$&");
  if (marked !== text) writeFileSync(path, marked);
}
// Bundled, or read as a file by what is.
for (const path of filesReached(".js", [/^cli\//, /^proof-page\.js$/])) {
  if (path.startsWith(join(compiled, "cli"))) continue;
  const code = readFileSync(path, "utf8");
  writeFileSync(path, transformSync(code, { target: "esnext", legalComments: "inline" }).code);
}

/**
 * Deletes the files of an ending that are not reached, but for some; returns those that are.
 *
 * @param {string} ending
 * @param {RegExp[]} kept
 */
function filesReached(ending, kept) {
  const reached = new Set(entryPoints().map((name) => join(compiled, name + ending)));
  for (const path of reached) {
    const text = readFileSync(path, "utf8");
    for (const [, module = ""] of text.matchAll(
      /(?:\bfrom ?|import ?\(?|URL\()"(\.[^"]+)\.[jt]s"/g,
    )) {
      const file = join(dirname(path), module + ending);
      if (existsSync(file)) reached.add(file); // The loop comes to it, too.
    }
  }
  for (const path of paths) {
    const file = join(compiled, path);
    const isKept = !path.endsWith(ending) || kept.some((pattern) => pattern.test(path));
    if (!isKept && !reached.has(file)) rmSync(file);
  }
  return reached;
}
