/**
 * `npm start`: sets the clone up, then runs the server, which says where it listens and what to try.
 * What follows `--` is passed on to `verbatim serve`: `npm start -- --port 0`.
 */

import { join } from "node:path";
import { main, root, run, setUp } from "./setup.mjs";

await main(async () => {
  await setUp();
  const verbatim = join(root, "dist", "cli", "main.js");
  return run(process.execPath, [verbatim, "serve", ...process.argv.slice(2)]);
});
