/**
 * Records turns into one session, for the tests with several processes or a killed one.
 * Prints "open", and "ack <n>" for each acknowledged row.
 */

import { nodeHost } from "../../src/core/base/node-host.ts";
import type { Durability, LogMode } from "../../src/core/log/log-options.ts";
import { Store } from "../../src/sessions/store/store.ts";

/** The writer's instructions, as JSON in the first argument. */
export interface RecorderOrder {
  readonly root: string;
  readonly id: string;
  readonly name: string;
  readonly rows: number;
  readonly mode: LogMode;
  readonly durability: Durability;
  /** Rows in flight at once. */
  readonly atOnce: number;
}

const order = JSON.parse(process.argv[2] ?? "{}") as RecorderOrder;
const { root, id, name, rows, mode, durability, atOnce } = order;
const store = await Store.open(nodeHost, { dialect: "entire", root, model: "m", mode, durability });
const session = store.session(id);
console.log("open");
let next = 0;
const recordOneByOne = async () => {
  while (next < rows) {
    const n = next++;
    const content = `${name} says ${n} ${"x".repeat((n * 37) % 900)}`;
    const type = n % 2 === 0 ? "user" : "assistant";
    await session.appendNative({ type, message: { content }, n, name });
    console.log(`ack ${n}`);
  }
};
await Promise.all(Array.from({ length: atOnce }, recordOneByOne));
await store.close();
