/**
 * Real processes, really killed: the recorder that sends, and the server that receives, each with -9
 * at random moments. In the end the server has the bytes of the log, each once.
 */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { test } from "vitest";
import { CliUser } from "../cli/cli.ts";
import { unit } from "../crash/lines.ts";
import { seed, times } from "../support/seed.ts";
import { ServedUser } from "./served-user.ts";

const ROUNDS = 3 * times;
const LIVES_MS_MAX = 700;

test("a session whose sender and server are killed arrives whole, and once", async () => {
  let drawn = 0;
  const random = () => unit(seed, drawn++);
  const user = new CliUser();
  const served = await ServedUser.start();
  const to = `${served.url}/laptop`;
  const args = ["record", "--session", "killed", "--ack", "--sign", "append", "--to", to];
  let path = "";
  let acknowledged = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const running = user.start(args, served.env);
    path = String((await running.json()).path);
    let isAlive = true;
    const feed = async () => {
      for (let n = 0; isAlive; n++) {
        const parts = [{ type: "text", text: `round ${round} line ${n}` }];
        running.write(`${JSON.stringify({ kind: "message", role: "user", parts })}\n`);
        await sleep(1);
      }
    };
    const count = async () => {
      for (let line = await running.line(); line !== null; line = await running.line()) {
        acknowledged = Math.max(acknowledged, (JSON.parse(line) as { offset: number }).offset);
      }
    };
    const work = Promise.all([feed(), count()]);
    await sleep(random() * LIVES_MS_MAX);
    if (random() < 0.5) await served.restart();
    await running.kill();
    isAlive = false;
    await work.catch(() => {}); // Its input is closed.
  }
  const sent = await user.run(["send", "--to", to], { env: served.env });
  assert.deepEqual([sent.code, sent.stderr], [0, ""], `seed ${seed}`);
  const log = readFileSync(path);
  const stream = `/sessions/laptop/verbatim/${path.slice(user.cwd.length + 1)}`;
  const whole = log.subarray(0, log.lastIndexOf("\n") + 1);
  assert.ok(whole.length >= acknowledged && acknowledged > 0);
  assert.deepEqual(await served.stream(stream), whole, `seed ${seed}`);
});
