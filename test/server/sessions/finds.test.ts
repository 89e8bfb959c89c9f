/** What scan finds in a session, over HTTP: where its lines begin, and which texts to mark. */

import assert from "node:assert/strict";
import { appendFileSync } from "node:fs";
import { test } from "vitest";
import { VerbatimClient } from "../../../src/doors/client.ts";
import { ADDRESS, KEY } from "../../share/sharing.ts";
import { answered, said } from "../../support/signing-user.ts";
import { tempDirectory } from "../../support/temp-directory.ts";
import { until } from "../../support/until.ts";
import { bearer, makeToken } from "../auth/token-user.ts";
import { newUser, serveSessions } from "./served.ts";

const ENTRIES = [
  said("Where is the key?"),
  answered(`It is "${KEY}"; tell ada@lovelace.org`),
  answered(ADDRESS),
  said(`again: ${KEY}`),
];

async function served(findsMax?: number) {
  const root = tempDirectory();
  const written = await newUser().write({ dialect: "rye" }, ENTRIES, { root, sign: false });
  const limits = findsMax === undefined ? {} : { findsMax };
  const { server, url } = await serveSessions([root], { limits });
  const client = new VerbatimClient({ url: server.url });
  const { id } = (await client.sessions.list()).sessions[0] ?? assert.fail();
  return { written, server, url, client, id };
}

test("each find has the line that has it, its rule and its text", async () => {
  const { client, id, written } = await served();
  const { entries } = await client.sessions.entries(id);
  const startOf = (text: string) =>
    entries.find(({ entry }) => JSON.stringify(entry?.parts).includes(text))?.start;
  const found = [
    { start: startOf("It is"), rule: "github", text: KEY },
    { start: startOf("It is"), rule: "email", text: "ada@lovelace.org" },
    { start: startOf("again"), rule: "github", text: KEY },
  ];
  assert.deepEqual(await client.sessions.finds(id), { finds: found, unscanned: 0, isCut: false });
  appendFileSync(written.path, '{"mail":"grace@hopper.org"}\n');
  const { finds } = await client.sessions.finds(id);
  assert.deepEqual(finds.at(-1)?.text, "grace@hopper.org", "asked again, it scans again");
});

test("a text is as its string says it, and no longer than a mark needs", async () => {
  const { client, id, written } = await served();
  const { end } = await client.sessions.get(id);
  const line = `${"Ab1+".repeat(16)}\\n`;
  const pem = `-----BEGIN RSA PRIVATE KEY-----\\n${line.repeat(6)}-----END RSA PRIVATE KEY-----`;
  appendFileSync(written.path, `{"text":"${pem}"}\n`);
  const { finds } = await client.sessions.finds(id);
  const text = finds.find(({ start }) => start === end)?.text ?? assert.fail("nothing is found");
  assert.ok(text.length === 200 && text.includes("KEY-----\nAb1+") && !text.includes("\\"), text);
});

test("of more finds than the limit, the first are returned, and that it is cut is said", async () => {
  for (const [max, isCut] of [
    [2, true],
    [3, false],
  ] as const) {
    const { client, id } = await served(max);
    const answer = await client.sessions.finds(id);
    assert.deepEqual([answer.finds.length, answer.isCut], [max, isCut]);
  }
});

test("finds and masked entries need what reading the entries needs", async () => {
  const { server, url, id } = await served();
  const { token } = await makeToken(server.directory);
  const elsewhere = { scopes: ["read"], paths: ["sessions/ada/**"] } as const;
  const limited = (await makeToken(server.directory, elsewhere)).token;
  await until(async () => (await fetch(url(""))).status === 401, "a token is required");
  for (const part of ["entries", "finds", "masked"]) {
    const open = await fetch(url(`/${id}/${part}`));
    const admitted = await fetch(url(`/${id}/${part}`), { headers: bearer(token) });
    const other = await fetch(url(`/${id}/${part}`), { headers: bearer(limited) });
    assert.deepEqual([open.status, admitted.status, other.status], [401, 200, 404], part);
  }
  const posted = await fetch(url(`/${id}/finds`), { method: "POST", headers: bearer(token) });
  assert.equal(posted.status, 405);
});
