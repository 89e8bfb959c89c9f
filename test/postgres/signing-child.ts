/**
 * A server that signs streams of a database until it is killed. Waits for "go", then appends to each of
 * its streams in turn and prints "ack <n>" when that is acknowledged.
 */

import { once } from "node:events";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { openPostgresStore } from "../../src/streams/postgres/postgres-store.ts";
import { loadStreamSigner } from "../../src/streams/signing/signing-user.ts";

const [url = "", schema = "", round = "0", appendsMax = "1"] = process.argv.slice(2);

async function run(): Promise<void> {
  const signing = await loadStreamSigner(nodeHost, (warning) => console.log(`warning ${warning}`));
  const signingCadence = { appendsMax: Number(appendsMax), idleMs: 1e9, bytesMax: Infinity };
  const options = { schema, durability: "memory", signing, signingCadence } as const;
  const store = await openPostgresStore(url, options);
  await once(process.stdin, "data");
  for (let n = 0; ; n++) {
    const body = Buffer.from(`"${round}.${n};"`);
    await Promise.all(["/json", "/raw"].map((path) => store.append(path, { body, close: false })));
    console.log(`ack ${n}`);
  }
}

run().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
