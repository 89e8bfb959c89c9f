/**
 * Forged beginnings: someone whose key the reader trusts, but who did not sign the log, states a genesis
 * that found nothing unsigned, or found less. By verify, the browser and the page of Python.
 */

import assert from "node:assert/strict";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { VerbatimClient } from "../../src/client/client.ts";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { proveCopy } from "../../src/evidence/prove/prove.ts";
import { loadSigner, type Signer } from "../../src/trust/keys/keys.ts";
import { nodeCrypto } from "../../src/trust/keys/node-crypto.ts";
import { fromHex, toHex } from "../../src/trust/proof/bytes.ts";
import {
  type Checkpoint,
  genesisFields,
  readCheckpoint,
  writeCheckpoint,
} from "../../src/trust/proof/checkpoint.ts";
import { readRecord, spellRecord } from "../../src/trust/proof/disclosure/records.ts";
import { LeafHasher } from "../../src/trust/proof/leaf.ts";
import { judgeCopy } from "../../viewer/src/copy/judge-copy.ts";
import { BytesSource } from "../../viewer/src/proof/bytes-source.ts";
import { checkEnd } from "../../viewer/src/proof/check-end.ts";
import { checkWhole } from "../../viewer/src/proof/check-whole.ts";
import { judgeProofHere } from "../../viewer/src/proof/judge-proof.ts";
import { WebProofCrypto } from "../../viewer/src/proof/web-crypto.ts";
import { newUser, serveSessions } from "../server/sessions/served.ts";
import { disclose, judgeBytes, keysOf, verdictOf as verdictOfCopy } from "../support/disclosing.ts";
import { judge, linesIn, prove, verdictOf, withEnd } from "../support/proving.ts";
import { pythonVerdicts } from "../support/python-page.ts";
import { type SignedShape, SigningUser, turnOf, type Written } from "../support/signing-user.ts";
import { tempDirectory } from "../support/temp-directory.ts";

type Genesis = Checkpoint & { readonly kind: "genesis" };

/** A log with lines from before its first signature, by a signer and another person; both are trusted. */
interface Case {
  readonly signer: Signer;
  readonly other: Signer;
  readonly user: SigningUser;
  readonly reader: SigningUser;
  readonly written: Written;
}

async function caseOf(shape: SignedShape, isOlder: boolean): Promise<Case> {
  const stranger = new SigningUser();
  const other = await loadSigner(nodeHost, stranger.places);
  const user = new SigningUser();
  const written = await user.write(shape, turnOf("before"), { sign: false });
  for (const text of ["one", "two", "three"]) {
    await user.write(shape, turnOf(text), { root: written.target.root });
  }
  const signer = await loadSigner(nodeHost, user.places);
  if (isOlder) await asOlder(written, signer);
  const reader = new SigningUser();
  for (const { publicKey } of [signer, other]) await reader.trusts(publicKey);
  return { signer, other, user, reader, written };
}

const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString("latin1");
const linesOf = (bytes: Uint8Array) => textOf(bytes).split("\n").slice(0, -1);
const hashOf = (text: string) => toHex(nodeCrypto.sha256(Buffer.from(text, "latin1")));

/** The sidecar with checkpoints signed again; `change` alters one before. */
async function resigned(
  { sidecarPath }: Written,
  signer: Signer,
  change: (checkpoint: Checkpoint) => Checkpoint,
): Promise<void> {
  const lines: string[] = [];
  let prev = "0".repeat(64);
  for (const line of linesOf(readFileSync(sidecarPath))) {
    const said = readCheckpoint(Buffer.from(line), "sidecar");
    assert.ok(said);
    const opening = line.slice(0, line.indexOf('"event_type"'));
    const facts = change({ ...said, prev });
    const again = textOf(await writeCheckpoint(opening, facts, (bytes) => signer.sign(bytes)));
    lines.push(again);
    prev = hashOf(again);
  }
  writeFileSync(sidecarPath, lines.join(""));
}

/** As builds wrote it before checkpoint 1 had the hash of genesis' facts. */
async function asOlder(written: Written, signer: Signer): Promise<void> {
  await resigned(written, signer, ({ genesis: _, ...said }) => said as Checkpoint);
}

