/**
 * The licenses of the packages whose code the build copies into `dist`. Each asks to be copied along.
 * So do packages whose code is inside of others: bundlers name them in `#region` comments, and authors
 * in comments with their copyright.
 */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * The folders of packages that a build has read so far, and the copyright comments in their code.
 *
 * @type {Map<string, Set<string>>}
 */
const folders = new Map();

/** @type {import("rolldown").Plugin} */
export const collectPackages = {
  name: "collect-packages",
  buildEnd() {
    for (const id of this.getModuleIds()) {
      const [folder, modules] = /^(.*\/node_modules\/)(?:@[^/]+\/)?[^/]+/.exec(id) ?? [];
      if (folder === undefined || modules === undefined || !existsSync(id)) continue;
      const code = readFileSync(id, "utf8");
      const notices = folders.get(folder) ?? new Set();
      folders.set(folder, notices);
      for (const [comment] of code.matchAll(/\/\*(?:(?!\*\/)[\s\S])*Copyright[\s\S]*?\*\//g)) {
        notices.add(comment.replace(/^\/\*[\s*!]*|\s*\*\/$|^[ \t]*\*[ \t]?/gm, "").trim());
      }
      for (const [, name = ""] of code.matchAll(
        /#region .*\/node_modules\/((?:@[^/]+\/)?[^/]+)/g,
      )) {
        const inner = join(modules, name);
        if (!folders.has(inner)) folders.set(inner, new Set());
      }
    }
  },
};

/** A page with the license of each collected package, in the form of the viewer's `licenses.md`. */
export function licensesPage() {
  const parts = ["# Licenses\n\nThe built files contain code of these packages.\n"];
  for (const [folder, notices] of [...folders].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const { name, version, license } = JSON.parse(
      readFileSync(join(folder, "package.json"), "utf8"),
    );
    const texts = [licenseIn(folder), ...notices].map((text) => `\n${text}\n`);
    parts.push(`## ${name} - ${version} (${license})\n${texts.join("")}`);
  }
  return parts.join("\n");
}

/**
 * The text of a package's license; some have it in their README.
 *
 * @param {string} folder
 */
function licenseIn(folder) {
  const names = readdirSync(folder);
  const file = names.find((name) => /^licen[cs]e/i.test(name));
  if (file !== undefined) return readFileSync(join(folder, file), "utf8").trim();
  const readme = names.find((name) => /^readme/i.test(name));
  const text = readme === undefined ? "" : readFileSync(join(folder, readme), "utf8");
  const [, section] = /^#+ *licen[cs]e.*\n([\s\S]*)/im.exec(text) ?? [];
  if (section === undefined) throw new Error(`${folder} has no license to copy`);
  return section.trim();
}
