/**
 * Read once: only bytes that were verified are returned as verified, however a log changes between two
 * reads. One test controls the order of the reads and tries all; the other runs a real program.
 */

import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { basename } from "node:path";
import { test } from "vitest";
import { VerbatimError } from "../../src/core/base/errors.ts";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { openVerifiedSession } from "../../src/evidence/verify/verified-entries.ts";
import { resumeSession } from "../../src/resume/resume.ts";
import { openVerifiedLog } from "../../src/trust/judge/open-verified.ts";
import { startChild } from "../support/child.ts";
import { isTried, times } from "../support/seed.ts";
import {
  ALL_SHAPES,
  idFor,
  SHAPES,
  SigningUser,
  turnOf,
  type Written,
} from "../support/signing-user.ts";
import { schedules, twoFacedHost } from "../support/two-faced-file.ts";
import { WatchedFiles } from "../support/watched-files.ts";

/**
 * That many calls are ordered in every way, of which a run tries a third; later calls repeat the
 * schedule.
 */
const CALLS = 8;

/** An unsigned line as the dialect's writer would write it. */
function forgedLine({ path }: Written): string {
  const lines = readFileSync(path, "utf8").split("\n");
  const last = lines.findLast((line) => line.includes("turn 2") && !line.includes('"checkpoint"'));
  assert.ok(last);
  return `${last.replaceAll("turn 2", "FORGED")}\n`;
}

for (const [name, shape] of Object.entries(ALL_SHAPES)) {
  test(`strict never returns a forged line, whenever it appears and disappears (${name})`, async () => {
    const user = new SigningUser();
    const written = await user.writeTurns(shape, 2);
    const signed = readFileSync(written.path);
    const forged = Buffer.concat([signed, Buffer.from(forgedLine(written))]);
    const options = await user.judging(written.target, true);
    const outcomes = new Map<string, number>();
    for (const [nth, schedule] of [...schedules(CALLS)].entries()) {
      if (!isTried(nth, 7)) continue; // No power of two: each call has both orders.
      const contents = [signed, forged] as const;
      const { host } = twoFacedHost({ name: basename(written.path), contents, schedule });
      let given = "";
      const outcome = await (async () => {
        const opened = await openVerifiedLog(host, written.target, options);
        for await (const { line, isVerified } of opened.lines) {
          assert.ok(isVerified, `an unsigned line was returned, by ${schedule.join("")}`);
          given += Buffer.from(line).toString("utf8");
        }
        opened.close();
        return opened.report.verdict;
      })().catch((cause: unknown) => {
        if (cause instanceof VerbatimError) return cause.code;
        throw cause;
      });
      assert.ok(!given.includes("FORGED"), `it was returned, by ${schedule.join("")}`);
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    }
    // Every refusal has an expected reason.
    const known = ["verified", "NOT_VERIFIED", "CHANGED_WHILE_READ"];
    assert.deepEqual([...outcomes.keys()].sort(), known.sort(), JSON.stringify([...outcomes]));
  });
}

test("a log with a long last line is read three times: judged, for its end, and for its lines", async () => {
  const user = new SigningUser();
  const written = await user.write({ dialect: "homeagent" }, turnOf("x".repeat(3 * 1024 * 1024)));
  const disk = new WatchedFiles();
  const options = await user.judging(written.target, true);
  const opened = await openVerifiedLog(disk.host, written.target, options);
  for await (const { isVerified } of opened.lines) assert.ok(isVerified);
  opened.close();
  const size = statSync(written.path).size;
  const read = disk.made("read", basename(written.path)).reduce((sum, { bytes }) => sum + bytes, 0);
  assert.ok(read >= 2 * size && read < 4 * size, `${read} bytes of ${size} were read`);
});

for (const [name, shape] of Object.entries(SHAPES)) {
  test(`a line that a program appends and cuts in a loop is never returned as verified (${name})`, async () => {
    const user = new SigningUser();
    const written = await user.writeTurns(shape, 2);
    const { root, dialect } = written.target;
    const child = startChild("test/signing/forging-child.ts", written.path, forgedLine(written));
    assert.equal(await child.line(), "at it");
    const where = { root, dialect, policy: "strict" as const };
    const outcomes = new Map<string, number>();
    const note = (outcome: string) => outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    const attempt = async (reading: () => Promise<string>) => {
      try {
        const text = await reading();
        assert.ok(!text.includes("FORGED"), "a forged line was returned as verified");
        note("verified");
      } catch (cause) {
        if (!(cause instanceof VerbatimError)) throw cause;
        note(cause.code);
      }
    };
    // It must be read with the line and without it: the two really ran at the same time.
    const isMet = () => ["verified", "NOT_VERIFIED"].every((outcome) => outcomes.has(outcome));
    for (let n = 0; n < 5 * times || !isMet(); n++) {
      assert.ok(n < 200 * times, JSON.stringify([...outcomes]));
      await attempt(async () => {
        const session = await openVerifiedSession(nodeHost, idFor(shape), where);
        const entries: unknown[] = [];
        try {
          for await (const entry of session.entries()) entries.push(entry);
        } finally {
          session.close();
        }
        return JSON.stringify(entries);
      });
      await attempt(async () => {
        const resumed = await resumeSession(nodeHost, idFor(shape), { ...where, for: "anthropic" });
        return JSON.stringify(resumed.messages);
      });
    }
    await child.kill();
  });
}
