/**
 * Once: reads a large signed transcript once, in its own process, in the requested way: hashing it
 * with node:crypto, verifying it, or verifying it in depth. Prints ms and megabytes.
 *
 * Plain JavaScript: a TypeScript loader would be counted as our memory.
 */

import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { basename, dirname } from "node:path";

const [way, path, id, key, kid, fp] = process.argv.slice(2);
const work = way === "hash" ? hash : verify;
const { verifyLog } = await import("../../dist/trust/judge/verify.js");
const { nodeHost } = await import("../../dist/core/base/node-host.js");
const { nodeCrypto } = await import("../../dist/trust/keys/node-crypto.js");

const start = performance.now();
await work();
const ms = performance.now() - start;
process.stdout.write(JSON.stringify({ ms, mb: process.resourceUsage().maxRSS / 1024 }));

async function hash() {
  const state = createHash("sha256");
  for await (const chunk of createReadStream(path, { highWaterMark: 256 * 1024 })) {
    state.update(chunk);
  }
  state.digest();
}

async function verify() {
  let told = 0;
  const publicKey = Buffer.from(key, "hex");
  const answer = { publicKey, kid, fp, owner: null, refusal: null };
  const { verdict, findings } = await verifyLog(
    nodeHost,
    { dialect: "rye", root: dirname(path), logId: basename(path), id },
    {
      crypto: nodeCrypto,
      keys: { byKid: () => answer, byFp: () => answer },
      isDeep: way === "deep",
      onProgress: () => told++,
    },
  );
  if (verdict !== "verified") throw new Error(JSON.stringify(findings));
  if (told < 100) throw new Error("it reported no progress");
}
