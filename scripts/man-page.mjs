/**
 * Writes the manual page of the command line, made from what its commands declare.
 *
 *     node scripts/man-page.mjs <directory with the compiled sources>
 */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [, , compiled = "dist"] = process.argv;
const cli = resolve(compiled, "cli");

/** @param {string} path */
const load = (path) => import(pathToFileURL(path).href);

const { COMMANDS } = await load(join(cli, "commands.js"));
const { manPage } = await load(join(cli, "shell/man-page.js"));
const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
mkdirSync(join(compiled, "man"), { recursive: true });
writeFileSync(join(compiled, "man", "verbatim.1"), manPage(COMMANDS, { version }));
