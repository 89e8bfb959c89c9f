/** A child that locks a file, reports it, and holds the lock until it is killed. */

import { basename, dirname } from "node:path";
import { createNodeFiles } from "../../src/core/base/node-files.ts";

const [path = "", kind = "exclusive"] = process.argv.slice(2);

hold().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});

async function hold(): Promise<void> {
  const directory = await createNodeFiles().openDirectory(dirname(path), { create: false });
  const file = directory.open(basename(path), "update");
  console.log(file.tryLock(kind === "shared" ? "shared" : "exclusive") ? "held" : "refused");
  setInterval(() => {}, 1_000_000);
}
