/** History: the messages of the next request of a long signed session, against resuming it. */

import { join } from "node:path";
import { say } from "../measure/frame.ts";
import { compared, type Result } from "../measure/result.ts";
import { openHistory, openStore, resume } from "./built.ts";

const ENTRIES = 2_000;
const FOR = { for: "anthropic" } as const;

function said(role: "user" | "assistant", text: string) {
  return { kind: "message", role, parts: [{ type: "text", text }] } as const;
}

export async function measureHistory(directory: string, runs: number): Promise<Result[]> {
  const name = `messages of the next request, ${ENTRIES} signed entries, time against resume()`;
  say(name);
  // Its own key and pins, not the user's.
  for (const each of ["CONFIG", "STATE", "CACHE"]) {
    process.env[`XDG_${each}_HOME`] = join(directory, each.toLowerCase());
  }
  const root = join(directory, "project");
  const before = await openStore({ root, sign: true, durability: "os" });
  const session = await before.create({ id: "long" });
  for (let n = 0; n < ENTRIES; n += 2) {
    await session.append([said("user", `question ${n}`), said("assistant", `answer ${n}`)]);
  }
  await before.close();
  const resumed: number[] = [];
  for (let run = 0; run < runs; run++)
    resumed.push(await msOf(() => resume("long", { ...FOR, root })));
  const store = await openStore({ root, sign: true, durability: "os" });
  const history = await openHistory(store, "long", FOR);
  const next: number[] = [];
  for (let run = 0; run < runs; run++) {
    await history.session.append([said("user", `more ${run}`), said("assistant", "yes")]);
    next.push(await msOf(() => history.resume()));
  }
  await store.close();
  return [compared(name, next, resumed, "ms", { atMost: 0.2 })];
}

async function msOf(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}
