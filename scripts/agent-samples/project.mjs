/** Project: the working directory in which every agent has its conversations. */

import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PICTURE } from "./picture.mjs";

const FILES = {
  "README.md": "# Garden\n\nThree trees and a well.\n",
  "trees.txt": "linden\nbirch\nmaple\n",
  "well.js": "export const depth = 7;\n\nexport function isDeep() {\n  return depth > 5;\n}\n",
  "well.png": PICTURE,
};

/**
 * A repository on the branch `main`, with one commit.
 *
 * @param {string} folder
 */
export function writeProject(folder) {
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(folder, name), text);
  const user = ["-c", "user.name=dev", "-c", "user.email=dev@example.com"];
  for (const args of [
    ["init", "--quiet", "--initial-branch=main"],
    ["add", "."],
    [...user, "commit", "--quiet", "--message=garden: three trees"],
  ]) {
    execFileSync("git", args, { cwd: folder, env: { PATH: process.env.PATH, HOME: folder } });
  }
}
