/** Checks the examples of docs/formats/keys.md and trust.md with our code. */

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { tempDirectory } from "../../test/support/temp-directory.ts";
import { nodeHost } from "../core/base/node-host.ts";
import { policyFor, readProjectPolicies, readUserPolicy } from "./judge/policy.ts";
import { nodeCrypto } from "./keys/node-crypto.ts";
import { PEM_BYTES_MAX, parsePublicPem } from "./keys/pem.ts";
import { toBase64url } from "./proof/bytes.ts";
import { fpOf, kidOf, publicKeyPem } from "./proof/ed25519-keys.ts";
import { Trust } from "./trusted-keys/trust.ts";
import {
  GLOB_CHARS_MAX,
  GLOBS_MAX,
  globMatches,
  OWNER_CHARS_MAX,
  PURPOSES,
  REASON_CHARS_MAX,
} from "./trusted-keys/trust-entry.ts";
import {
  changeTrustFile,
  ENTRIES_MAX,
  readTrustFile,
  TRUST_BYTES_MAX,
} from "./trusted-keys/trust-file.ts";

const keysPage = readFileSync(new URL("../../docs/formats/keys.md", import.meta.url), "utf8");
const trustPage = readFileSync(new URL("../../docs/formats/trust.md", import.meta.url), "utf8");

function block(page: string, info: string): string {
  const fences = page.matchAll(/^```([^\n]*)\n([\s\S]*?)^```$/gm);
  const found = [...fences].filter(([, named]) => named === info);
  assert.equal(found.length, 1, `one ${info}`);
  return found[0]?.[2] ?? "";
}

test("the page's key has the id and fingerprint on the page", () => {
  const pem = block(keysPage, "text public-key");
  const { value: key } = parsePublicPem(pem);
  assert.ok(key);
  assert.equal(publicKeyPem(key), pem);
  for (const name of [kidOf(nodeCrypto, key), fpOf(nodeCrypto, key), toBase64url(key)]) {
    assert.ok(keysPage.includes(`\`${name}\``), name);
  }
});

test("the page's trust.json is accepted, and written back byte for byte", async () => {
  const text = block(trustPage, "json trust-file");
  const path = join(tempDirectory(), "config/trust.json");
  await changeTrustFile(nodeHost, path, () => []);
  writeFileSync(path, text);
  const entries = readTrustFile(path);
  assert.equal(entries.length, 1);
  await changeTrustFile(nodeHost, path, (same) => same);
  // People write short lists on one line, JSON.stringify does not.
  assert.equal(readFileSync(path, "utf8").replaceAll(/\[\s+("[^\]]*")\s+\]/g, shortList), text);
  const [{ kid } = { kid: "" }] = entries;
  const asked = { kid, purpose: "transcript", sessionId: "nightly/1", at: 0 } as const;
  assert.deepEqual(new Trust([], entries).judge(asked), { trusted: false, why: "revoked" });
});

test("the page's globs match what it says, and nothing that it excludes", () => {
  const rows = [...trustPage.matchAll(/^\| `(\S*\*\S*)` \| (`.*) \| (.*)\|$/gm)];
  assert.equal(rows.length, 4);
  for (const [, glob = "", named = "", others = ""] of rows) {
    for (const [, id = ""] of named.matchAll(/`([^`]+)`/g)) assert.ok(globMatches(glob, id), id);
    for (const [, id = ""] of others.matchAll(/`([^`]+)`/g)) assert.ok(!globMatches(glob, id), id);
  }
});

test("the page's settings are parsed as it says", () => {
  const directory = tempDirectory();
  const path = join(directory, "config.json");
  writeFileSync(path, block(trustPage, "json config-file"), { mode: 0o600 });
  const user = readUserPolicy(path);
  assert.equal(policyFor({ user }).policy, "lenient");
  const yaml = join(directory, "coordination.yaml");
  writeFileSync(yaml, block(trustPage, "yaml coordination"));
  const project = readProjectPolicies(directory, ["coordination.yaml"]);
  const inForce = policyFor({ flag: "lenient", user, project });
  assert.deepEqual(inForce, { policy: "strict", from: yaml });
});

test("the pages name the limits and values in the code", () => {
  const number = (value: number) => value.toLocaleString("en-US");
  assert.ok(keysPage.includes(`over ${PEM_BYTES_MAX / 1024} KiB`));
  for (const phrase of [
    `1 to ${OWNER_CHARS_MAX} characters`,
    `1 to ${REASON_CHARS_MAX} characters`,
    `up to ${GLOBS_MAX} globs`,
    `1 to ${GLOB_CHARS_MAX} characters`,
    `more than ${number(ENTRIES_MAX)} keys or ${TRUST_BYTES_MAX / 1024 / 1024} MiB`,
    ...PURPOSES.map((purpose) => `\`${purpose}\``),
  ]) {
    assert.ok(trustPage.replaceAll(/\s+/g, " ").includes(phrase), phrase);
  }
});

function shortList(_: string, items: string): string {
  return `[${items.split(/,\s+/).join(", ")}]`;
}
