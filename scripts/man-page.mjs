/**
 * Writes the manual page of the command line, made from what its commands declare.
 *
 *     node scripts/man-page.mjs <directory with the compiled sources>
 *
 * Each file in `cli/commands` holds one command or group, called like the file. One that needs to
 * know all of them is a function that is given them.
 */

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [, , compiled = "dist"] = process.argv;
const cli = resolve(compiled, "cli");

/** @param {string} path */
const load = (path) => import(pathToFileURL(path).href);

const names = readdirSync(join(cli, "commands"))
  .filter((file) => file.endsWith(".js"))
  .map((file) => file.slice(0, -".js".length))
  .sort();
const commands = await Promise.all(
  names.map(async (name) => {
    const exported = Object.values(await load(join(cli, "commands", `${name}.js`)));
    const found = exported.find((each) => each?.name === name);
    if (found === undefined) throw new Error(`commands/${name}.js holds no command called ${name}`);
    return typeof found === "function" ? found(() => commands) : found;
  }),
);

const { manPage } = await load(join(cli, "man-page.js"));
const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
mkdirSync(join(compiled, "man"), { recursive: true });
writeFileSync(join(compiled, "man", "verbatim.1"), manPage(commands, { version }));
