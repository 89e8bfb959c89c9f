/** Recording: the same 20-turn, 50 KB rye threads with and without signing, in turns, on the disk. */

import { median } from "../measure/compare.ts";
import { threadEvents } from "../sessions/recording.ts";
import { openStore } from "./built.ts";

const events = threadEvents();

/** How long signed threads take over unsigned ones, closing included. */
export async function slownessOfSigning(root: string, threads: number): Promise<number> {
  const options = { dialect: "rye", agent: "bench", durability: "disk" } as const;
  const stores = await Promise.all([
    openStore({ ...options, root: `${root}-signed`, sign: true }),
    openStore({ ...options, root: `${root}-bare` }),
  ]);
  const [signedMs, bareMs]: [number[], number[]] = [[], []];
  for (let n = 0; n < threads; n++) {
    for (const which of n % 2 === 0 ? [0, 1] : [1, 0]) {
      const session = await stores[which]?.create({ id: `thread-${n}` });
      if (!session) throw new Error("no store");
      await session.appendNative({ type: "thread_start", model: "m", inputs: {} });
      const start = performance.now();
      for (const event of events) await session.appendNative(event);
      await session.close();
      (which === 0 ? signedMs : bareMs).push(performance.now() - start);
    }
  }
  for (const store of stores) await store.close();
  return median(signedMs) / median(bareMs); // One slow sync is one slow thread.
}