/** Genesis and checkpoint 1 of a log. */
function beginningOf({ target, path, sidecarPath }: Written): {
  readonly genesis: Genesis;
  readonly line: string;
  readonly first: Checkpoint;
} {
  const isInside = target.dialect === "rye";
  const lines = linesOf(readFileSync(isInside ? path : sidecarPath));
  const checkpoints = lines.flatMap((line) => {
    const said = readCheckpoint(Buffer.from(line, "latin1"), isInside ? "rye" : "sidecar");
    return said ? [{ said, line }] : [];
  });
  const [genesis, first] = checkpoints;
  assert.ok(genesis?.said.kind === "genesis" && genesis.said.found && first);
  return { genesis: genesis.said, line: genesis.line, first: first.said };
}

/** FACTS, as a forger spells them. */
function factsOf(written: Written, lie: Partial<Genesis>): object {
  const { genesis, line } = beginningOf(written);
  const isInside = written.target.dialect === "rye";
  const leaves = new LeafHasher(nodeCrypto, fromHex(genesis.salt), genesis.parts);
  const leaf = isInside ? toHex(leaves.leaf(Buffer.from(line), genesis.tree.size)) : null;
  const facts = genesisFields({ ...genesis, ...lie } as Genesis);
  return { ...facts, line: hashOf(`${line}\n`), leaf };
}

/** The statement of a proof about genesis, signed by its maker. */
async function statedBy(signer: Signer, facts: object): Promise<string> {
  const ts = "2026-02-10T09:00:00.000Z";
  const text = JSON.stringify({ genesis: facts, ts, kid: signer.kid }).slice(0, -1);
  const sig = await signer.sign(Buffer.from(`verbatim/proof-genesis/v1\n${text}`));
  return `${text},"sig":"${Buffer.from(sig).toString("base64url")}"}`;
}

/** A copy whose genesis is stated so, with a statement by that person that fits it. */
async function statedCopy(copy: Buffer, signer: Signer, facts: object): Promise<Buffer> {
  const lines = linesOf(copy);
  const at = lines.findIndex((line) => line.startsWith('{"genesis":'));
  const isOpened = lines[at]?.startsWith('{"genesis":"') === true;
  lines.splice(at, isOpened ? 2 : 1, JSON.stringify({ genesis: facts }));
  lines[0] = lines[0]?.replace('"genesis":"opened"', '"genesis":"stated"') ?? "";
  const last = readRecord(Buffer.from(lines.pop() ?? "", "latin1"));
  assert.ok(last?.is === "statement");
  const body = lines.map((line) => `${line}\n`).join("");
  const { facts: said } = last.statement;
  const fitting = { ...said, genesis: null, bytes: body.length, sha256: hashOf(body) };
  const by = { ...fitting, kid: signer.kid };
  const statement = spellRecord({ is: "statement", statement: { facts: by, sig: EMPTY } });
  const text = statement
    .replace('"genesis":null', `"genesis":${JSON.stringify(facts)}`)
    .slice(0, -SIG_CHARS);
  const sig = await signer.sign(Buffer.from(`verbatim/disclosure/v1\n${text}`));
  const line = `${text},"sig":"${Buffer.from(sig).toString("base64url")}"}`;
  return Buffer.from(`${body}${line}\n`, "latin1");
}

const EMPTY = new Uint8Array(64);
/** `,"sig":"`, 86 characters, `"}`. */
const SIG_CHARS = 96;

/** The verdict of verify on a proof; the browser and Python must agree. */
async function proofVerdict({ reader, signer, other }: Case, proof: Uint8Array): Promise<string> {
  const judged = judge(keysOf(reader), proof);
  const crypto = new WebProofCrypto();
  await crypto.canVerify();
  const here = await judgeProofHere(crypto, proof, keysOf(reader));
  expect(verdictOf(here)).toBe(verdictOf(judged));
  expect(pythonVerdicts([signer.publicKey, other.publicKey], [proof])).toEqual([judged.verdict]);
  return verdictOf(judged);
}

