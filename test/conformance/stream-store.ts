/**
 * Stream-store suite: what every StreamStore must do, wherever it keeps its streams. A new store runs
 * it from its own test file in this folder.
 *
 * Offsets are part of it: the same requests get the same offsets from every store.
 */

import { appendTests } from "./stream-store/appends.ts";
import { forkTests } from "./stream-store/forks.ts";
import { lifetimeTests } from "./stream-store/lifetimes.ts";
import { producerTests } from "./stream-store/producers.ts";
import { readTests } from "./stream-store/reads.ts";
import { scriptTests } from "./stream-store/scripts.ts";
import type { StoreUnderTest } from "./stream-store/store-under-test.ts";
import { watchTests } from "./stream-store/watching.ts";

export function runStreamStoreSuite(under: StoreUnderTest): void {
  appendTests(under);
  producerTests(under);
  readTests(under);
  lifetimeTests(under);
  forkTests(under);
  watchTests(under);
  scriptTests(under);
}
