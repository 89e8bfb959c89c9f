/** The licenses of the packages whose code the build copies into `dist`. Each asks to be copied along. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The folders of packages that a build has read so far. */
const folders = new Set();

/** @type {import("rolldown").Plugin} */
export const collectPackages = {
  name: "collect-packages",
  buildEnd() {
    for (const id of this.getModuleIds()) {
      const [folder] = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id) ?? [];
      if (folder !== undefined) folders.add(folder);
    }
  },
};

/** A page with the license of each collected package, in the form of the viewer's `licenses.md`. */
export function licensesPage() {
  const parts = ["# Licenses\n\nThe built files contain code of these packages.\n"];
  for (const folder of [...folders].sort()) {
    const { name, version, license } = JSON.parse(
      readFileSync(join(folder, "package.json"), "utf8"),
    );
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    const text = file === undefined ? "" : `\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
    parts.push(`## ${name} - ${version} (${license})\n${text}`);
  }
  return parts.join("\n");
}
