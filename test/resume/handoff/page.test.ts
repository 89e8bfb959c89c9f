/** docs/formats/bundle.md, compared with the code. */

import assert from "node:assert/strict";
import { test } from "vitest";
import { BUNDLE_LIMITS } from "../../../src/core/base/limits.ts";
import { readManifest, signManifest } from "../../../src/resume/handoff/manifest.ts";
import { isDerived, isMemberName } from "../../../src/resume/handoff/member-names.ts";
import { type Fidelity, originEntry } from "../../../src/resume/handoff/transcode.ts";
import { COMPARED } from "../../../src/sessions/store/entry-mapping.ts";
import { docsPage } from "../../support/docs-page.ts";

const { text: page, block } = docsPage("formats/bundle");

test("docs/formats/bundle.md shows a manifest as it is written and read", async () => {
  const text = block("jsonl bundle-manifest");
  const read = readManifest(Buffer.from(text)) ?? assert.fail("it is not a manifest");
  assert.equal(await signManifest(read.manifest, async () => new Uint8Array(64)), text);
  const domain = Buffer.from("verbatim/bundle/v1\n");
  const before = text.slice(0, text.indexOf(',"sig"'));
  assert.deepEqual(Buffer.from(read.statement), Buffer.concat([domain, Buffer.from(before)]));
  for (const { name, derived } of read.manifest.members) {
    assert.deepEqual([isMemberName(name), isDerived(name)], [true, derived]);
  }
});

test("docs/formats/bundle.md has a row for every member, and its limits are the code's", () => {
  const [, members = ""] = page.split("\n## Members\n");
  const [table = ""] = members.split("\n## ");
  const names = [...table.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name = ""]) => name);
  assert.equal(names.length, 9);
  for (const name of names) {
    const real = name.replace("<name>", "a.0.spill").replace("<kid>", "0".repeat(64));
    assert.ok(isMemberName(real), name);
  }
  const { membersMax, memberBytesMax, memberNameMax, manifestBytesMax } = BUNDLE_LIMITS;
  for (const limit of [membersMax, memberBytesMax]) {
    assert.ok(page.includes(limit.toLocaleString("en-US")));
  }
  assert.ok(page.includes(`${memberNameMax} bytes`));
  assert.ok(page.includes(`${manifestBytesMax / 1024 / 1024} MiB`));
});

test("docs/formats/bundle.md shows what a session from another dialect begins with", () => {
  const shown = JSON.parse(block("jsonl handoff-report"));
  const { manifest } = readManifest(Buffer.from(block("jsonl bundle-manifest"))) ?? assert.fail();
  const { session, dialect, head, made, kid } = manifest;
  const origin = { session, dialect, head, made, kid };
  const [part] = originEntry({ origin }, shown as Fidelity).parts ?? [];
  const { native } = part as { native: object };
  assert.deepEqual(Object.keys(native).sort(), Object.keys(shown).sort());
  for (const field of COMPARED) assert.ok(page.includes(`\`${field}\``), field);
});