async function copyVerdict({ reader, signer, other }: Case, copy: Buffer): Promise<string> {
  const judged = judgeBytes(keysOf(reader), copy);
  const given = new Map([signer, other].map(({ kid, publicKey }) => [kid, publicKey]));
  const { disclosed } = await judgeCopy(new Blob([new Uint8Array(copy)]), given);
  expect(verdictOfCopy(disclosed)).toBe(verdictOfCopy(judged));
  expect(pythonVerdicts([signer.publicKey, other.publicKey], [copy])).toEqual([judged.verdict]);
  return verdictOfCopy(judged);
}

/** What a forger says: that nothing was found, or that genesis covers nothing. */
const LIES: readonly Partial<Genesis>[] = [
  { found: null },
  { found: null, byteOffset: 0, tree: { size: 0, root: "" } },
];
const numbersOf = ({ path }: Written) => linesIn(readFileSync(path)).map(({ number }) => number);

const ryeCase = () => caseOf({ dialect: "rye" }, false);
const olderCase = () => caseOf({ dialect: "homeagent" }, true);
const boundCase = () => caseOf({ dialect: "homeagent" }, false);

test("the logs are honest, and an older one is judged as it always was", async () => {
  const cases = [await ryeCase(), await olderCase(), await boundCase()];
  for (const each of cases) {
    expect((await each.user.verify(each.written, { isPinned: false })).verdict).toBe("incomplete");
    const { bytes } = await prove(each.user, each.written.target, [1]);
    expect(await proofVerdict(each, bytes)).toBe("incomplete FOUND_UNSIGNED");
    const copy = await disclose(each.user, each.written.target, { finder: () => [] });
    expect(await copyVerdict(each, copy.bytes)).toBe("incomplete FOUND_UNSIGNED");
  }
  const hasHash = ({ written }: Case) => beginningOf(written).first.genesis !== undefined;
  expect(cases.map(hasHash)).toEqual([false, false, true]);
});

test.each([64, 65, 0])(
  "a genesis in the log is never stated, whatever parts says (%i)",
  async (parts) => {
    const rye = await ryeCase();
    const { written, user } = rye;
    const { bytes } = await prove(user, written.target, [1]);
    const [header = "", ...rest] = linesOf(bytes).slice(0, -1);
    const at = rest.findIndex((line) => line.startsWith('{"checkpoint":1}'));
    const line = rest.findIndex((each) => each.startsWith('{"line":'));
    const { genesis, first } = beginningOf(written);
    // As a source without an opened genesis proves a line under it: by checkpoint 1.
    const shown = await pathUnder(rye, rest.slice(line), first.tree.size);
    for (const signer of [rye.other, rye.signer]) {
      const facts = factsOf(written, { found: null, parts });
      const forged = withEnd([
        header.replace(`"parts":${genesis.parts}`, `"parts":${parts}`),
        await statedBy(signer, facts),
        ...rest.slice(at, line),
        ...shown,
      ]);
      expect(await proofVerdict(rye, forged)).toBe("tampered PROOF_MALFORMED");
    }
  },
);

