/** Checkpoints of Entire: the one of test/samples, and a public one, if it is next to the project. */

import { fileURLToPath } from "node:url";
import { sharedFiles } from "./shared-files.ts";

const own = fileURLToPath(new URL("../samples/entire/by-hand/3f/8e1b526c07/0", import.meta.url));
const shared = sharedFiles("samples/entire/30/e81e82f6ba/0");

/** For `test.each`: a name, and the directory with `full.jsonl`. */
export const ENTIRE_CHECKPOINTS: readonly (readonly [
  name: "our checkpoint" | "a public checkpoint",
  path: string,
])[] = [
  ["our checkpoint", own],
  ...(shared.isThere ? [["a public checkpoint", shared.path] as const] : []),
];
