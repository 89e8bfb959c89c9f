/**
 * Rye threads as the original writes them: those of test/samples, which its documents' Python
 * wrote, and the public ones next to the project, if they are there.
 */

import { fileURLToPath } from "node:url";
import { sharedFiles } from "./shared-files.ts";

/** Of `test.each`: which threads, and the directory that is `.ai/threads` in a project. */
type Threads = readonly [name: "own" | "public", path: string];

const own = fileURLToPath(new URL("../samples/rye/by-python/.ai/threads", import.meta.url));
const shared = sharedFiles("samples/rye");

export const RYE_THREADS: readonly Threads[] = [
  ["own", own],
  ...(shared.isThere ? [["public", shared.path] as const] : []),
];

/** The key that signed our own. */
export const OWN_KEY_PEM = fileURLToPath(new URL("../samples/rye/public_key.pem", import.meta.url));
