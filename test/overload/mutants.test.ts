/**
 * Bugs planted in the server, each of which a flood must show: proves that overload.test.ts detects
 * them.
 */

import assert from "node:assert/strict";
import { test } from "vitest";
import type { Mutation } from "../support/program.ts";
import { triedMutations } from "../support/tried-mutations.ts";
import { type Broken, floodAll, floodOne, type Promised } from "./flood.ts";

interface Mutant extends Mutation {
  readonly bug: string;
  /** Others may be broken too. */
  readonly breaks: readonly Promised[];
  /** The flood's length: as short as shows the bug. */
  readonly rounds: number;
  readonly flood: (rounds: number, mutation: Mutation) => Promise<Broken>;
}

const APPEND =
  "    const write = tokens.stored.write(pass, want, () => store.append(path, sent));\n";

const MUTANTS: readonly Mutant[] = [
  {
    bug: "accepts every append",
    breaks: ["refuses", "recovers"],
    flood: floodAll,
    rounds: 1,
    file: "src/streams/commit/commit-queue.ts",
    line: "      this.#waiting.length >= limits.queueRequestsMax ||\n",
    becomes: "",
  },
  {
    bug: "does not say when to retry",
    breaks: ["says when"],
    flood: floodAll,
    rounds: 1,
    file: "src/server/http/answer.ts",
    line: 'headers.push("Retry-After", "1");',
    becomes: "{}",
  },
  {
    bug: "keeps refused appends in memory",
    breaks: ["memory"],
    flood: floodAll,
    rounds: 15, // Until it is more than any server needs for itself.
    file: "src/server/streams/route.ts",
    line: APPEND,
    becomes: `Object.assign(tokens, { [Math.random()]: sent.body });\n${APPEND}`,
  },
  {
    bug: "acknowledges appends that it has no space for",
    breaks: ["keeps"],
    flood: floodAll,
    rounds: 1,
    file: "src/server/streams/route.ts",
    line: APPEND,
    becomes: APPEND.replace(
      "sent));\n",
      "sent).catch(async () => ({ outcome: 'appended', head: await store.head(path), lastSeq: null })));\n",
    ),
  },
  {
    bug: "lets one stream fill the whole queue",
    breaks: ["fair"],
    flood: floodOne,
    rounds: 1,
    file: "src/server/streams/stream-shares.ts",
    line: "    if (share.appends >= streamAppendsMax) throw",
    becomes: "    if (false) throw",
  },
];

for (const { bug, breaks, flood, rounds, ...mutation } of triedMutations(MUTANTS)) {
  test(`a flood shows a server that ${bug}`, async () => {
    const broken = await flood(rounds, mutation);
    const unseen = breaks.filter((promised) => broken[promised] === undefined);
    assert.deepEqual(unseen, [], `this alone was seen: ${JSON.stringify(broken)}`);
  });
}
