import assert from "node:assert/strict";
import { test } from "vitest";
import { docsPage } from "../../../test/support/docs-page.ts";
import { SCHEMA } from "./table.ts";

test("the schema on the format page is the current one", () => {
  const schema = docsPage("formats/catalog").block("sql catalog-schema");
  assert.equal(schema.trim(), SCHEMA.trim());
});
