/**
 * `npm start`: sets the clone up, then shows what the project is for. Until there is a server, that
 * is the demo that kills a writer in the middle of an append and counts what survived.
 */

import { join } from "node:path";
import { main, root, run, setUp } from "./setup.mjs";

await main(async () => {
  await setUp();
  const demo = join(root, "examples", "kill-and-recover.mjs");
  return run(process.execPath, [demo, ...process.argv.slice(2)]);
});
