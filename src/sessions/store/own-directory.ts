/**
 * Own directory: `<root>/.verbatim`, which holds our sessions in a project. It is created with a
 * `.gitignore` of `*`, so that transcripts are not committed by accident. An existing directory is
 * left unchanged: its owner may want it in Git.
 */

import { join } from "node:path";
import { ioError } from "../../core/base/errors.ts";
import type { Host } from "../../core/base/host.ts";

const NAME = ".verbatim";
const IGNORE_ALL = Buffer.from("*\n");

/** `logId`: path below the root of a log that will be created. */
export async function makeOwnDirectory({ files }: Host, root: string, logId: string) {
  if (!logId.startsWith(`${NAME}/`)) return;
  const path = join(root, NAME);
  try {
    await files.openDirectory(root, { create: true }).then((directory) => directory.close());
    if (!(await files.makeDirectory(path, { root }))) return;
    const directory = await files.openDirectory(path, { create: false, root });
    try {
      const file = directory.open(".gitignore", "append");
      file.write(IGNORE_ALL);
      file.close();
    } finally {
      directory.close();
    }
  } catch (cause) {
    throw ioError(path, "making", cause);
  }
}
