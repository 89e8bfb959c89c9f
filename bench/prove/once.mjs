/**
 * Once: proves a line of a large signed transcript in its own process. Prints the time of the proof,
 * without start-up, the processor time, and megabytes.
 *
 * Plain JavaScript: a TypeScript loader would be counted as our memory.
 */

import { createHash, createPrivateKey, createPublicKey } from "node:crypto";
import { readFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { nodeHost } from "../../dist/core/base/node-host.js";
import { proveLog } from "../../dist/evidence/prove/prove.js";
import { nodeCrypto } from "../../dist/trust/keys/node-crypto.js";

const [path, id, keyPath, indexDirectory, entry] = process.argv.slice(2);
const privateKey = createPrivateKey(readFileSync(keyPath));
const pem = createPublicKey(privateKey).export({ format: "pem", type: "spki" });
const publicKey = Buffer.from(createPublicKey(privateKey).export({ format: "jwk" }).x, "base64url");
const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");
const [kid, fp] = [sha256(publicKey), sha256(pem).slice(0, 16)];
const answer = { publicKey, kid, fp, owner: null, refusal: null };
const keys = { byKid: () => answer, byFp: () => answer };
const target = { dialect: "rye", root: dirname(path), logId: basename(path), id };
const asked = { entries: [Number(entry)], context: 2, consistency: null };

let read = 0;
const began = performance.now();
const start = process.cpuUsage();
const { bytes, judgement } = await proveLog(nodeHost, target, asked, {
  verify: async () => ({ crypto: nodeCrypto, keys }),
  signer: null,
  nowMs: Date.now,
  indexDirectory,
  onProgress: (more) => (read += more),
});
const { user, system } = process.cpuUsage(start);
if (judgement.verdict !== "verified") throw new Error(JSON.stringify(judgement.findings));
process.stdout.write(
  JSON.stringify({
    wall: performance.now() - began,
    ms: (user + system) / 1000,
    read,
    bytes: bytes.length,
    mb: process.resourceUsage().maxRSS / 1024,
  }),
);
