/**
 * Deletes the type declarations that no entry point of the package reaches: three of four, which users
 * would install for nothing. Entry points are those of package.json. In the others, an import of an
 * optional peer is no error for users who do not have it.
 *
 *     node scripts/unused-types.mjs <directory with the compiled sources>
 */

import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { entryPoints } from "./entry-points.mjs";

const [, , compiled = "dist"] = process.argv;
const ENDING = ".d.ts";
const paths = readdirSync(compiled, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(ENDING))
  .map((path) => join(compiled, path));

const manifest = new URL("../package.json", import.meta.url);
const peers = Object.keys(JSON.parse(readFileSync(manifest, "utf8")).peerDependencies);
const ofPeers = new RegExp(`^import .* from "(?:${peers.join("|")})";$`, "gm");

const reached = new Set(entryPoints().map((name) => join(compiled, name + ENDING)));
for (const path of reached) {
  const text = readFileSync(path, "utf8");
  for (const [, module = ""] of text.matchAll(/\b(?:from |import\()"(\.[^"]+)\.[jt]s"/g)) {
    reached.add(join(dirname(path), module + ENDING)); // The loop comes to it, too.
  }
  const marked = text.replace(ofPeers, "// @ts-ignore: an optional peer.\n$&");
  if (marked !== text) writeFileSync(path, marked);
}
for (const path of paths) if (!reached.has(path)) rmSync(path);
