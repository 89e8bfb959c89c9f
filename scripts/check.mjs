/**
 * `npm run check`, and `npm test` with it: format, lint, types, and every test, at the same time. The
 * tests begin when `dist` is built and, for root, the Debian packages that they use (a browser) are
 * installed, at the same time as the dependencies. What follows `--` is passed on to
 * the tests: `npm test -- src/core/log`.
 *
 * K1  Each check runs to its end: one that fails does not hide what another reports. The output of
 *     format, lint and types follows the tests' output, and the exit code is not 0 if any failed.
 */

import { join } from "node:path";
import { build, install, main, root, run } from "./setup.mjs";

/** Format and lint in one run, which reads each file once. */
const STYLE = ["check", "--error-on-warnings", "."];
const PACKAGES = join(root, "scripts", "test-packages.sh");
const VITEST = join(root, "node_modules", "vitest", "vitest.mjs");

await main(async () => {
  const packages = process.getuid?.() === 0 ? run(PACKAGES, []) : null;
  await install();
  const checks = Promise.all([
    check("format and lint", join(root, "node_modules", ".bin", "biome"), STYLE),
    check("types", "npm", ["run", "--silent", "typecheck"]),
  ]);
  try {
    await Promise.all([packages, build()]);
    const tests = await run(process.execPath, [VITEST, "run", ...process.argv.slice(2)]);
    return tests || ((await checks).some((failed) => failed !== null) ? 1 : 0);
  } finally {
    for (const failed of await checks) process.stderr.write(failed ?? "");
  }
});

/**
 * Runs a check while other programs print, and resolves to what it has to report: null if it
 * passed.
 *
 * @param {string} what
 * @param {string} command
 * @param {string[]} args
 * @returns {Promise<string | null>}
 */
async function check(what, command, args) {
  let output = "";
  const onOutput = (/** @type {string} */ text) => {
    output += text;
  };
  const code = await run(command, args, { onOutput });
  return code === 0 ? null : `${output}\ncheck: ${what} failed (exit code ${code})\n`;
}
