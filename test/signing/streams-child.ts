/**
 * A process that signs streams until it is killed. Waits for "go", then appends to each of its streams
 * in turn and prints "ack <stream> <n>" when that is acknowledged.
 */

import { once } from "node:events";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { openLocalStore } from "../../src/streams/files/local-store.ts";
import { loadStreamSigner } from "../../src/streams/signing/signing-user.ts";

const [dataDirectory = "", round = "0"] = process.argv.slice(2);

async function run(): Promise<void> {
  await once(process.stdin, "data");
  const signing = await loadStreamSigner(nodeHost, (warning) => console.log(`warning ${warning}`));
  const store = await openLocalStore({
    dataDirectory,
    signing,
    writeBackBytes: 3000,
    signingCadence: { appendsMax: 2, idleMs: 5 },
  });
  const kinds = ["application/json", "text/plain"];
  for (const [n, contentType] of kinds.entries()) {
    await store.create(`/${n}`, { contentType, body: new Uint8Array(0), isClosed: false });
  }
  for (let n = 0; ; n++) {
    const body = Buffer.from(`"${round}.${n};"`);
    await Promise.all([0, 1].map((each) => store.append(`/${each}`, { body, close: false })));
    console.log(`ack ${n}`);
  }
}

run().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
