/**
 * `npm run bench -- <name> [args]`: sets up the clone and the benches' own package, then runs
 * `bench/<name>.ts`. Each TypeScript file directly in `bench/` is a bench; shared code is in folders
 * below it.
 */

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { install, main, root, run, setUp } from "./setup.mjs";

const folder = join(root, "bench");

await main(async () => {
  const [name, ...args] = process.argv.slice(2);
  const names = benchNames();
  if (name === undefined || !names.includes(name)) {
    const wrong = name === undefined ? "" : `there is no bench "${name}"\n`;
    process.stderr.write(`${wrong}usage: npm run bench -- <name>, one of: ${names.join(", ")}\n`);
    return 2;
  }

  await setUp();
  await install(folder);
  const loader = import.meta.resolve("tsx");
  return run(process.execPath, ["--import", loader, join(folder, `${name}.ts`), ...args]);
});

function benchNames() {
  return readdirSync(folder)
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".d.ts"))
    .map((file) => file.slice(0, -".ts".length))
    .sort();
}
