/**
 * Real sessions of other programs: every prefix is a request that each provider accepts.
 *
 * They are not part of the package. Where they are missing, these tests are skipped.
 */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import type { Dialect } from "../../src/dialects/dialect.ts";
import { entire } from "../../src/dialects/entire/dialect.ts";
import { rye } from "../../src/dialects/rye/dialect.ts";
import type { GatheredEntry } from "../../src/resume/gather.ts";
import { isTried } from "../support/seed.ts";
import { sharedFiles } from "../support/shared-files.ts";
import { decoded } from "./any-session.ts";
import { judgeAll, piped } from "./judged.ts";

const { path: SAMPLES, isThere: hasSamples } = sharedFiles(
  "samples",
  "real sessions",
  "the tests that resume them are",
);

interface Sample {
  readonly name: string;
  readonly entries: readonly GatheredEntry[];
}

function samplesIn(folder: string, dialect: Dialect): Sample[] {
  const names = readdirSync(join(SAMPLES, folder), { recursive: true, encoding: "utf8" });
  return names
    .filter((name) => name.endsWith(".jsonl"))
    .map((name) => {
      const lines = readFileSync(join(SAMPLES, folder, name), "utf8").split("\n");
      const entries = lines
        .filter((line) => line !== "")
        .map((line, at) => decoded(dialect, line, at));
      return { name, entries };
    });
}

/**
 * Every third prefix, and the whole; every one with VERBATIM_DEEP=1. Of
 * consecutive silent lines only the last is judged: they change nothing.
 */
function judgePrefixes({ name, entries }: Sample): void {
  for (let end = 0; end <= entries.length; end++) {
    const isSilent = entries[end - 1]?.kind === "other" && entries[end]?.kind === "other";
    const isDue = isTried(end, 3) || end === entries.length;
    if (isDue && !isSilent) judgeAll(entries.slice(0, end), `the first ${end} lines of ${name}`);
  }
}

test.skipIf(!hasSamples)(
  "every prefix of every real thread can be resumed for each provider",
  () => {
    const threads = samplesIn("rye", rye);
    assert.equal(threads.length, 36);
    for (const thread of threads) judgePrefixes(thread);
  },
);

test.skipIf(!hasSamples)("every prefix of real Claude Code sessions can be resumed", () => {
  const sessions = [...samplesIn("entire", entire), ...samplesIn("claude-code", entire)];
  assert.equal(sessions.length, 2);
  for (const session of sessions) judgePrefixes(session);
});

test.skipIf(!hasSamples)(
  "checkpoints and other silent lines are not sent, and what threads repeat is sent once (S4-8)",
  () => {
    const reasons = new Map<string, number>();
    for (const { entries } of samplesIn("rye", rye)) {
      for (const { why, lines = 1 } of piped("anthropic", entries).actions) {
        reasons.set(why, (reasons.get(why) ?? 0) + lines);
      }
    }
    // One thread was killed between a call and its result.
    assert.deepEqual(Object.fromEntries(reasons), {
      silent: 6192,
      echo: 90,
      uncertain_result: 1,
      last_user_message: 13,
    });
  },
);
