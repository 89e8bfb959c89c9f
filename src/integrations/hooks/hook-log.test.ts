import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, test, vi } from "vitest";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { VerbatimError } from "../../core/base/errors.ts";
import { HOOK_LOG_BYTES_MAX, logFailure } from "./hook-log.ts";

let at: string;

beforeEach(() => {
  at = tempDirectory();
  mkdirSync(join(at, "tmp"));
  vi.stubEnv("XDG_STATE_HOME", join(at, "state"));
  vi.stubEnv("TMPDIR", join(at, "tmp"));
  return () => vi.unstubAllEnvs();
});

const ours = () => join(at, "state/verbatim/hooks.log");
const temporary = () => join(at, `tmp/verbatim-hooks-${process.geteuid?.()}.log`);

test("a failure is one line with time, code and reason, in a file only its owner can read", () => {
  const refusal = new VerbatimError("LOG_CLOSED", "x.jsonl was closed", { path: "x.jsonl" });
  assert.equal(logFailure(refusal, 0), ours());
  assert.equal(logFailure(new Error("y".repeat(5000)), 1), ours());
  const [first, second] = readFileSync(ours(), "utf8").split("\n");
  const said = { at: "1970-01-01T00:00:00.000Z", code: "LOG_CLOSED", reason: "x.jsonl was closed" };
  assert.equal(first, JSON.stringify(said));
  assert.equal((JSON.parse(second ?? "") as { reason: string }).reason.length, 1000);
  assert.equal(statSync(ours()).mode & 0o777, 0o600);
});

test("the log is rotated once it is over its limit, and not before", () => {
  logFailure("first", 0);
  writeFileSync(ours(), "x".repeat(HOOK_LOG_BYTES_MAX));
  logFailure("at the limit", 0);
  assert.ok(!existsSync(`${ours()}.1`));
  logFailure("one past it", 0);
  assert.ok(statSync(`${ours()}.1`).size > HOOK_LOG_BYTES_MAX);
  logFailure("next", 0);
  assert.match(readFileSync(ours(), "utf8"), /^[^\n]*next[^\n]*\n$/);
});

test("without a home directory the log is in the temporary directory, and no link there is followed", () => {
  writeFileSync(join(at, "state"), "");
  assert.equal(logFailure("why", 0), temporary());
  assert.match(readFileSync(temporary(), "utf8"), /why/);
  const victim = join(at, "victim");
  writeFileSync(victim, "");
  vi.stubEnv("TMPDIR", join(at, "linked"));
  mkdirSync(join(at, "linked"));
  symlinkSync(victim, join(at, "linked", `verbatim-hooks-${process.geteuid?.()}.log`));
  assert.equal(logFailure("why", 0), null);
  assert.equal(readFileSync(victim, "utf8"), "");
});
