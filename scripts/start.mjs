/**
 * `npm start`: sets up the clone, then runs the server, which prints its URL and what to try.
 * Arguments after `--` are passed on to `verbatim serve`: `npm start -- --port 0`.
 */

import { join } from "node:path";
import { main, root, run, setUp } from "./setup.mjs";

await main(async () => {
  await setUp();
  const verbatim = join(root, "dist", "cli", "main.js");
  return run(process.execPath, [verbatim, "serve", ...process.argv.slice(2)]);
});
