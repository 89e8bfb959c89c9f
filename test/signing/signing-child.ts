/**
 * A process that signs a session until it is done, or killed. Waits for "go", then appends turn after
 * turn, prints "ack <n>" when the n-th is acknowledged, and "done" when the session is closed.
 */

import { once } from "node:events";
import { openStore } from "../../src/doors/index.ts";
import type { StoreOptions } from "../../src/sessions/store/store.ts";
import type { OpenStoreOptions } from "../../src/sessions/store/store-options.ts";

/** The writer's instructions, as JSON in the first argument. */
export interface SigningOrder {
  readonly store: StoreOptions;
  readonly id: string;
  /** A prefix of its turns, which distinguishes them from those of others. */
  readonly name: string;
  readonly turns: number;
}

run(JSON.parse(process.argv[2] ?? "{}") as SigningOrder).catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});

async function run({ store: options, id, name, turns }: SigningOrder): Promise<void> {
  await once(process.stdin, "data");
  const store = await openStore({ sign: true, agent: "hello", ...options } as OpenStoreOptions);
  const session = store.session(id);
  for (let n = 0; n < turns; n++) {
    const parts = (text: string) => [{ type: "text" as const, text }];
    if (store.dialect === "rye") await session.append({ kind: "turn_start" });
    await session.append({ kind: "message", role: "user", parts: parts(`${name} ${n}.`) });
    await session.append({ kind: "message", role: "assistant", parts: parts("done") });
    console.log(`ack ${n}`);
  }
  await store.close();
  console.log("done");
  process.exit(0);
}
