import assert from "node:assert/strict";
import { expect, test } from "vitest";
import type { SessionVerdict } from "../../../src/client/session-shapes.ts";
import { badgeOf, type Words } from "./badge.ts";
import type { CheckResult } from "./checked.ts";

function words(report: Partial<SessionVerdict>): Words {
  const checked = { verdict: "verified", isWhole: true } as CheckResult;
  const said = { schema: "verbatim.verify/1", verdict: "verified", findings: [], ...report };
  return {
    browser: { is: "checked", checked, canVerify: true },
    server: { is: "said", report: said as unknown as SessionVerdict },
    isLive: false,
    isStale: false,
  };
}

test("the badge of a verified session says that text was erased, when and why", () => {
  const erasures = [{ at: "2026-11-03T10:00:00.000Z", reason: "private name" }];
  const { tone, word, sentence } = badgeOf(words({ erasures }));
  assert.deepEqual([tone, word], ["good", "verified, text erased"]);
  expect(sentence).toMatch(/text erased on .*3 Nov.*: private name\.$/);
  assert.equal(badgeOf(words({ erasures: [] })).word, "verified");
  assert.equal(badgeOf(words({})).word, "verified");
});
