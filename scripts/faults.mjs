/**
 * `npm run faults [-- --seed N --times N NAME…]`: the faults of `npm test` at length, on PostgreSQL.
 * Each is a test file that repeats itself as often as VERBATIM_TIMES says. Prints progress, then a
 * line for each; exits with 1 if one failed. All need about half an hour.
 */

import { randomInt } from "node:crypto";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { main, root, run, setUp } from "./setup.mjs";

/** Test files, and how often they repeat what they do. */
const FAULTS = {
  "broken-connections": 120, // Every byte of one exchange.
  "several-servers": 20, // 200 races of sixteen servers.
  restarted: 10,
  "killed-servers": 10,
  "full-disk": 5,
  leases: 2, // A lease ends by itself.
  linearizable: 50,
};
const VITEST = join(root, "node_modules", "vitest", "vitest.mjs");

await main(async () => {
  const { values, positionals } = parseArgs({
    options: { seed: { type: "string" }, times: { type: "string" } },
    allowPositionals: true,
  });
  const wrong = positionals.find((name) => !(name in FAULTS));
  if (wrong !== undefined) {
    process.stderr.write(`there is no "${wrong}"; one of: ${Object.keys(FAULTS).join(", ")}\n`);
    return 2;
  }
  await setUp();
  const seed = values.seed ?? String(randomInt(1_000_000));
  const summary = [];
  for (const [name, often] of Object.entries(FAULTS)) {
    if (positionals.length > 0 && !positionals.includes(name)) continue;
    const times = values.times ?? String(often);
    process.stderr.write(`faults: ${name}, ${times} times, seed ${seed}\n`);
    const started = performance.now();
    const env = { VERBATIM_TIMES: times, VERBATIM_SEED: seed, VERBATIM_REQUIRE_POSTGRES: "1" };
    Object.assign(process.env, env);
    const file = `test/postgres/${name}.test.ts`;
    const code = await run(process.execPath, [VITEST, "run", "--testTimeout=1200000", file]);
    const seconds = ((performance.now() - started) / 1000).toFixed(0);
    summary.push({ name, isOk: code === 0, line: `${name}: ${seconds} s, ${times} times` });
  }
  for (const { isOk, line } of summary)
    process.stdout.write(`${isOk ? "ok    " : "FAILED"} ${line}\n`);
  process.stdout.write(`seed ${seed}: --seed ${seed} repeats it\n`);
  return summary.every(({ isOk }) => isOk) ? 0 : 1;
});