/** A line under genesis with its path to the root of checkpoint 1. */
async function pathUnder({ written }: Case, shown: readonly string[], size: number) {
  const { genesis } = beginningOf(written);
  const hasher = new LeafHasher(nodeCrypto, fromHex(genesis.salt), genesis.parts);
  const log = linesOf(readFileSync(written.path));
  const leaves = log
    .slice(0, size)
    .map((line, n) => hasher.leaf(Buffer.from(line, "latin1"), n).slice());
  const { inclusionRanges, MerkleTree } = await import("../../src/trust/proof/merkle.ts");
  const roots = inclusionRanges(0, size).map(([from, to]) => {
    const tree = new MerkleTree(nodeCrypto);
    for (const leaf of leaves.slice(from, to)) tree.push(leaf);
    return Buffer.from(tree.root()).toString("base64url");
  });
  const [record = "", line = ""] = shown;
  return [record.replace(/"path":"[^"]*"/, `"path":"${roots.join(" ")}"`), line];
}

test("a copy of a log with its checkpoints inside never states genesis", async () => {
  const rye = await ryeCase();
  const { user, written, other, signer } = rye;
  const { bytes } = await disclose(user, written.target, { finder: () => [] });
  for (const by of [other, signer]) {
    const forged = await statedCopy(bytes, by, factsOf(written, { found: null }));
    expect(await copyVerdict(rye, forged)).toBe("tampered DISCLOSURE_MALFORMED");
  }
});

test.each(LIES)(
  "another trusted key states a genesis that counts for nothing (%j)",
  async (lie) => {
    const older = await olderCase();
    const { user, written, other } = older;
    const { bytes } = await prove(user, written.target, [1]);
    const lines = linesOf(bytes).slice(0, -1);
    lines[1] = await statedBy(other, factsOf(written, lie));
    const forged = withEnd(lines);
    expect(await proofVerdict(older, forged)).toBe("incomplete GENESIS_UNCONFIRMED");
    const { findings } = judge(keysOf(older.reader), forged);
    assert.ok(findings[0]?.message.includes(other.kid));

    const copy = await disclose(user, written.target, { finder: () => [] });
    if (lie.tree) return; // The records of a copy are in order, so genesis cannot be moved alone.
    const forgedCopy = await statedCopy(copy.bytes, other, factsOf(written, lie));
    expect(await copyVerdict(older, forgedCopy)).toBe("incomplete GENESIS_UNCONFIRMED");
    const judged = judgeBytes(keysOf(older.reader), forgedCopy);
    assert.ok(judged.findings.some(({ message }) => message.includes(other.kid)));
  },
);

test("lines after checkpoint 1 keep their verdict, whichever key states genesis", async () => {
  const older = await olderCase();
  const { user, written, other } = older;
  const { first } = beginningOf(written);
  const [later = 0] = numbersOf(written).filter((number) => number > first.tree.size);
  const { bytes } = await prove(user, written.target, [later]);
  const lines = linesOf(bytes).slice(0, -1);
  assert.ok(lines[1]?.startsWith('{"checkpoint":1}'), lines[1]);
  const stated = await statedBy(other, factsOf(written, { found: null }));
  const forged = withEnd([lines[0] ?? "", stated, ...lines.slice(1)]);
  expect(await proofVerdict(older, forged)).toBe("verified");
});

test.each(LIES)("checkpoint 1 contradicts a genesis that is not its own (%j)", async (lie) => {
  const bound = await boundCase();
  const { user, written, other, signer } = bound;
  for (const by of [other, signer]) {
    const { bytes } = await prove(user, written.target, [1]);
    const lines = linesOf(bytes).slice(0, -1);
    lines[1] = await statedBy(by, factsOf(written, lie));
    expect(await proofVerdict(bound, withEnd(lines))).toBe("tampered CHAIN_BROKEN");
    lines[1] = await statedBy(by, factsOf(written, {}));
    expect(await proofVerdict(bound, withEnd(lines))).toBe("incomplete FOUND_UNSIGNED");
    if (lie.tree) continue;
    const copy = await disclose(user, written.target, { finder: () => [] });
    const forged = await statedCopy(copy.bytes, by, factsOf(written, lie));
    expect(await copyVerdict(bound, forged)).toBe("tampered CHAIN_BROKEN");
    const honest = await statedCopy(copy.bytes, by, factsOf(written, {}));
    expect(await copyVerdict(bound, honest)).toBe("incomplete FOUND_UNSIGNED");
  }
});

test("a whole log whose checkpoint 1 does not fit its genesis is tampered", async () => {
  const { user, signer, written } = await caseOf({ dialect: "homeagent" }, false);
  await resigned(written, signer, (said) => said);
  expect((await user.verify(written, { isPinned: false })).verdict).toBe("incomplete");
  await resigned(written, signer, (said) => {
    return said.seq === 1 ? { ...said, genesis: "0".repeat(64) } : said;
  });
  const report = await user.verify(written, { isPinned: false });
  expect([report.verdict, report.findings[0]?.code]).toEqual(["tampered", "CHAIN_BROKEN"]);
  // Nowhere else.
  await resigned(written, signer, ({ genesis: _, ...said }) => {
    return (said.seq === 2 ? { ...said, genesis: "0".repeat(64) } : said) as Checkpoint;
  });
  const elsewhere = await user.verify(written, { isPinned: false });
  assert.ok(elsewhere.findings.some(({ code }) => code === "SIDECAR_FOREIGN_BYTES"));
});

test("the browser finds a checkpoint 1 that does not fit its genesis, at once and in the whole", async () => {
  const user = newUser();
  const shape = { dialect: "homeagent" } as const;
  const written = await user.write(shape, ["one", "two", "three"].flatMap(turnOf));
  const signer = await loadSigner(nodeHost, user.places);
  const verdicts = async () => {
    const { server } = await serveSessions([written.target.root]);
    const { sessions } = new VerbatimClient({ url: server.url });
    const [item = assert.fail("it is not listed")] = (await sessions.list()).sessions;
    const { signal } = new AbortController();
    const source = () => new BytesSource(sessions, item, new WebProofCrypto(), signal);
    const checked = [await checkEnd(source(), 1e6), await checkWhole(source(), () => {})];
    return checked.map(({ verdict, findings }) => [verdict, findings[0]?.code]);
  };
  await resigned(written, signer, (said) => said);
  expect(await verdicts()).toEqual([
    ["verified", undefined],
    ["verified", undefined],
  ]);
  await resigned(written, signer, (said) => {
    return said.seq === 1 ? { ...said, genesis: "0".repeat(64) } : said;
  });
  expect(await verdicts()).toEqual([
    ["tampered", "CHAIN_BROKEN"],
    ["tampered", "CHAIN_BROKEN"],
  ]);
});

test("a successor of the key of checkpoint 1 may state genesis of an older log", async () => {
  const shape = { dialect: "homeagent" } as const;
  const user = new SigningUser();
  const written = await user.write(shape, turnOf("before"));
  const first = await loadSigner(nodeHost, user.places);
  for (const text of ["one", "two"]) {
    await user.write(shape, turnOf(text), { root: written.target.root });
  }
  await asOlder(written, first);
  rmSync(join(user.places.stateDirectory, "heads.jsonl")); // It has heads of the newer spelling.
  await user.rotate();
  for (const text of ["three", "four"]) {
    await user.write(shape, turnOf(text), { root: written.target.root });
  }
  const reader = new SigningUser();
  await reader.trusts(first.publicKey);
  const { bytes } = await prove(user, written.target, [1]);
  assert.ok(textOf(bytes).includes('"kind":"rotate"'));
  expect(verdictOf(judge(keysOf(reader), bytes))).toBe("verified");
  expect(pythonVerdicts([first.publicKey], [bytes])).toEqual(["verified"]);
  const copy = await disclose(user, written.target);
  expect(verdictOfCopy(judgeBytes(keysOf(reader), copy.bytes))).toBe("verified");
  // Without the rotation, the new key is another one, even for a reader who trusts it.
  const second = await loadSigner(nodeHost, user.places);
  await reader.trusts(second.publicKey);
  const lines = linesOf(bytes).slice(0, -1);
  const at = lines.findIndex((line) => line.includes('"kind":"rotate"'));
  const cut = withEnd(lines.filter((_, n) => n !== at && n !== at - 1));
  expect(verdictOf(judge(keysOf(reader), cut))).toBe("incomplete GENESIS_UNCONFIRMED");
});

test("the signer of a log does not sign what a stranger's copy says of its beginning", async () => {
  const { user, written, other, signer, reader } = await olderCase();
  const { bytes } = await disclose(user, written.target, { finder: () => [] });
  const forged = await statedCopy(bytes, other, factsOf(written, { found: null }));
  const path = join(tempDirectory(), "a.vbd");
  writeFileSync(path, forged);
  const asked = { entries: [1], context: 0, consistency: null };
  const how = { keys: keysOf(reader), signer, nowMs: () => 1.8e12 };
  const { judgement } = await proveCopy(nodeHost, path, asked, how);
  expect(verdictOf(judgement)).toBe("incomplete GENESIS_ABSENT");
});
