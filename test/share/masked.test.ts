/** Shares of sessions that are not signed: a masked copy, which proves nothing. */

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { MASKED_HEADER } from "../../src/client/masked-copy.ts";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { loadDialects } from "../../src/dialects/all.ts";
import { VerbatimClient } from "../../src/doors/client.ts";
import { allOf } from "../../src/evidence/redact/hits.ts";
import { writeMaskedCopy } from "../../src/evidence/redact/masked-copy.ts";
import { findsOfRules } from "../../src/evidence/redact/scan-finds.ts";
import { entriesNumbered } from "../../src/evidence/redact/text-matches.ts";
import { createShare } from "../../src/evidence/share/create-share.ts";
import { FileShares, SHARES_FOLDER } from "../../src/evidence/share/share-files.ts";
import { CliUser } from "../cli/cli.ts";
import { bearer, makeToken } from "../server/auth/token-user.ts";
import { serveSessions } from "../server/sessions/served.ts";
import { answerRow, promptRow, writeClaude } from "../support/agent-home.ts";
import { refusal } from "../support/refusal.ts";
import { answered, SigningUser, said } from "../support/signing-user.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { HOUR_MS, KEY, OPTIONS, SECRETS, sharer, WITHHOLDING } from "./sharing.ts";

const ENTRIES = [
  said("Where do I send the table?"),
  answered("To 17 Mill Lane, and tell ada@lovelace.org."),
  said(`the key is ${KEY}`),
  answered("I met Ada. Good night."),
];
const FOUND = [...SECRETS, "ada@lovelace.org"];

interface MaskedLine {
  readonly entry?: {
    readonly parts: readonly { readonly text?: string }[];
    readonly native?: object;
  };
  readonly end?: { readonly lines: number; readonly full: number; readonly withheld: object[] };
}

const linesOf = (copy: string) => {
  const [header, ...lines] = copy.trimEnd().split("\n");
  assert.equal(header, MASKED_HEADER);
  return lines.map((line) => JSON.parse(line) as MaskedLine);
};

async function unsigned(dialect: "verbatim" | "rye" = "verbatim") {
  const user = new SigningUser();
  const root = tempDirectory();
  const { target } = await user.write({ dialect }, ENTRIES, { root, sign: false });
  return { root, target };
}

async function served(root: string) {
  const { server } = await serveSessions([root]);
  const admin = (await makeToken(server.directory)).token;
  const client = new VerbatimClient({ url: server.url, token: admin });
  const { sessions } = await client.sessions.list();
  const session = sessions[0]?.id ?? assert.fail();
  return { server, admin, client, session };
}

for (const dialect of ["verbatim", "rye"] as const) {
  test(`an unsigned session of ${dialect} is shared as a copy with its words and without what is found`, async () => {
    const { root } = await unsigned(dialect);
    const { server, client, session } = await served(root);
    const share = await client.share({ session, match: ["Mill Lane", "I met Ada"] });
    assert.deepEqual([share.kind, share.lines, share.full, share.strings], ["masked", 4, 1, 4]);
    const response = await fetch(`${server.url}/v1/share`, { headers: bearer(share.token) });
    const copy = await response.text();
    for (const secret of FOUND) assert.ok(!copy.includes(secret), secret);
    const texts = linesOf(copy).map(({ entry }) => entry?.parts[0]?.text);
    assert.deepEqual(texts.slice(0, 4), [
      "Where do I send the table?",
      "To 17 [withheld], and tell [email].",
      "the key is [key]",
      "[withheld]. Good night.",
    ]);
    assert.ok(!copy.includes("native"), "a copy has what people read, not the lines");
  });
}

test("the session of an agent is shared from its own file, which stays as it was", async () => {
  new SigningUser();
  const root = tempDirectory();
  const content = [{ type: "text", text: `I wrote to ada@lovelace.org with ${KEY}` }];
  const rows = [promptRow("Write to Ada", { at: 1e12 }), answerRow("a", { at: 1e12 + 1, content })];
  const path = writeClaude(root, "-home-me-app/s1.jsonl", rows);
  const before = readFileSync(path);
  const { client, session } = await served(join(root, ".claude"));
  const share = await client.share({ session });
  assert.deepEqual([share.kind, share.strings], ["masked", 2]);
  assert.deepEqual(readFileSync(path), before);
});

test("a line in which only its reader's text has a key is not shown, and the rule is named", async () => {
  new SigningUser();
  const root = tempDirectory();
  const uuid = "01a1edf4-dad9-7c60-973b-9250fc9ef1ef";
  const [hello, ...halves] = ["Hello", `its key is ${KEY.slice(0, 20)}`, KEY.slice(20)].map(
    (text) => ({ type: "input_text", text }),
  );
  const rows = [
    ["session_meta", { id: uuid, cwd: "/home/me/app", originator: "codex_exec" }],
    ["response_item", { type: "message", role: "user", content: [hello] }],
    ["response_item", { type: "function_call_output", call_id: "c", output: halves }],
  ].map(([type, payload]) => {
    return `${JSON.stringify({ timestamp: "2026-11-18T09:20:09.701Z", type, payload })}\n`;
  });
  const directory = join(root, ".codex/sessions/2026/11/18");
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, `rollout-2026-11-18T09-20-09-${uuid}.jsonl`), rows.join(""));
  const { client, session } = await served(join(root, ".codex"));
  const copy = Buffer.from(await client.previewShare({ session })).toString();
  assert.ok(copy.includes("Hello") && !copy.includes(KEY) && !copy.includes("its key is"), copy);
  assert.match(copy, /"withheld":\{"rule":"github"/);
});

