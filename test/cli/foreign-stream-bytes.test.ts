/** Another program appends to a stream's file: what server, doctor and repair answer. */

import assert from "node:assert/strict";
import { appendFileSync, cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { JSON_TYPE, StreamUser, urlOf } from "./stream-user.ts";

test("bytes that another program appended to a stream are moved aside by repair", async () => {
  const user = new StreamUser();
  await user.serve(["/chat/1"]);
  const log = join(user.data, "logs/chat__1.jsonl");
  const whole = readFileSync(log, "utf8");
  appendFileSync(log, '{"foreign":1}\n');
  const examined = await user.run(["doctor", user.data]);
  assert.match(
    examined.stdout,
    /FILE_TOO_LONG.*\n.*\n {4}`verbatim doctor --fix` on the directory/,
  );

  const dry = await user.run(["doctor", "--fix", user.data, "--dry-run"]);
  assert.match(dry.stdout, /would mend error FILE_TOO_LONG/);
  assert.equal(readFileSync(log, "utf8"), `${whole}{"foreign":1}\n`);
  const repaired = await user.run(["doctor", "--fix", user.data]);
  assert.deepEqual([repaired.code, repaired.stderr], [0, ""]);
  assert.match(repaired.stdout, /mended FILE_TOO_LONG: cut off 14 bytes .* chat__1\.jsonl\.torn-0/);
  assert.equal(readFileSync(log, "utf8"), whole);
  assert.equal(readFileSync(`${log}.torn-0`, "utf8"), '{"foreign":1}\n');
  assert.equal((await user.run(["doctor", user.data])).code, 0);
  await user.serve(["/chat/1"]);
  assert.equal(readFileSync(log, "utf8"), whole + whole);
});

test("a stream with foreign bytes between its own is left as it is", async () => {
  const user = new StreamUser();
  await user.serve(["/chat/1"]);
  const log = join(user.data, "logs/chat__1.jsonl");
  const displaced = `{"foreign":1}\n${readFileSync(log, "utf8")}`;
  writeFileSync(log, displaced);
  const { code, stdout } = await user.run(["doctor", "--fix", user.data]);
  assert.equal(code, 1);
  const restore = "restore the directory from a backup";
  assert.match(
    stdout,
    new RegExp(`left error BYTES_DAMAGED(.|\n)*left error FILE_TOO_LONG.*: ${restore}`),
  );
  assert.equal(readFileSync(log, "utf8"), displaced);
  const examined = await user.run(["doctor", user.data]);
  assert.doesNotMatch(examined.stdout, /repair/);
});

test("bytes after the end of a stream are left if acknowledged commits were lost", async () => {
  const user = new StreamUser();
  await user.serve(["/chat/1"]);
  const before = join(user.cwd, "before");
  cpSync(user.data, before, { recursive: true });
  await user.serve(["/chat/1"]);
  for (const name of ["meta.jsonl", "journal"]) {
    rmSync(join(user.data, name), { recursive: true });
    cpSync(join(before, name), join(user.data, name), { recursive: true });
  }
  const { code, stdout } = await user.run(["doctor", "--fix", user.data]);
  assert.equal(code, 1);
  assert.match(stdout, /left error JOURNAL_DAMAGED(.|\n)*left error FILE_TOO_LONG/);
  assert.match(readFileSync(join(user.data, "logs/chat__1.jsonl"), "utf8"), /^(.+\n){2}$/);
});

test("after another program wrote to a stream of a running server, nothing is lost, and repair lets it continue", async () => {
  const user = new StreamUser();
  let running = user.start(["serve", "--sign", "--port", "0", "--data", user.data]);
  let url = `${await urlOf(running)}/v1/stream`;
  const post = async (path: string, n: number) => {
    const init = { method: "POST", headers: JSON_TYPE, body: JSON.stringify({ n }) };
    const answer = await fetch(url + path, init);
    return [answer.status, await answer.text()] as const;
  };
  const text = async (path: string) => (await fetch(url + path)).text();
  for (const path of ["/a", "/b"]) {
    await fetch(url + path, { method: "PUT", headers: JSON_TYPE });
    assert.equal((await post(path, 1))[0], 204);
  }
  appendFileSync(join(user.data, "logs/a.jsonl"), '{"foreign":1}\n');
  const [status, refusal] = await post("/a", 2);
  assert.equal(status, 500);
  assert.match(
    refusal,
    /STREAM_DAMAGED.*stop the server, and run `verbatim doctor --fix` on its dir/,
  );
  assert.equal(await text("/a"), '[{"n":1}]');
  assert.equal((await post("/b", 2))[0], 204, "other streams continue");
  for (const fix of [[], ["--fix"]]) {
    assert.match(
      (await user.run(["doctor", ...fix, user.data])).stderr,
      /in use by a server.*stop it/,
    );
  }
  running.signal("SIGTERM");
  assert.equal(await running.exitCode(), 0);

  const examined = await user.run(["doctor", user.data]);
  assert.match(
    examined.stdout,
    /FILE_TOO_LONG.*\n.*\n {4}`verbatim doctor --fix` on the directory/,
  );
  assert.equal((await user.run(["doctor", "--fix", user.data])).code, 0);
  running = user.start(["serve", "--sign", "--port", "0", "--data", user.data]);
  url = `${await urlOf(running)}/v1/stream`;
  assert.equal((await post("/a", 2))[0], 204);
  assert.deepEqual([await text("/a"), await text("/b")], Array(2).fill('[{"n":1},{"n":2}]'));
  running.signal("SIGTERM");
  assert.equal(await running.exitCode(), 0);
  assert.deepEqual(await user.verdicts(), { "/a": "verified", "/b": "verified" });
});
