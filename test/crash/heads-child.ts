/**
 * Pins heads of one session without a signer, one after the other, and prints each once it is
 * durable. The test kills it.
 *
 * Waits for "go", prints "pinned <seq>" for each, and "done" when it has no more.
 */

import { once } from "node:events";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { Heads } from "../../src/trust/heads/heads.ts";
import { headOf } from "../support/pins.ts";

/** The child's instructions, as JSON in the first argument. */
export interface PinOrder {
  readonly stateDirectory: string;
  readonly id: string;
  readonly log: number;
  readonly from: number;
  readonly to: number;
}

run(JSON.parse(process.argv[2] ?? "{}") as PinOrder).catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});

async function run({ stateDirectory, id, log, from, to }: PinOrder): Promise<void> {
  await once(process.stdin, "data");
  const onWarning = (warning: string) => {
    throw new Error(warning);
  };
  const heads = new Heads({ host: nodeHost, stateDirectory, onWarning });
  for (let seq = from; seq < to; seq++) {
    heads.pin(headOf(id, seq, { log }), "signed");
    await heads.flush();
    console.log(`pinned ${seq}`);
  }
  console.log("done");
  process.exit(0);
}
