/** Erasing from real sessions of every dialect: verdicts, entries, pins, and every byte that is left. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "vitest";
import { nodeHost } from "../../src/base/node-host.ts";
import { allOf, type Finder } from "../../src/disclosure/hits.ts";
import { entriesNumbered, matching } from "../../src/disclosure/matching.ts";
import { erase, tryErasing } from "../../src/erase/erase.ts";
import { sessionErasing } from "../../src/erase/session-erasing.ts";
import { verifyLog } from "../../src/signing/judging/verify.ts";
import { UserJudging } from "../../src/verifying/user-judging.ts";
import { SECRET, SHORT } from "../support/disclosing.ts";
import {
  ALL_SHAPES,
  answered,
  SigningUser,
  said,
  turnOf,
  type Written,
} from "../support/signing-user.ts";

const ENTRIES = [
  ...turnOf("good morning"),
  ...turnOf(SECRET),
  said(SHORT),
  answered(`nothing to hide: ${"y".repeat(100)}`),
  ...turnOf("good evening"),
];

async function eraseFrom(user: SigningUser, { target }: Written, finder: Finder) {
  const onWarning = (warning: string) => void user.warnings.push(warning);
  const asked = { finder, reason: "a test", places: user.places, onWarning };
  const { erasing } = await tryErasing(await sessionErasing(nodeHost, target, asked), () => {});
  return erase(erasing);
}

async function verdictOf(user: SigningUser, { target }: Written) {
  const judging = await UserJudging.load(nodeHost, { places: user.places, onWarning: () => {} });
  return verifyLog(nodeHost, target, await judging.optionsFor(target));
}

test.each(Object.entries(ALL_SHAPES))(
  "after erasing, the session is verified, and the value is in no file (%s)",
  async (_name, shape) => {
    const user = new SigningUser();
    const written = await user.write(shape, ENTRIES);
    const before = await verdictOf(user, written);
    assert.equal(before.verdict, "verified", JSON.stringify(before.findings));
    const erased = await eraseFrom(user, written, matching(["48213", "90417"]));
    assert.deepEqual(erased.counts, { text: 3, string: 0, line: 0 });
    const after = await verdictOf(user, written);
    assert.deepEqual([after.verdict, after.freshness, after.findings], ["verified", "match", []]);
    assert.equal(after.from?.log, before.log);
    const directory = dirname(written.path);
    for (const name of readdirSync(directory)) {
      const text = readFileSync(join(directory, name), "latin1");
      assert.ok(!text.includes("48213") && !text.includes("90417"), name);
    }
    assert.ok(readFileSync(written.path, "utf8").includes("17 Mill Lane"));
  },
);
void allOf;
void entriesNumbered;
