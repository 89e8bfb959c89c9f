/**
 * Compile: the compiler's messages about a project.
 *
 * Covers the project's own files and everything installed into its folder, ours and our dependencies,
 * declarations included. Not what is linked in, such as Node's own types, nor the language's: what is
 * wrong there says nothing about us.
 */

import { spawnSync } from "node:child_process";
import { realpathSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { root } from "./doors.ts";

const tsc = join(root, "node_modules/typescript-native/bin/tsc");

/** `folder`: where the packages were installed; `project`: below it, with a tsconfig.json. */
export function compile(project: string, folder: string): string {
  const args = [tsc, "--pretty", "false", "--project", project];
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: project, encoding: "utf8" });
  const installed = realpathSync(folder);
  // Lines that do not name a file belong to the message before, or are about the project.
  let isOurs = true;
  const ours = stdout.split("\n").filter((line) => {
    const [, path] = /^(\S.*)\(\d+,\d+\): /.exec(line) ?? [];
    if (path !== undefined) isOurs = !relative(installed, resolve(project, path)).startsWith("..");
    else if (/^error /.test(line)) isOurs = true;
    return isOurs;
  });
  return stderr + ours.join("\n");
}
