/**
 * Signed: what signing costs a server's appends, against our own server without signing. Alternately, a
 * slice each, as in round.ts, twice as often: the difference is smaller than a disk's variation from
 * second to second. Its key and pins are the bench's own.
 */

import { rmSync } from "node:fs";
import { join } from "node:path";
import { say } from "../measure/frame.ts";
import { compared, type Result } from "../measure/result.ts";
import type { Amounts } from "./round.ts";
import { ServerProcess } from "./server-process.ts";

const CONNECTIONS = 32;
const KINDS = ["ours", "signed"] as const;

interface Slice {
  readonly perSecond: number;
  readonly cpuMs: number;
}

export async function measureSigning(
  scratch: string,
  { rounds, slices, sliceMs }: Amounts,
): Promise<Result[]> {
  say("signed and not signed");
  for (const name of ["CONFIG", "STATE", "CACHE"]) {
    process.env[`XDG_${name}_HOME`] = join(scratch, name.toLowerCase());
  }
  const servers = await Promise.all(
    KINDS.map((kind) => ServerProcess.start(kind, join(scratch, `signing-${kind}`))),
  );
  for (const server of servers) {
    await server.ask("create", { prefix: "s", from: 0, to: 1, atOnce: 1 });
  }
  const took: Slice[][] = [[], []];
  for (let slice = -1; slice < 2 * rounds * slices; slice++) {
    // The first one is a warm-up for the JIT compiler.
    for (const n of slice % 2 === 0 ? [0, 1] : [1, 0]) {
      const measured = await measure(servers[n] as ServerProcess, sliceMs);
      if (slice >= 0) took[n]?.push(measured);
    }
  }
  for (const server of servers) await server.kill();
  for (const kind of KINDS) rmSync(join(scratch, `signing-${kind}`), { recursive: true });
  const of = (figure: keyof Slice) => took.map((slices) => slices.map((slice) => slice[figure]));
  const [plainRates = [], signedRates = []] = of("perSecond");
  const [plainCpu = [], signedCpu = []] = of("cpuMs");
  const what = `${CONNECTIONS} connections, signed against not signed`;
  return [
    compared(`durable appends, ${what}`, signedRates, plainRates, "/s", { atLeast: 0.85 }),
    compared(`server CPU per append, ${what}`, signedCpu, plainCpu, "ms", null),
  ];
}

async function measure(server: ServerProcess, ms: number): Promise<Slice> {
  const before = server.cpuMs();
  const task = { path: "s0", atOnce: CONNECTIONS, ms };
  const asked = server.ask<{ perSecond: number; appends: number }>("appendFor", task);
  const { perSecond, appends } = await asked;
  return { perSecond, cpuMs: (server.cpuMs() - before) / appends };
}
