/**
 * The test files whose cases depend on the seed or on VERBATIM_DEEP: those that import fast-check, or
 * what test/support/seed.ts chooses cases with, themselves or through other files of `test`.
 */

import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "./setup.mjs";

const IMPORT = /^(?:import|export)\s+(?!type\b)([^;]*?)\s*from\s+"([^"]+)";/gm;
const SEED = join("test", "support", "seed.ts");
/** Not `times`: how often processes are killed is a setting of its own. */
const CHOOSES = /\b(?:seed|isDeep|isTried|runs)\b/;

/** Paths from the root, sorted. */
export function seededTests() {
  /** @type {Map<string, boolean>} */
  const answers = new Map();
  const isSeeded = (/** @type {string} */ path) => {
    const before = answers.get(path);
    if (before !== undefined) return before;
    answers.set(path, false); // Until it is known: two files may import each other.
    const imports = [...readFileSync(join(root, path), "utf8").matchAll(IMPORT)];
    const answer = imports.some(([, names = "", from = ""]) => {
      if (!from.startsWith(".")) return from === "fast-check";
      const imported = join(dirname(path), from);
      if (imported === SEED) return CHOOSES.test(names);
      return imported.startsWith("test") && imported.endsWith(".ts") && isSeeded(imported);
    });
    answers.set(path, answer);
    return answer;
  };
  return ["src", "test", "viewer"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".test.ts"))
      .map((name) => join(folder, name))
      .filter(isSeeded)
      .sort(),
  );
}
