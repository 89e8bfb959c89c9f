/** The page of the format of tokens matches the code. */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { test } from "vitest";
import {
  LIMIT_NAMES,
  readTokenFile,
  SCOPES,
  tokenFilePath,
} from "../../../src/server/auth/tokens.ts";
import { TOKENS } from "../../../src/streams/postgres/schema.ts";
import { docsPage } from "../../support/docs-page.ts";
import { tempDirectory } from "../../support/temp-directory.ts";

const page = docsPage("formats/tokens");

test("the example entries on the format page are read, and have every scope, field and limit", () => {
  const lines = page.lines("jsonl token-entries");
  const path = tokenFilePath(tempDirectory());
  writeFileSync(path, `{"version":1,"tokens":[${lines.join()}]}`, { mode: 0o600 });
  const entries = readTokenFile(path);
  assert.deepEqual(
    entries.map((entry) => JSON.stringify(entry)),
    lines,
  );
  assert.deepEqual(new Set(entries.flatMap(({ scopes }) => scopes)), new Set(SCOPES));
  const limits = entries.flatMap((entry) => Object.keys(entry.limits ?? {}));
  assert.deepEqual(limits.sort(), [...LIMIT_NAMES].sort());
});

test("the tables on the format page are the current ones", () => {
  assert.equal(page.block("sql postgres-schema-6").trim(), TOKENS.trim());
});
