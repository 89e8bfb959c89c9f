/** Appends batches to a session that others write too, and prints those that were acknowledged. */

import { claudeSessionStore } from "../../src/doors/claude-agent.ts";

const [, , root = "", from = "0", to = "0"] = process.argv;
const store = claudeSessionStore({ root, sign: "append" });
const key = { projectKey: "app", sessionId: "shared" };
process.stdin.once("data", async () => {
  for (let n = Number(from); n < Number(to); n += 2) {
    // Each entry is in two batches, and in those of the others, like retries.
    const batch = [n, n + 1, n + 2].map((each) => ({ type: "user", uuid: `uuid-${each}`, each }));
    await store.append(key, batch);
    console.log(`${n + 2}`);
  }
  await store.close();
  process.exit(0);
});
console.log("ready");
