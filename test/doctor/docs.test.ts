/** docs/doctor.md has every finding, with its severity and whether repair corrects it. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { FINDINGS, type FindingCode, isMendable } from "../../src/core/findings/finding.ts";
import { OPEN_CALLS_MAX } from "../../src/core/model/pairing.ts";
import { LIVE_MS } from "../../src/evidence/doctor/examine-session.ts";
import { root } from "../cli/cli.ts";

const page = readFileSync(join(root, "docs/doctor.md"), "utf8");
const rows = [...page.matchAll(/^\| `([A-Z_]+)` \| (\w+) \| .+ \| (.+) \|$/gm)];

test("the page lists every finding in the order of the code", () => {
  assert.deepEqual(
    rows.map(([, code]) => code),
    Object.keys(FINDINGS),
  );
});

test.each(Object.entries(FINDINGS))(
  "%s is shown on the page as it is in the code",
  (code, { severity }) => {
    const [, , told, remedy = ""] = rows.find(([, each]) => each === code) ?? [];
    assert.equal(told, severity);
    assert.equal(!/^(no\b|refuses)/.test(remedy), isMendable(code as FindingCode));
  },
);

test("the numbers on the page are those of the code", () => {
  assert.ok(page.includes(`more than ${OPEN_CALLS_MAX.toLocaleString("en")} calls`));
  assert.ok(page.includes(`until ${LIVE_MS / 1000} seconds after the last line`));
});
