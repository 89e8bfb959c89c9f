/**
 * `node scripts/release/notes.mjs TAG`: prints the section of CHANGELOG.md about this version, as
 * GitHub's release page shows it. While something is missing for a release, it prints all of that on
 * stderr instead, with what to do, and exits 1. CONTRIBUTING.md has the steps of a release.
 */

import { readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** @typedef {{ version: string, repository?: { url?: string } }} Manifest */

/** What pages of the package say before the first release. */
const UNRELEASED = [
  ["README.md", "No version has been released yet"],
  ["docs/index.md", "The package is not published yet"],
  ["docs/compatibility.md", "it has not run yet"],
];

/**
 * What is missing for a release, a sentence each.
 *
 * @param {Manifest} manifest
 * @param {string} changelog
 * @param {{ tag?: string | undefined, repository?: string | undefined }} place The tag, and where the workflow runs (`owner/name`).
 * @param {(path: string) => string} textOf The text of a page.
 */
export function missingFor({ version, repository }, changelog, place, textOf) {
  const missing = [];
  const named = ownerAndName(repository?.url);
  if (named === undefined) {
    missing.push(
      'package.json has no "repository", and npm refuses provenance without it. Set it to ' +
        '{ "type": "git", "url": "git+https://github.com/OWNER/NAME.git" }.',
    );
  } else if (place.repository !== undefined && place.repository !== named) {
    missing.push(`package.json names the repository ${named}; this is ${place.repository}.`);
  }
  if (place.tag !== `v${version}`) {
    missing.push(`The tag is ${place.tag ?? "missing"}; for this package.json it is v${version}.`);
  }
  const [heading] = sectionOf(changelog, version);
  if (!/ \(\d{4}-\d{2}-\d{2}\)$/.test(heading ?? "")) {
    missing.push(`CHANGELOG.md has no heading "## ${version} (YYYY-MM-DD)" with today's date.`);
  }
  for (const [path = "", words = ""] of UNRELEASED) {
    const isSaid = textOf(path).replace(/\s+/g, " ").includes(words);
    if (isSaid) missing.push(`${path} says "${words}", and the package has this page.`);
  }
  return missing;
}

/**
 * The section about a version, without its heading. Links lead to the files of this version, and a
 * paragraph is one line: GitHub shows line breaks of release notes.
 *
 * @param {Manifest} manifest
 * @param {string} changelog
 */
export function notesOf({ version, repository }, changelog) {
  const files = `https://github.com/${ownerAndName(repository?.url)}/blob/v${version}/`;
  return sectionOf(changelog, version)
    .slice(1)
    .join("\n")
    .trim()
    .replace(/(?<=[^\n])\n *(?=[^\s#*|-])/g, " ")
    .replace(/\]\((?!https?:)/g, `](${files}`);
}

/**
 * @param {string} changelog
 * @param {string} version
 */
function sectionOf(changelog, version) {
  const lines = changelog.split("\n");
  const from = lines.findIndex((line) => line.startsWith(`## ${version} `));
  if (from === -1) return [];
  const to = lines.findIndex((line, at) => at > from && line.startsWith("## "));
  return lines.slice(from, to === -1 ? undefined : to);
}

/** @param {string | undefined} url */
function ownerAndName(url = "") {
  return /^git\+https:\/\/github\.com\/([\w.-]+\/[\w.-]+)\.git$/.exec(url)?.[1];
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const textOf = (/** @type {string} */ path) => readFileSync(join(root, path), "utf8");
  const manifest = JSON.parse(textOf("package.json"));
  const changelog = textOf("CHANGELOG.md");
  const place = { tag: process.argv[2], repository: process.env.GITHUB_REPOSITORY };
  const missing = missingFor(manifest, changelog, place, textOf);
  for (const each of missing) process.stderr.write(`release: ${each}\n`);
  if (missing.length === 0) process.stdout.write(`${notesOf(manifest, changelog)}\n`);
  else process.exitCode = 1;
}
