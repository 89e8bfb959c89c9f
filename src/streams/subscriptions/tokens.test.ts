import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { judgeToken, mintToken } from "./acks.ts";

const secret = Buffer.alloc(32, 7);
const claims = { subscription: "sub-1", generation: 3, expiresAtMs: 1000 };
const invalid = { isValid: false, reason: "TOKEN_INVALID" };

test("a token carries its generation until it expires", () => {
  const token = mintToken(secret, claims);
  expect(judgeToken(secret, token, "sub-1", 999)).toEqual({ isValid: true, generation: 3 });
  expect(judgeToken(secret, token, "sub-1", 1000)).toEqual({
    isValid: false,
    reason: "TOKEN_EXPIRED",
  });
});

test("a token is valid for one subscription and one secret", () => {
  const token = mintToken(secret, claims);
  expect(judgeToken(secret, token, "sub-2", 0)).toEqual(invalid);
  expect(judgeToken(Buffer.alloc(32, 8), token, "sub-1", 0)).toEqual(invalid);
});

test("a token with any character changed, cut anywhere or lengthened is invalid", () => {
  const token = mintToken(secret, claims);
  for (let at = 0; at < token.length; at++) {
    expect(judgeToken(secret, token.slice(0, at), "sub-1", 0), `cut at ${at}`).toEqual(invalid);
    const other = token[at] === "A" ? "B" : "A";
    const changed = token.slice(0, at) + other + token.slice(at + 1);
    expect(judgeToken(secret, changed, "sub-1", 0), `changed at ${at}`).toEqual(invalid);
  }
  expect(judgeToken(secret, `${token}AAAA`, "sub-1", 0)).toEqual(invalid);
  expect(judgeToken(secret, "x".repeat(10_000), "sub-1", 0)).toEqual(invalid);
});

test("an HMAC of the same text for another purpose is not a token", () => {
  const payload = mintToken(secret, claims).split(".")[0] ?? "";
  const mac = createHmac("sha256", secret).update(payload).digest("base64url");
  expect(judgeToken(secret, `${payload}.${mac}`, "sub-1", 0)).toEqual(invalid);
});
