import assert from "node:assert/strict";
import { test } from "vitest";
import { errnoOf, ioError, isNoSpace, VerbatimError } from "./errors.ts";

test("a full disk, a used-up quota and a file-size limit are lack of space; other failures are not", () => {
  for (const code of ["ENOSPC", "EDQUOT", "EFBIG"]) assert.equal(isNoSpace({ code }), true);
  for (const code of ["EIO", "EROFS", "ENOENT", 28]) assert.equal(isNoSpace({ code }), false);
  assert.equal(isNoSpace(null), false);
});

test("an I/O error keeps the errno in its details and the original error as its cause", () => {
  const cause = Object.assign(new Error("boom"), { code: "EIO" });
  const error = ioError("/a.jsonl", "reading", cause);

  assert.equal(error.code, "IO_ERROR");
  assert.deepEqual(error.details, { path: "/a.jsonl", operation: "reading", errno: "EIO" });
  assert.equal(error.cause, cause);
});

test("a VerbatimError is passed on unchanged", () => {
  const ours = new VerbatimError("LOG_CLOSED", "closed", { path: "/a.jsonl" });
  assert.equal(ioError("/b.jsonl", "reading", ours), ours);
});

test("an error without an errno is UNKNOWN", () => {
  for (const error of [null, undefined, "EIO", new Error("EIO"), { code: 5 }]) {
    assert.equal(errnoOf(error), "UNKNOWN");
  }
});