test("a preview is the copy that the same request shares, and nothing of it is kept", async () => {
  for (const root of [(await unsigned()).root, (await sharer()).root]) {
    const { server, admin, client, session } = await served(root);
    const asked = { session, match: ["Mill Lane", "I met Ada"] };
    const preview = Buffer.from(await client.previewShare(asked)).toString();
    for (const secret of SECRETS) assert.ok(!preview.includes(secret), secret);
    assert.ok(!existsSync(join(server.directory, SHARES_FOLDER)));
    const share = await client.share(asked);
    const headers = bearer(share.token);
    const copy = await (await fetch(`${server.url}/v1/share`, { headers })).text();
    const unstated = (text: string) => text.slice(0, text.lastIndexOf('{"statement"')); // Its time.
    if (share.kind === "masked") assert.equal(preview, copy);
    else assert.equal(unstated(preview), unstated(copy));
    const kept = readdirSync(join(server.directory, SHARES_FOLDER));
    assert.equal(kept.filter((name) => name.endsWith(".vbd")).length, 1);
    const listed = await fetch(`${server.url}/v1/shares`, { headers: bearer(admin) });
    assert.equal(((await listed.json()) as { shares: object[] }).shares.length, 1);
  }
});

test("a signed session is read masked, too, by those who may read it", async () => {
  const { client, session } = await served((await sharer()).root);
  const copy = Buffer.from(await client.sessions.masked(session)).toString();
  assert.equal(linesOf(copy).at(-1)?.end?.lines, 5);
  assert.ok(copy.includes("the key is [key]") && !copy.includes(KEY));
});

test("an altered session is shared neither disclosed nor masked", async () => {
  const { written, root } = await sharer();
  const text = readFileSync(written.path, "utf8");
  writeFileSync(written.path, text.replace("Good night.", "Good light."));
  const { client, session, server } = await served(root);
  await assert.rejects(client.share({ session }), /tampered/);
  assert.deepEqual(await new FileShares(nodeHost, server.directory, Date.now).list(), []);
});

test("of a rule that does not exist, nothing is shared", async () => {
  await loadDialects();
  const { target: session } = await unsigned();
  const shares = new FileShares(nodeHost, tempDirectory(), Date.now);
  const withholding = { ...WITHHOLDING, rules: ["nope"] };
  const asked = { session, withholding, expiresAtMs: Date.now() + HOUR_MS };
  await refusal(createShare(nodeHost, shares, asked, OPTIONS), "BAD_SETTING");
  assert.deepEqual(await shares.list(), []);
});

test("the example of the page is what the real code writes", async () => {
  const user = new SigningUser();
  const entries = [said("Write to ada@lovelace.org"), answered("I met Ada")];
  const { target } = await user.write({ dialect: "sdk" }, entries, { sign: false, id: "demo/1" });
  const pieces: Buffer[] = [];
  const finder = allOf(await findsOfRules(["email"]), entriesNumbered(new Set([2])));
  await writeMaskedCopy(nodeHost, target, {
    finder,
    reason: "withheld before sharing",
    onPlace: () => {},
    out: (bytes) => void pieces.push(Buffer.from(bytes)),
  });
  const page = readFileSync("docs/formats/share.md", "utf8");
  const example = /```jsonl masked-copy\n([^`]+)```/.exec(page)?.[1] ?? "";
  const timeless = (text: string) => text.replace(/"\d{4}-[^"]+Z"/g, '"T"');
  assert.equal(timeless(Buffer.concat(pieces).toString()), timeless(example));
});

test("the commands say that a masked copy proves nothing, whatever its name is", async () => {
  const { root } = await unsigned();
  const { client, session } = await served(root);
  const copy = Buffer.from(await client.previewShare({ session }));
  const user = new CliUser();
  for (const name of ["copy.vbd", "copy"]) {
    writeFileSync(join(user.cwd, name), copy);
    const verified = await user.run(["verify", name]);
    assert.match(verified.stdout, /copy[^:]*: unsigned/);
    assert.match(verified.stdout, /masked copy .* proves nothing/);
    const json = await user.run(["verify", name, "--json"]);
    assert.deepEqual(json.code, verified.code);
    assert.equal(JSON.parse(json.stdout).findings[0].code, "UNSIGNED");
    const shown = await user.run(["show", name]);
    assert.match(shown.stderr, /is a masked copy, which the viewer shows.*NOT_VERIFIED/);
    assert.equal(shown.stdout, "");
    const unpacked = await user.run(["import", name]);
    assert.match(unpacked.stderr, /masked|disclosed copy/);
  }
});
