/**
 * Real sessions of other programs: every prefix is a request that each provider accepts.
 *
 * Samples of this repository, and public ones where they are next to it.
 */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import type { Dialect } from "../../src/dialects/dialect.ts";
import { entire } from "../../src/dialects/entire/dialect.ts";
import { rye } from "../../src/dialects/rye/dialect.ts";
import type { GatheredEntry } from "../../src/resume/gather.ts";
import { sampleFolders, sampleLogs } from "../support/samples.ts";
import { isTried } from "../support/seed.ts";
import { sharedFiles } from "../support/shared-files.ts";
import { decoded } from "./any-session.ts";
import { judgeAll, piped } from "./judged.ts";

const shared = sharedFiles("samples");

interface Sample {
  readonly name: string;
  readonly entries: readonly GatheredEntry[];
}

function sampleAt(path: string, name: string, dialect: Dialect): Sample {
  return sampleOf(name, linesOf(path), dialect);
}

function linesOf(path: string): readonly string[] {
  const lines = readFileSync(path, "utf8").split("\n");
  return lines.filter((line) => line !== "");
}

function sampleOf(name: string, lines: readonly string[], dialect: Dialect): Sample {
  return { name, entries: lines.map((line, at) => decoded(dialect, line, at)) };
}

/** Of this repository; the rows of `agent` are read by `dialect`. */
function ownSamples(agent: string, dialect: Dialect): readonly Sample[] {
  return sampleFolders(agent).flatMap(({ path }) => samplesIn(path, dialect));
}

function samplesIn(folder: string, dialect: Dialect): readonly Sample[] {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return names
    .filter((name) => name.endsWith(".jsonl"))
    .map((name) => sampleAt(join(folder, name), name, dialect));
}

function publicSamples(folder: string, dialect: Dialect): readonly Sample[] {
  return shared.isThere ? samplesIn(join(shared.path, folder), dialect) : [];
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

test("every prefix of every real thread can be resumed for each provider", () => {
  const [own, others] = [ownSamples("rye", rye), publicSamples("rye", rye)];
  assert.equal(own.length, 5);
  if (shared.isThere) assert.equal(others.length, 36);
  for (const thread of [...own, ...others]) judgePrefixes(thread);
});

test("every prefix of real Claude Code sessions can be resumed", () => {
  const own = [...ownSamples("entire", entire), ...ownSamples("claude-code", entire)];
  const others = [...publicSamples("entire", entire), ...publicSamples("claude-code", entire)];
  assert.equal(own.length, 9);
  if (shared.isThere) assert.equal(others.length, 2);
  for (const session of [...own, ...others]) judgePrefixes(session);
});

/** How many lines were not sent as they are, by the reason. */
function actionsIn(threads: readonly Sample[]): Readonly<Record<string, number>> {
  const reasons = new Map<string, number>();
  for (const { entries } of threads) {
    for (const { why, lines = 1 } of piped("anthropic", entries).actions) {
      reasons.set(why, (reasons.get(why) ?? 0) + lines);
    }
  }
  return Object.fromEntries(reasons);
}

const SILENT_FACT =
  "checkpoints and other silent lines are not sent, and what threads repeat is sent once (S4-8)";

interface RyeRow {
  readonly event_type: string;
  readonly payload: Readonly<Record<string, unknown>>;
}
const SENT = ["cognition_in", "cognition_out", "tool_call_start", "tool_call_result"];

test(SILENT_FACT, () => {
  const rows = sampleLogs("rye").map(({ path }) =>
    linesOf(path).map((line): RyeRow => JSON.parse(line)),
  );
  const ofType = (isOfType: (type: string) => boolean) =>
    rows.flat().filter(({ event_type }) => isOfType(event_type)).length;
  const repeated = rows.map((thread, at) => {
    const lines = thread.flatMap((row) => {
      if (row.event_type !== "tool_call_result") return [row];
      const payload = { text: row.payload.output, role: "tool" };
      return [row, { ...row, event_type: "cognition_in", payload }];
    });
    return sampleOf(
      `thread ${at}`,
      lines.map((line) => JSON.stringify(line)),
      rye,
    );
  });
  // One thread was cut between a call and its result. Two end with a message of the user.
  assert.deepEqual(actionsIn(repeated), {
    silent: ofType((type) => !SENT.includes(type)),
    echo: ofType((type) => type === "tool_call_result"),
    uncertain_result: 1,
    last_user_message: 2,
  });
});

if (shared.isThere) {
  test(`public threads: ${SILENT_FACT}`, () => {
    // One thread was killed between a call and its result.
    assert.deepEqual(actionsIn(publicSamples("rye", rye)), {
      silent: 6192,
      echo: 90,
      uncertain_result: 1,
      last_user_message: 13,
    });
  });
}
