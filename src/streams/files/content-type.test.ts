import assert from "node:assert/strict";
import { test } from "vitest";
import { isJsonType, sameType } from "./json-messages.ts";

test("a stream is JSON by its media type, in any case and with any parameters", () => {
  for (const type of ["application/json", "Application/JSON", "application/json; charset=utf-8"]) {
    assert.ok(isJsonType(type), type);
  }
  for (const type of ["", "text/json", "application/jsonl", "application/vnd.x+json", "json"]) {
    assert.ok(!isJsonType(type), type);
  }
});

test("two content types are equal if their media types are; no type means octet-stream", () => {
  assert.ok(sameType("text/plain", "TEXT/Plain ; charset=utf-8"));
  assert.ok(sameType("", "application/octet-stream"));
  assert.ok(!sameType("text/plain", "text/html"));
  assert.ok(!sameType("application/json", "application/octet-stream"));
});
