/**
 * `npm run test:deep`: all cases of which `npm test` tries some, with a new seed
 * (test/support/seed.ts). Runs only the test files that have such cases (seeded-tests.mjs). Takes a
 * night: before a release. What follows `--` is passed on to the tests; paths replace the list.
 */

import { randomInt } from "node:crypto";
import { join } from "node:path";
import { seededTests } from "./seeded-tests.mjs";
import { main, root, run } from "./setup.mjs";

await main(() => {
  process.env.VERBATIM_DEEP = "1";
  process.env.VERBATIM_SEED ??= String(randomInt(2 ** 31));
  process.stderr.write(`test:deep: VERBATIM_SEED=${process.env.VERBATIM_SEED}\n`);
  const args = process.argv.slice(2);
  const paths = args.every((arg) => arg.startsWith("-")) ? seededTests() : [];
  return run(process.execPath, [join(root, "scripts", "check.mjs"), ...args, ...paths]);
});
