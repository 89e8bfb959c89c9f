import assert from "node:assert/strict";
import {
  chmodSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { test } from "vitest";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import type { FoundLog } from "../../dialects/session-row.ts";
import { keepText as keep, logLines, readCachedText } from "./text-cache.ts";

const LOGS: readonly FoundLog[] = [1, 2, 3].map((n) => {
  return { id: `s${n}`, path: `a/s${n}/log`, size: n, mtimeMs: 1_700_000_000_000.123 + n };
});

const Q: { question: string; untilMs: number | null } = { question: "q", untilMs: null };

function textOf(path: string, question: string, logs: readonly FoundLog[], nowMs = 0) {
  const kept = readCachedText(path, { question, nowMs });
  const isSame = logs.every((log) => kept?.logs.isKnown(log.path, log.size, log.mtimeMs));
  return kept?.logs.isDone && isSame ? kept.text.toString() : null;
}

function keepText(path: string, of: typeof Q, logs: readonly FoundLog[], text: string) {
  keep(path, of, logLines(logs), text);
}

test("a stored text is returned for the same question about the same logs, and for no other", () => {
  const path = join(tempDirectory(), "cache", "last");
  assert.equal(textOf(path, "q", LOGS), null);
  fc.assert(
    fc.property(
      fc.array(fc.record({ path: fc.string(), size: fc.nat(), mtimeUs: fc.maxSafeNat() })),
      fc.string(),
      fc.string({ unit: "grapheme" }),
      fc.nat(),
      (some, question, text, which) => {
        const logs = some.map(({ path, size, mtimeUs }, n): FoundLog => {
          return { id: `${n}`, path, size, mtimeMs: Math.floor(mtimeUs / 1e4) / 1000 };
        });
        keepText(path, { question, untilMs: null }, logs, text);
        assert.equal(textOf(path, question, logs), text);
        assert.equal(textOf(path, `${question}?`, logs), null);
        const extra: FoundLog = { id: "x", path: "x", size: 1, mtimeMs: 1 };
        assert.equal(textOf(path, question, [...logs, extra]), null);
        const at = logs.length === 0 ? -1 : which % logs.length;
        const log = logs[at];
        if (log === undefined) return;
        assert.equal(textOf(path, question, logs.toSpliced(at, 1)), null);
        for (const other of [
          { ...log, path: `${log.path}x` },
          { ...log, size: log.size + 1 },
          { ...log, mtimeMs: log.mtimeMs + 0.001 },
        ]) {
          assert.equal(textOf(path, question, logs.with(at, other)), null);
        }
      },
    ),
    { numRuns: 50 },
  );
});

test("a stored file cut at any byte before its text is ignored", () => {
  const path = join(tempDirectory(), "last");
  keepText(path, Q, LOGS, "text\n");
  const bytes = readFileSync(path);
  for (let cut = 0; cut < bytes.indexOf("text"); cut++) {
    writeFileSync(path, bytes.subarray(0, cut));
    assert.equal(textOf(path, "q", LOGS), null, `cut at ${cut}`);
  }
});

test("a stored file that others could have written, or that is a link, is not used", () => {
  const directory = tempDirectory();
  const path = join(directory, "last");
  keepText(path, Q, LOGS, "text\n");
  assert.equal(statSync(path).mode & 0o777, 0o600);
  symlinkSync(path, join(directory, "link"));
  assert.equal(textOf(join(directory, "link"), "q", LOGS), null);
  for (const mode of [0o604, 0o602, 0o620, 0o640]) {
    chmodSync(path, mode);
    assert.equal(textOf(path, "q", LOGS), null, mode.toString(8));
  }
  assert.deepEqual(readdirSync(directory).sort(), ["last", "link"]);
});

test("when nothing can be stored, nothing fails", () => {
  const file = join(tempDirectory(), "file");
  writeFileSync(file, "");
  keepText(join(file, "last"), Q, LOGS, "text");
  assert.equal(textOf(join(file, "last"), "q", LOGS), null);
});

test("a stored text is used until its expiry and not after", () => {
  const path = join(tempDirectory(), "last");
  keepText(path, { ...Q, untilMs: 1000 }, LOGS, "text");
  assert.equal(textOf(path, "q", LOGS, 999), "text");
  assert.equal(textOf(path, "q", LOGS, 1000), null);
});

test("changed logs are found by their place in the list, which then has them as they are", () => {
  const path = join(tempDirectory(), "last");
  const logArbitrary = fc.record({ path: fc.string(), size: fc.nat(), mtimeMs: fc.nat() });
  fc.assert(
    fc.property(fc.array(fc.tuple(logArbitrary, fc.boolean())), (some) => {
      keep(path, Q, logLines(some.map(([log]) => log)), "text");
      const logs = readCachedText(path, { question: "q", nowMs: 0 })?.logs;
      assert.ok(logs);
      const now = some.map(([log, isGrown]) => ({ ...log, size: log.size + Number(isGrown) }));
      for (const [at, log] of now.entries()) {
        assert.ok(!logs.isNext({ ...log, path: `${log.path}x` }));
        const isKnown = logs.isKnown(log.path, log.size, log.mtimeMs);
        assert.equal(isKnown, !some[at]?.[1]);
        assert.ok(isKnown || logs.isNext(log));
      }
      assert.ok(logs.isDone);
      assert.equal(logs.lines, logLines(now));
    }),
    { numRuns: 50 },
  );
});
