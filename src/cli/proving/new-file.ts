/** New file: writes a short result to a new file, mode 0600 from the first byte. */

import { basename, dirname, resolve } from "node:path";
import { errnoOf, ioError } from "../../base/errors.ts";
import type { Directory } from "../../base/files.ts";
import { nodeHost } from "../../base/node-host.ts";
import { UsageError } from "../../command/command.ts";
import { writeAll } from "../../dialects/files/aside.ts";

/** Creates the file, durably; refuses an existing path. */
export async function writeNewFile(path: string, text: string | Uint8Array): Promise<void> {
  const full = resolve(path);
  try {
    const directory = await nodeHost.files.openDirectory(dirname(full), { create: false });
    try {
      await writeIn(directory, basename(full), typeof text === "string" ? Buffer.from(text) : text);
    } finally {
      directory.close();
    }
  } catch (cause) {
    if (errnoOf(cause) !== "EEXIST") throw ioError(full, "writing", cause);
    throw new UsageError(`${path} exists already; choose another name`);
  }
}

async function writeIn(directory: Directory, name: string, bytes: Uint8Array): Promise<void> {
  const file = directory.open(name, "new");
  try {
    writeAll(file, bytes);
    await file.sync();
  } catch (cause) {
    directory.remove(name);
    throw cause;
  } finally {
    file.close();
  }
  await directory.sync();
}
