/**
 * A writer that the test kills. Waits for "go", opens the log, appends lines that `lines.ts` can
 * generate again, and prints each acknowledgement at once.
 *
 * Prints "opening", "opened", "ack <n>" for each line, and "done" when it has no more.
 */

import { once } from "node:events";
import { nodeHost } from "../../src/core/base/node-host.ts";
import type { LogOptions } from "../../src/core/log/log-options.ts";
import { LogWriter } from "../../src/core/log/writer.ts";
import { lineOf, type Sizes } from "./lines.ts";

/** The writer's instructions, as JSON in the first argument. */
export interface WriterOrder extends Pick<LogOptions, "durability" | "mode"> {
  readonly path: string;
  readonly writer?: number;
  /** How many lines to append at most. */
  readonly lines?: number;
  /** How many appends are in flight at once. */
  readonly atOnce?: number;
  readonly seed?: number;
  readonly sizes?: Sizes;
}

run(JSON.parse(process.argv[2] ?? "{}") as WriterOrder).catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});

async function run(order: WriterOrder): Promise<void> {
  const { path, writer = 0, lines = 0, atOnce = 1, seed = 0, sizes = "small" } = order;
  await once(process.stdin, "data");
  console.log("opening");
  const log = await LogWriter.open(nodeHost, path, order);
  console.log("opened");

  let next = 0;
  const appendOneByOne = async () => {
    while (next < lines) {
      const n = next++;
      await log.append(lineOf({ writer, n, seed, sizes }));
      console.log(`ack ${n}`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, appendOneByOne));
  console.log("done");
  // Keeps the log open until a line on stdin, or until it is killed.
  await once(process.stdin, "data");
  await log.close();
  process.exit(0);
}
