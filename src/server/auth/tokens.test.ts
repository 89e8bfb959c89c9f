import assert from "node:assert/strict";
import { chmodSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { refusal, thrownRefusal } from "../../../test/support/refusal.ts";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import {
  createToken,
  readTokenFile,
  revokeToken,
  TOKEN_LIMITS,
  type TokenEntry,
  tokenFile,
  tokenFilePath,
  tokenHash,
  tokenState,
} from "./tokens.ts";

const NOW = Date.parse("2026-11-15T12:00:00Z");
const REQUEST = { name: "laptop", scopes: ["read"], paths: ["**"], expiresAtMs: null } as const;

const ENTRY: TokenEntry = {
  id: "0123abcd",
  name: "laptop",
  sha256: "0".repeat(64),
  scopes: ["read"],
  paths: ["chat/**"],
  createdAt: "2026-11-15T12:00:00.000Z",
};

function fileOf(tokens: unknown, version: unknown = 1): string {
  const path = tokenFilePath(tempDirectory());
  writeFileSync(path, JSON.stringify({ version, tokens }), { mode: 0o600 });
  return path;
}

test("a token has 256 random bits, and only its hash is stored, in a file private to its owner", async () => {
  const path = tokenFilePath(tempDirectory());
  const { token, entry } = await createToken(tokenFile(nodeHost, path), REQUEST, NOW);
  assert.match(token, /^vbt_[\w-]{43}$/);
  const text = readFileSync(path, "utf8");
  assert.ok(!text.includes(token.slice(4)));
  assert.equal(entry.sha256, tokenHash(token));
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.deepEqual(readTokenFile(path), [entry]);
  const second = await createToken(tokenFile(nodeHost, path), REQUEST, NOW);
  assert.notEqual(second.token, token);
  assert.deepEqual(readTokenFile(path), [entry, second.entry]);
});

test("tokens created concurrently are all kept", async () => {
  const path = tokenFilePath(tempDirectory());
  const made = await Promise.all(
    Array.from({ length: 10 }, () => createToken(tokenFile(nodeHost, path), REQUEST, NOW)),
  );
  const ids = readTokenFile(path).map(({ id }) => id);
  assert.deepEqual(ids.sort(), made.map(({ entry }) => entry.id).sort());
});

test("a revoked token stays revoked, and a token expires at its time, not after it", async () => {
  const path = tokenFilePath(tempDirectory());
  const request = { ...REQUEST, expiresAtMs: NOW + 1000 };
  const { entry } = await createToken(tokenFile(nodeHost, path), request, NOW);
  assert.equal(tokenState(entry, NOW + 999), "valid");
  assert.equal(tokenState(entry, NOW + 1000), "expired");
  await revokeToken(tokenFile(nodeHost, path), entry.id, NOW + 1);
  const again = await revokeToken(tokenFile(nodeHost, path), entry.id, NOW + 2);
  assert.equal(again.revokedAt, new Date(NOW + 1).toISOString());
  assert.equal(tokenState(again, NOW), "revoked");
  await refusal(revokeToken(tokenFile(nodeHost, path), "00000000", NOW), "TOKEN_NOT_FOUND");
});

test("one invalid entry invalidates the whole file", () => {
  assert.deepEqual(readTokenFile(fileOf([ENTRY])), [ENTRY]);
  const wrong: unknown[] = [
    null,
    1,
    {},
    { ...ENTRY, extra: 1 },
    { ...ENTRY, id: "X" },
    { ...ENTRY, sha256: "00" },
    { ...ENTRY, scopes: [] },
    { ...ENTRY, scopes: ["write"] },
    { ...ENTRY, scopes: "read" },
    { ...ENTRY, paths: [] },
    { ...ENTRY, paths: ["a*"] },
    { ...ENTRY, paths: [1] },
    { ...ENTRY, name: "a\nb" },
    { ...ENTRY, name: "x".repeat(TOKEN_LIMITS.nameCharsMax + 1) },
    { ...ENTRY, createdAt: "today" },
    { ...ENTRY, expiresAt: null },
    { ...ENTRY, revokedAt: 1 },
  ];
  for (const entry of wrong) {
    const path = fileOf([{ ...ENTRY, id: "ffffffff" }, entry]);
    thrownRefusal(() => readTokenFile(path), "TOKENS_REFUSED");
  }
  thrownRefusal(() => readTokenFile(fileOf([ENTRY, ENTRY])), "TOKENS_REFUSED");
  thrownRefusal(() => readTokenFile(fileOf([ENTRY], 2)), "TOKENS_REFUSED");
  thrownRefusal(() => readTokenFile(fileOf(undefined)), "TOKENS_REFUSED");
});

test("tokens up to the limit are read, and one more is refused", () => {
  const many = Array.from({ length: TOKEN_LIMITS.tokensMax + 1 }, (_, n) => {
    return { ...ENTRY, id: n.toString(16).padStart(8, "0") };
  });
  assert.equal(readTokenFile(fileOf(many.slice(1))).length, TOKEN_LIMITS.tokensMax);
  thrownRefusal(() => readTokenFile(fileOf(many)), "TOKENS_REFUSED");
});

test("a file that others can read, or a link to one, is refused", () => {
  const path = fileOf([ENTRY]);
  chmodSync(path, 0o640);
  const { message } = thrownRefusal(() => readTokenFile(path), "TOKENS_REFUSED");
  assert.match(message, /chmod 600/);
  chmodSync(path, 0o600);
  const link = join(tempDirectory(), "tokens.json");
  symlinkSync(path, link);
  thrownRefusal(() => readTokenFile(link), "TOKENS_REFUSED");
});
