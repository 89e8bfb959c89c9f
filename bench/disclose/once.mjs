/**
 * Once: verifies a large signed transcript in depth, writes its disclosed copy, or verifies that
 * copy, in its own process. Prints processor time in ms, and megabytes.
 *
 * Plain JavaScript: a TypeScript loader would be counted as our memory.
 */

import { createHash, createPrivateKey, createPublicKey, sign } from "node:crypto";
import { closeSync, createReadStream, openSync, readFileSync, writeSync } from "node:fs";
import { basename, dirname } from "node:path";
import { nodeHost } from "../../dist/core/base/node-host.js";
import { redactLog } from "../../dist/evidence/redact/redact.js";
import { matching } from "../../dist/evidence/redact/text-matches.js";
import { verifyLog } from "../../dist/trust/judge/verify.js";
import { nodeCrypto } from "../../dist/trust/keys/node-crypto.js";
import { DisclosureJudge } from "../../dist/trust/proof/disclosure/judge.js";

const [way, path, id, keyPath, copyPath] = process.argv.slice(2);
const privateKey = createPrivateKey(readFileSync(keyPath));
const pem = createPublicKey(privateKey).export({ format: "pem", type: "spki" });
const publicKey = Buffer.from(createPublicKey(privateKey).export({ format: "jwk" }).x, "base64url");
const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");
const [kid, fp] = [sha256(publicKey), sha256(pem).slice(0, 16)];
const answer = { publicKey, kid, fp, owner: null, refusal: null };
const keys = { byKid: () => answer, byFp: () => answer };
const target = { dialect: "rye", root: dirname(path), logId: basename(path), id };
const verifying = { crypto: nodeCrypto, keys, isDeep: true };

const start = process.cpuUsage();
await { deep, redact, check }[way]();
const { user, system } = process.cpuUsage(start);
const ms = (user + system) / 1000;
process.stdout.write(JSON.stringify({ ms, mb: process.resourceUsage().maxRSS / 1024 }));

async function deep() {
  const { verdict, findings } = await verifyLog(nodeHost, target, verifying);
  if (verdict !== "verified") throw new Error(JSON.stringify(findings));
}

async function redact() {
  const file = openSync(copyPath, "w");
  const signer = { publicKey, kid, fp, sign: async (bytes) => sign(null, bytes, privateKey) };
  const { withheld } = await redactLog(nodeHost, target, {
    verify: verifying,
    finder: matching(["the secret word"]),
    reason: "a bench",
    signer,
    nowMs: Date.now,
    out: (bytes) => writeSync(file, bytes),
  });
  closeSync(file);
  if (withheld.length !== 1 || withheld[0].strings === 0) throw new Error("nothing was withheld");
}

async function check() {
  const judge = new DisclosureJudge({ crypto: nodeCrypto, keys, pinnedSeqOf: () => null });
  for await (const chunk of createReadStream(copyPath, { highWaterMark: 256 * 1024 })) {
    judge.feed(chunk);
  }
  const { verdict, findings, counts } = judge.finish();
  if (verdict !== "verified" || counts.strings === 0) throw new Error(JSON.stringify(findings));
}
