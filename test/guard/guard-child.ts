/**
 * A guard of one directory that looks without pause, and prints a line after each time, until it is
 * killed.
 */

import { setImmediate } from "node:timers/promises";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { RootGuard } from "../../src/guard/root-guard.ts";

const [root = "", directory = ""] = process.argv.slice(2);
const guard = await RootGuard.open({
  host: nodeHost,
  dialect: "claude-code",
  root,
  directory,
  signing: null,
  nowMs: Date.now,
  onEvent: () => {},
  onWarning: (warning) => process.stderr.write(`${warning}\n`),
});
process.stdout.write("guarding\n");
for (;;) {
  await guard.scan();
  process.stdout.write("scanned\n");
  await setImmediate();
}
