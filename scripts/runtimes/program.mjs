/**
 * What each runtime does in `npm run test:runtimes` (scripts/test-runtimes.mjs): a user's program.
 * Also built into bundles, so it uses the import paths of the package and nothing else of ours.
 * `main` is not awaited, because a bundle may be CommonJS.
 *
 *     program.mjs all DIRECTORY     everything, with one line of JSON for each step
 *     program.mjs hold LOG          opens the log, prints "held", and keeps it until it is killed
 *     program.mjs open LOG          opens and closes the log, and prints "opened" or the refusal
 *     program.mjs share LOG COUNT   appends so many lines next to other programs
 */

import { openStore } from "verbatim-log";
import { openHistory } from "verbatim-log/history";
import { encodeLine, openLog, readLog } from "verbatim-log/log";
import { resume } from "verbatim-log/resume";
import { verify } from "verbatim-log/signing";
import { openStreams } from "verbatim-log/streams";

const [, , what = "all", path = ".", count = "0"] = process.argv;

/** @param {() => Promise<unknown>} work */
async function outcomeOf(work) {
  try {
    return await work();
  } catch (error) {
    const { code, message } = /** @type {{ code?: string, message?: string }} */ (error);
    return `${code ?? "no code"}: ${message}`;
  }
}

/** "opened", or the code of the refusal. @param {string} log */
async function opening(log) {
  try {
    await (await openLog(log)).close();
    return "opened";
  } catch (error) {
    return /** @type {{ code: string }} */ (error).code;
  }
}

/** @type {Record<string, () => Promise<unknown>>} */
const STEPS = {
  async append() {
    const log = await openLog(`${path}/plain.jsonl`);
    await log.append(encodeLine({ n: 1 }));
    const second = await opening(`${path}/plain.jsonl`);
    await log.close();
    let lines = 0;
    for await (const _ of readLog(`${path}/plain.jsonl`)) lines++;
    return `${lines} line, a second writer gets ${second}`;
  },
  async sign() {
    const store = await openStore({ root: path, sign: true });
    const session = await store.create();
    for (const role of /** @type {const} */ (["user", "assistant"])) {
      const parts = [{ type: /** @type {const} */ ("text"), text: `Hello from the ${role}` }];
      await session.append({ kind: "message", role, parts });
    }
    await store.close();
    id = session.id;
    return (await verify(id, { root: path })).verdict;
  },
  async resume() {
    const { messages } = await resume(id, { root: path, for: "openai-responses" });
    return `${messages.length} messages`;
  },
  async streams() {
    const streams = await openStreams({ root: `${path}/streams` });
    await streams.createStream("/a");
    await streams.append("/a", encodeLine({ n: 1 }));
    const messages = await streams.read("/a");
    await streams.close();
    return `${messages.length} message`;
  },
  async contended() {
    return await opening(`${path}/held.jsonl`);
  },
  async search() {
    let hits = 0;
    for await (const _ of openHistory({ roots: [path] }).search("Hello")) hits++;
    return `${hits} hits`;
  },
};
let id = "";

async function main() {
  if (what === "hold") {
    const log = await openLog(path);
    await log.append(encodeLine({ by: "holder" }));
    console.log("held");
    setInterval(() => {}, 1000);
  } else if (what === "open") {
    console.log(await opening(path));
  } else if (what === "share") {
    const log = await openLog(path, { mode: "shared", lockWaitMs: 60_000 });
    for (let n = 0; n < Number(count); n++) await log.append(encodeLine({ n }));
    await log.close();
  } else {
    for (const [name, step] of Object.entries(STEPS)) {
      console.log(JSON.stringify([name, await outcomeOf(step)]));
    }
  }
}

main();
