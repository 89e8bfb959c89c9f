/** What the viewer says about errors: in sentences for people, whatever the code. */

import assert from "node:assert/strict";
import { test } from "vitest";
import { VerbatimError } from "../../src/core/base/errors.ts";
import { STATUS } from "../../src/server/http/status.ts";
import { faultText } from "../../viewer/src/fault-text.ts";

const REASON = "the title is longer than 200 characters; shorten it";

function textOf(code: string, status: number): string {
  const message = `the server answered /v1/x with ${status}: ${REASON}`;
  return faultText(new VerbatimError("REQUEST_REFUSED", message, { status, code, reason: REASON }));
}

test("every code of the server is a sentence, without a path, a status or the code", () => {
  const codes = [...Object.entries(STATUS), ["INTERNAL", 500], ["", 502], ["", 418]] as const;
  for (const [code, status] of codes) {
    const text = textOf(code, status);
    assert.match(text, /^[A-Z“][^\n]{15,120}[.]$/, code);
    assert.doesNotMatch(text, /\/v1|answered|\b\d{3}:|[A-Z]{2}/, code);
  }
});

test("a refusal of what the user wrote has the server's words; others say what to do", () => {
  const codes = ["SEARCH_QUERY", "BAD_NOTE", "BAD_REQUEST", "CANNOT_DISCLOSE", "NOTES_REFUSED"];
  for (const code of codes) {
    assert.equal(textOf(code, 400), "The title is longer than 200 characters; shorten it.");
  }
  assert.match(textOf("SESSION_NOT_FOUND", 404), /no longer here: .* moved or deleted/);
  assert.match(textOf("TOKEN_REQUIRED", 401), /verbatim open/);
  assert.match(textOf("NOT_ALLOWED", 403), /does not allow this: ask/);
  assert.match(textOf("OVERLOADED", 503), /try again/);
  assert.match(textOf("STREAM_DAMAGED", 500), /its log says why/);
  assert.match(textOf("METHOD_NOT_ALLOWED", 405), /reload the page/);
});

test("a server that does not answer is said to, and this browser's own errors have their words", () => {
  assert.match(faultText(new TypeError("fetch failed")), /does not answer/);
  assert.equal(faultText(new Error("Its signature is wrong")), "Its signature is wrong");
  assert.match(faultText("?"), /Something went wrong/);
});
