/**
 * Real processes, really killed: the recorder that sends, and the server that receives, each with -9
 * after a random number of lines. In the end the server has the bytes of the log, each once.
 */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "vitest";
import { CliUser } from "../cli/cli.ts";
import { unit } from "../crash/lines.ts";
import { seed, times } from "../support/seed.ts";
import { until } from "../support/until.ts";
import { SENT, ServedUser } from "./served-user.ts";

const ROUNDS = 3 * times;
/** Lines that are acknowledged before the recorder is killed. */
const LINES_MAX = 100;
const AHEAD = 4;

test("a session whose sender and server are killed arrives whole, and once", async () => {
  let drawn = 0;
  const random = () => unit(seed, drawn++);
  const user = new CliUser();
  const served = await ServedUser.start();
  const to = `${served.url}/laptop`;
  const streamOf = (path: string) => {
    return `${SENT}/verbatim/${path.slice(user.cwd.length + 1)}`;
  };
  const args = ["record", "--session", "killed", "--ack", "--sign", "append", "--to", to];
  let path = "";
  let acknowledged = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const running = user.start(args, served.env);
    path = String((await running.json()).path);
    const sentBytes = async () => (await served.stream(streamOf(path)))?.length ?? 0;
    const before = await sentBytes();
    const acknowledge = (line: string | null) => {
      const { offset } = JSON.parse(line ?? assert.fail(running.stderr)) as { offset: number };
      acknowledged = Math.max(acknowledged, offset);
    };
    const feed = async (lines: number) => {
      for (let n = 0; n < lines; n++) {
        // A few ahead, so that it is killed at work.
        const parts = [{ type: "text", text: `round ${round} line ${n}` }];
        running.write(`${JSON.stringify({ kind: "message", role: "user", parts })}\n`);
        if (n >= AHEAD) acknowledge(await running.line());
      }
    };
    await feed(AHEAD + 1 + Math.floor(random() * LINES_MAX));
    if (random() < 0.5) await Promise.all([served.restart(), feed(LINES_MAX)]);
    // Half of them are killed once lines of this round arrive, the others perhaps before.
    const arrive = () => until(async () => (await sentBytes()) > before, "lines arrive");
    if (random() < 0.5) await Promise.all([arrive(), feed(LINES_MAX)]);
    const killed = running.kill();
    for (let line = await running.line(); line !== null; line = await running.line()) {
      acknowledge(line);
    }
    await killed;
  }
  const sent = await user.run(["guard", "send", "--to", to], { env: served.env });
  assert.deepEqual([sent.code, sent.stderr], [0, ""], `seed ${seed}`);
  const log = readFileSync(path);
  const whole = log.subarray(0, log.lastIndexOf("\n") + 1);
  assert.ok(whole.length >= acknowledged && acknowledged > 0);
  assert.deepEqual(await served.stream(streamOf(path)), whole, `seed ${seed}`);
});
