import assert from "node:assert/strict";
import { test } from "vitest";
import { remoteAddress } from "./manifest.ts";

test.each([
  ["https://example.org/a/b.git", "https://example.org/a/b.git"],
  ["https://ada:s3cret@example.org:8443/a/b.git", "https://example.org:8443/a/b.git"],
  ["https://ghp_s3cret@example.org/a/b", "https://example.org/a/b"],
  ["https://example.org/a?token=s3cret#s3cret", "https://example.org/a"],
  ["ssh://git:s3cret@example.org:2222/a/b.git", "ssh://example.org:2222/a/b.git"],
  ["git@example.org:a/b.git", "ssh://example.org/a/b.git"],
  ["s3cret@example.org:/a/b.git", "ssh://example.org/a/b.git"],
  ["git://example.org/a.git", "git://example.org/a.git"],
])("of the remote %s only the address is included", (url, told) => {
  assert.equal(remoteAddress(url), told);
});

test.each([
  "/srv/git/a.git",
  "../a.git",
  "file:///srv/git/a.git",
  "C:\\git\\a.git",
  "C:/git/a.git",
  "ext::sh -c s3cret",
  "ssh://-oProxyCommand=id/x",
  "http://example.org/a",
  "https://example.org/$(id)",
  "",
])("the remote %j is a path or unknown, and is left out", (url) => {
  assert.equal(remoteAddress(url), null);
});
