/**
 * A live writer, for tests that examine its session meanwhile: appends events with tool calls and
 * lines of all lengths until stdin tells it to end, prints "at work" once it has begun, and closes
 * normally.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { nodeHost } from "../../src/core/base/node-host.ts";
import type { Durability, LogMode } from "../../src/core/log/log-options.ts";
import { Store } from "../../src/sessions/store/store.ts";

const [, , root = "", id = "", mode = "exclusive", durability = "disk"] = process.argv;
const store = await Store.open(nodeHost, {
  dialect: "rye",
  root,
  agent: "live",
  mode: mode as LogMode,
  durability: durability as Durability,
});
let isOver = false;
process.stdin.once("data", () => {
  isOver = true;
});
const session = store.session(id);
await session.appendNative({ type: "thread_start", model: "m" });
console.log("at work");
for (let n = 0; !isOver; n++) {
  // Some span many pages: such a write can be seen half done.
  const output = "é".repeat(n % 16 === 0 ? 131_072 : n % 1000);
  await session.appendNative({ type: "tool_call_start", tool: "t", call_id: `c${n}`, input: {} });
  await session.appendNative({ type: "tool_call_result", call_id: `c${n}`, output });
  // Pacing, which decides nothing: stdin is read, and the log stays short enough to be read often.
  await sleep(n % 4);
}
await session.appendNative({ type: "thread_complete", cost: { turns: 1 } });
await store.close();
console.log("done");
process.exit(0);
