/** A child that locks a file and starts a process of its own, whose pid it prints. */

import { spawn } from "node:child_process";
import { basename, dirname } from "node:path";
import { createNodeFiles } from "../../src/core/base/node-files.ts";

const [path = ""] = process.argv.slice(2);

hold().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});

async function hold(): Promise<void> {
  const directory = await createNodeFiles().openDirectory(dirname(path), { create: false });
  const file = directory.open(basename(path), "update");
  if (!file.tryLock("exclusive")) throw new Error("refused");
  const child = spawn("sleep", ["1000000"], { stdio: "ignore", detached: true });
  child.once("spawn", () => console.log(child.pid));
  setInterval(() => {}, 1_000_000);
}
