/** Signed streams, backup and check, as commands: what they print, and with which code they end. */

import assert from "node:assert/strict";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { CliUser, jsonLines, type Running } from "./cli.ts";

const headers = { "Content-Type": "application/json" };

async function urlOf(running: Running): Promise<string> {
  for (;;) {
    const line = await running.line();
    if (line === null) assert.fail(`it ended: ${running.stderr}`);
    const [url] = /http:\/\/[^\s/]+/.exec(line) ?? [];
    if (url !== undefined) return url;
  }
}

test("a server signs, is backed up while it runs, and its backup is verified, examined and served", {
  timeout: 120_000,
}, async () => {
  const user = new CliUser();
  const [data, copy] = [join(user.cwd, "data"), join(user.cwd, "copy")];
  const running = user.start(["serve", "--sign", "--port", "0", "--data", data]);
  const stream = `${await urlOf(running)}/v1/stream/chat/1`;
  await fetch(stream, { method: "PUT", headers });
  await fetch(stream, { method: "POST", headers, body: '{"n":1}' });
  const close = { ...headers, "Stream-Closed": "true" };
  await fetch(stream, { method: "POST", headers: close, body: '{"n":2}' });

  const busy = await user.run(["verify", data]);
  assert.equal(busy.code, 7, busy.stdout);
  assert.match(busy.stdout, /NEEDS_RECOVERY/);
  const checkedBusy = await user.run(["serve", "--check", data]);
  assert.equal(checkedBusy.code, 7);
  assert.match(checkedBusy.stderr, /in use.*LOG_LOCKED/s);
  const backedUp = await user.run(["backup", copy, "--data", data, "--json"]);
  assert.equal(backedUp.code, 0, backedUp.stderr);
  assert.equal(jsonLines(backedUp.stdout)[0]?.streams, 1);
  const again = await user.run(["backup", copy, "--data", data]);
  assert.equal(again.code, 7);
  assert.match(again.stderr, /something is in it.*BACKUP_REFUSED/s);
  running.signal("SIGTERM");
  assert.equal(await running.exitCode(), 0);

  const verified = await user.run(["verify", data, "--json"]);
  assert.equal(verified.code, 0, verified.stdout);
  const [report] = jsonLines(verified.stdout);
  assert.deepEqual([report?.session, report?.verdict], ["/chat/1", "verified"]);
  const sound = await user.run(["serve", "--check", copy]);
  assert.deepEqual([sound.code, sound.stdout], [0, "1 streams examined: no damage\n"]);

  const restored = user.start(["serve", "--port", "0", "--data", copy]);
  const answer = await fetch(`${await urlOf(restored)}/v1/stream/chat/1`);
  assert.equal(await answer.text(), '[{"n":1},{"n":2}]');
  restored.signal("SIGTERM");
  assert.equal(await restored.exitCode(), 0);

  const log = join(data, "logs/chat__1.jsonl");
  writeFileSync(log, readFileSync(log, "utf8").replace("1", "3"));
  const damaged = await user.run(["serve", "--check", data, "--json"]);
  assert.equal(damaged.code, 1);
  const [finding, summary] = jsonLines(damaged.stdout);
  assert.deepEqual([finding?.code, finding?.file], ["BYTES_DAMAGED", "logs/chat__1.jsonl"]);
  assert.deepEqual(summary, { summary: { streams: 1, damages: 1, notes: 0 } });
  assert.equal((await user.run(["verify", data])).code, 1);
  appendFileSync(log, "\n");
  assert.equal((await user.run(["verify", data, "--lenient"])).code, 1);
});
