/**
 * `npm run test:deep`: the tests with all of the cases of which `npm test` tries some, and a new
 * seed (test/support/seed.ts). Takes hours: for the night, and before a release. What follows `--` is
 * passed on to the tests.
 */

import { randomInt } from "node:crypto";
import { join } from "node:path";
import { main, root, run } from "./setup.mjs";

await main(() => {
  process.env.VERBATIM_DEEP = "1";
  process.env.VERBATIM_SEED ??= String(randomInt(2 ** 31));
  process.stderr.write(`test:deep: VERBATIM_SEED=${process.env.VERBATIM_SEED}\n`);
  return run(process.execPath, [join(root, "scripts", "check.mjs"), ...process.argv.slice(2)]);
});
