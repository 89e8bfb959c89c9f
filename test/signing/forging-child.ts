/** A program that appends a line to a log, cuts it off and appends it again, until it is killed. */

import { appendFileSync, statSync, truncateSync } from "node:fs";

const [, , path = "", line = ""] = process.argv;
const { size } = statSync(path);
appendFileSync(path, line);
truncateSync(path, size);
process.stdout.write("at it\n", () => {
  for (;;) {
    appendFileSync(path, line);
    truncateSync(path, size);
  }
});
