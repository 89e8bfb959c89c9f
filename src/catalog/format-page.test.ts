import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "vitest";
import { SCHEMA } from "./table.ts";

test("the schema on the format page is the one in force", () => {
  const page = readFileSync(new URL("../../docs/formats/catalog.md", import.meta.url), "utf8");
  const [, schema] = /^```sql catalog-schema\n([\s\S]*?)^```$/m.exec(page) ?? [];
  assert.equal(schema?.trim(), SCHEMA.trim());
});
