/** A guard on a system whose file watches have run out: `HOME STORE ERRNO`. */

import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const [home = "", directory = "", errno = ""] = process.argv.slice(2);
process.env.HOME = home;
fs.watch = (() => {
  throw Object.assign(new Error(errno), { code: errno });
}) as unknown as typeof fs.watch;
syncBuiltinESMExports();
const { nodeHost } = await import("../../src/core/base/node-host.ts");
const { Guard } = await import("../../src/guard/guard.ts");
const guard = new Guard({
  host: nodeHost,
  directory,
  agent: "claude-code",
  pollMs: 50,
  scanMs: 1e8,
  onWarning: (warning) => process.stdout.write(`${warning}\n`),
});
await guard.follow(new AbortController().signal);
