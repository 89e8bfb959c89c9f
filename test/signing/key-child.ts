/**
 * Key child: a process that creates or rotates keys, for tests that need more than one process or kill
 * one. Arguments: the home directory, and `first` or `rotate`. Waits for a line before it begins.
 */

import { join } from "node:path";
import { createInterface } from "node:readline";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { loadSigner, rotateKey } from "../../src/trust/keys/keys.ts";

const [, , home = "", task = ""] = process.argv;
const places = { keyDirectory: join(home, "keys"), trustPath: join(home, "trust.json") };

process.stdout.write("ready\n");
for await (const _ of createInterface({ input: process.stdin })) {
  if (task === "first") {
    process.stdout.write(`${(await loadSigner(nodeHost, places)).kid}\n`);
    break;
  }
  for (;;) process.stdout.write(`${(await rotateKey(nodeHost, places)).key.kid}\n`);
}
