/**
 * `npm run check`, and `npm test` with it: format, lint, types, a build when `dist` is stale and,
 * where that is allowed, Debian packages that tests use (a browser), all at once; then every test.
 * What follows `--` is passed on to the tests: `npm test -- src/log`.
 *
 * K1  Everything before the tests is checked to its end: what fails does not hide what another has
 *     to say. The tests run only when all of it was well.
 */

import { join } from "node:path";
import { build, install, main, root, run } from "./setup.mjs";

/** Format and lint in one run, which reads each file once. */
const STYLE = ["check", "--error-on-warnings", "."];

await main(async () => {
  await install();
  const codes = await Promise.all([
    run(join(root, "scripts", "test-packages.sh"), []), // Says itself what it cannot install.
    run(join(root, "node_modules", ".bin", "biome"), STYLE),
    run("npm", ["run", "--silent", "typecheck"]),
    build().then(() => 0),
  ]);
  const failed = codes.find((code) => code !== 0);
  if (failed !== undefined) return failed;
  const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
  return run(process.execPath, [vitest, "run", ...process.argv.slice(2)]);
});
