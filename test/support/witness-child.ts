/** A process of its own that answers one request as a witness: home, request file, answer file. */

import { readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { Witness } from "../../src/evidence/witness/witness.ts";

const [home = "", request = ""] = process.argv.slice(2);
const witness = await Witness.open({
  host: nodeHost,
  dataDirectory: join(home, "data"),
  listPath: join(home, "logs"),
  places: { keyDirectory: join(home, "keys"), trustPath: join(home, "trust.json") },
  nowMs: Date.now,
});
const { status } = await witness.add(readFileSync(request));
writeSync(1, `answered ${status}\n`);
