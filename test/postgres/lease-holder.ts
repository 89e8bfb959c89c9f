/** Holds the lease of the subscriptions and writes a record again and again; prints each outcome. */

import { setImmediate } from "node:timers/promises";
import { openPostgresStore } from "../../src/streams/postgres/postgres-store.ts";

const [url = "", schema = ""] = process.argv.slice(2);
const store = await openPostgresStore(url, { schema, durability: "memory" });
await store.holds("subscriptions");
for (let n = 0; ; n++) {
  const outcome = await store
    .putRecord("subscription/a/phase", String(n))
    .then(() => `written ${n}`)
    .catch((error: { code: string }) => error.code);
  process.stdout.write(`${outcome}\n`);
  await setImmediate();
}
