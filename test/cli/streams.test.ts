/** Commands on signed streams, backup and check: their output and exit codes. */

import assert from "node:assert/strict";
import { appendFileSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { CliUser, jsonLines } from "./cli.ts";
import { JSON_TYPE, StreamUser, urlOf } from "./stream-user.ts";

const headers = JSON_TYPE;

test("a stream without a message is backed up, and reported as empty by verify", async () => {
  const user = new CliUser();
  const running = user.start(["serve", "--port", "0", "--data", "data"]);
  await fetch(`${await urlOf(running)}/v1/stream/s`, { method: "PUT", headers });
  running.signal("SIGTERM");
  assert.equal(await running.exitCode(), 0);
  const backedUp = await user.run(["server", "backup", "copy", "--data", "data"]);
  assert.match(backedUp.stdout, /^1 stream, /);
  const { code, stdout, stderr } = await user.run(["verify", "copy"]);
  assert.deepEqual([code, stdout], [2, ""]);
  assert.match(stderr, /^1 empty stream: nothing to verify\n.*no stream with a message was found/);
});

test("backup without a data directory says how to name it", async () => {
  const user = new CliUser();
  mkdirSync(join(user.cwd, "other"));
  for (const [args, said] of [
    [[], /verbatim: there is no such directory; name the data directory of a server with --data/],
    [["--data", "other"], /it has no meta.jsonl; name the data directory of a server with --data/],
  ] as const) {
    const { code, stderr } = await user.run(["server", "backup", "copy", ...args]);
    assert.equal(code, 7);
    assert.match(stderr, said);
  }
});

test("a server signs and is backed up while it runs, and its backup is verified, examined and served", async () => {
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
  const backedUp = await user.run(["server", "backup", copy, "--data", data, "--json"]);
  assert.equal(backedUp.code, 0, backedUp.stderr);
  assert.equal(jsonLines(backedUp.stdout)[0]?.streams, 1);
  const again = await user.run(["server", "backup", copy, "--data", data]);
  assert.equal(again.code, 7);
  assert.match(again.stderr, /it is not empty.*BACKUP_REFUSED/s);
  running.signal("SIGTERM");
  assert.equal(await running.exitCode(), 0);

  const verified = await user.run(["verify", data, "--json"]);
  assert.equal(verified.code, 0, verified.stdout);
  const [report] = jsonLines(verified.stdout);
  assert.deepEqual([report?.session, report?.verdict], ["/chat/1", "verified"]);
  const sound = await user.run(["serve", "--check", copy]);
  assert.deepEqual([sound.code, sound.stdout], [0, "looked at 1 stream: nothing found\n"]);

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
  const examined = await user.run(["doctor", data]);
  assert.equal(examined.code, 1);
  assert.match(
    examined.stdout,
    /^\/chat\/1 {2}.*\/logs\/chat__1.jsonl\n {2}error BYTES_DAMAGED: at/,
  );
  assert.match(examined.stdout, /\n {4}restore the directory from a backup\n/);
  const found = jsonLines((await user.run(["doctor", data, "--json"])).stdout);
  assert.deepEqual(
    [found[0]?.session, found[0]?.severity, found[0]?.path],
    ["/chat/1", "error", log],
  );
  const repaired = await user.run(["doctor", "--fix", data]);
  assert.equal(repaired.code, 1);
  assert.match(repaired.stdout, /left error BYTES_DAMAGED.*: restore the directory from a backup/);
  assert.equal((await user.run(["verify", data])).code, 1);
  appendFileSync(log, "\n");
  assert.equal((await user.run(["verify", data, "--lenient"])).code, 1);
});

test("readers report appends that a killed server left only in its journal", async () => {
  const user = new StreamUser();
  const running = user.start(["serve", "--port", "0", "--data", user.data]);
  const stream = `${await urlOf(running)}/v1/stream/chat`;
  await fetch(stream, { method: "PUT", headers });
  const say = async (content: string) => {
    const body = JSON.stringify({ role: "user", content });
    assert.equal((await fetch(stream, { method: "POST", headers, body })).status, 204);
  };
  await say("the first words");
  await say("the last words");
  await running.kill();
  // A power cut can remove bytes from the file that were synced only in the journal.
  const log = join(user.data, "logs/chat.jsonl");
  const [first = "", last = ""] = readFileSync(log, "utf8").split("\n");
  writeFileSync(log, `${first}\n`);
  const where = ["--root", user.data, "--dialect", "streams"];
  const left = new RegExp(`warning: ${last.length + 1} bytes .* in the journal of .*serve --data`);
  const [shown, listed, found] = [
    await user.run(["show", "/chat", ...where]),
    await user.run(["ls", ...where]),
    await user.run(["search", "words", ...where]),
  ];
  for (const { code, stderr } of [shown, listed, found]) {
    assert.equal(code, 0, stderr);
    assert.match(stderr, left);
  }
  assert.match(shown.stdout, /the first words/);
  assert.doesNotMatch(shown.stdout, /the last words/);
  const verified = await user.run(["verify", user.data]);
  assert.equal(verified.code, 7);
  assert.match(verified.stdout, new RegExp(`${last.length + 1} bytes of streams are in the jour`));

  await user.serve([]);
  const recovered = await user.run(["show", "/chat", ...where]);
  assert.deepEqual([recovered.code, recovered.stderr], [0, ""]);
  assert.match(recovered.stdout, /the last words/);
});

test("search finds words in streams and forks, and not in deleted streams", async () => {
  const user = new StreamUser();
  const running = user.start(["serve", "--port", "0", "--data", user.data]);
  const url = `${await urlOf(running)}/v1/stream`;
  const say = async (path: string, content: string) => {
    await fetch(`${url}${path}`, { method: "PUT", headers });
    const body = JSON.stringify({ role: "user", content });
    assert.equal((await fetch(`${url}${path}`, { method: "POST", headers, body })).status, 204);
  };
  await say("/chat", "a heron by the river");
  await say("/gone", "a heron in the past");
  await fetch(`${url}/gone`, { method: "DELETE" });
  const fork = { ...headers, "Stream-Forked-From": "/v1/stream/chat" };
  assert.equal((await fetch(`${url}/fork`, { method: "PUT", headers: fork })).status, 201);
  await say("/fork", "an otter in the fork");
  const search = async (...words: string[]) => {
    const where = ["--root", user.data, "--dialect", "streams", "--json"];
    const { code, stdout, stderr } = await user.run(["search", ...words, ...where]);
    return {
      code,
      sessions: jsonLines(stdout)
        .map(({ session }) => session)
        .sort(),
      stderr,
    };
  };
  // While the server runs, and after it was stopped.
  for (const isStopped of [false, true]) {
    if (isStopped) running.signal("SIGTERM");
    if (isStopped) assert.equal(await running.exitCode(), 0);
    const otter = await search("otter");
    assert.deepEqual([otter.code, otter.sessions, otter.stderr], [0, ["/fork"], ""]);
    assert.deepEqual((await search("heron")).sessions, ["/chat", "/fork"]);
    assert.equal((await search("past")).code, 1);
  }
});

test("a stream shorter than its checkpoints cover is signed again after `keys head accept", async () => {
  const user = new StreamUser();
  const copy = join(user.cwd, "copy");
  await user.serve(["/chat/1"], "--sign");
  cpSync(user.data, copy, { recursive: true });
  await user.serve(["/chat/1"], "--sign");
  const checkpoints = "logs/chat__1.jsonl.checkpoints";
  cpSync(join(user.data, checkpoints), join(copy, checkpoints)); // Restored by hand, and incompletely.
  rmSync(user.data, { recursive: true });
  cpSync(copy, user.data, { recursive: true });
  assert.deepEqual(await user.verdicts(), { "/chat/1": "rollback LOG_SHORTER_THAN_SIDECAR" });
  assert.match(
    await user.serve(["/chat/1"], "--sign"),
    /is rollback and is not signed any further/,
  );
  rmSync(user.data, { recursive: true });
  cpSync(copy, user.data, { recursive: true });

  const accept = await user.run([
    "keys",
    "head",
    "accept",
    "/chat/1",
    "--yes",
    "--root",
    user.data,
  ]);
  assert.equal(accept.code, 0, accept.stderr);
  assert.deepEqual(await user.verdicts(), { "/chat/1": "verified" });
  await user.serve(["/chat/1"], "--sign");
  assert.deepEqual(await user.verdicts(), { "/chat/1": "verified" });
  assert.equal((await user.run(["serve", "--check", user.data])).code, 0);
});

test("streams restored from an older backup are signed again after their lost head is accepted", async () => {
  const user = new StreamUser();
  const copy = join(user.cwd, "copy");
  await user.serve(["/chat/1", "/raw"], "--sign");
  assert.equal((await user.run(["server", "backup", copy, "--data", user.data])).code, 0);
  await user.serve(["/chat/1", "/raw", "/new"], "--sign");
  rmSync(user.data, { recursive: true });
  cpSync(copy, user.data, { recursive: true });
  const rolledBack = { "/chat/1": "rollback BEHIND", "/raw": "rollback BEHIND" };
  assert.deepEqual(await user.verdicts(), { ...rolledBack, "/new": "rollback BEHIND" });
  // The backup itself is also older than the pinned heads.
  assert.deepEqual(await user.verdicts(copy), rolledBack);

  const where = ["--root", user.data];
  const asked = await user.run(["keys", "head", "accept", "/chat/1", ...where]);
  assert.equal(asked.code, 2, "there is no terminal to ask at");
  assert.match(asked.stderr, /checkpoint 2 of \/chat\/1 is lost/);
  const accepted = await user.run(["keys", "head", "accept", "chat/1", "/raw", "--yes", ...where]);
  assert.equal(accepted.code, 0, accepted.stderr);
  assert.match(accepted.stdout, /^accepted \/chat\/1 at checkpoint 1\naccepted \/raw at /);
  const gone = await user.run(["keys", "head", "accept", "/new", "--yes", ...where]);
  assert.equal(gone.code, 7);
  assert.match(gone.stderr, /no stream \/new; `verbatim keys head forget` .*STREAM_NOT_FOUND/s);
  assert.equal((await user.run(["keys", "head", "forget", "/new", ...where])).code, 0);
  assert.deepEqual(await user.verdicts(), { "/chat/1": "verified", "/raw": "verified" });

  const said = await user.serve(["/chat/1", "/raw", "/new"], "--sign");
  assert.doesNotMatch(said, /not signed/);
  const all = { "/chat/1": "verified", "/new": "verified", "/raw": "verified" };
  assert.deepEqual(await user.verdicts(), all);
  const checkpoints = readFileSync(join(user.data, "logs/chat__1.jsonl.checkpoints"), "utf8");
  const last = JSON.parse(checkpoints.trim().split("\n").at(-1) ?? "") as {
    payload: { kind: string; lost: { seq: number } };
  };
  assert.deepEqual(
    [last.payload.kind, last.payload.lost.seq],
    ["recovery", 2],
    "the loss is recorded",
  );
  const again = await user.run(["keys", "head", "accept", "/raw", ...where]);
  assert.deepEqual([again.code, again.stdout], [0, ""], "there is nothing to accept any more");
});

test("a backup that is served in another directory can be accepted there", async () => {
  const user = new StreamUser();
  const copy = join(user.cwd, "copy");
  await user.serve(["/s"], "--sign");
  assert.equal((await user.run(["server", "backup", copy, "--data", user.data])).code, 0);
  await user.serve(["/s"], "--sign");
  user.data = copy;
  assert.deepEqual(await user.verdicts(), { "/s": "rollback BEHIND" });
  assert.match(await user.serve(["/s"], "--sign"), /\/s is not signed any further: .*rollback/);
  const accepted = await user.run(["keys", "head", "accept", "/s", "--yes", "--root", copy]);
  assert.equal(accepted.code, 0, accepted.stderr);
  assert.doesNotMatch(await user.serve(["/s"], "--sign"), /not signed/);
  // Bytes from before it was accepted were found unsigned.
  assert.deepEqual(await user.verdicts(), { "/s": "incomplete FOUND_UNSIGNED" });
});

test("unsigned content of a stream is shown, and the stream is verified after a user vouches for it", async () => {
  const user = new StreamUser();
  await user.serve(["/chat/1", "/raw"]); // Unsigned from the start.
  await user.serve(["/chat/1", "/raw"], "--sign");
  await user.serve(["/chat/1", "/raw"]); // Unsigned again.
  const verdicts = await user.verdicts();
  const unsigned = "incomplete FOUND_UNSIGNED"; // It also has an unsigned tail.
  assert.deepEqual(verdicts, { "/chat/1": unsigned, "/raw": unsigned });
  const codeOf = async (...flags: string[]) =>
    (await user.run(["verify", user.data, ...flags])).code;
  assert.deepEqual([await codeOf(), await codeOf("--lenient")], [5, 0]);
  const vouch = ["doctor", "--fix", "--vouch", "/chat/1", "--root", user.data];
  const dry = await user.run([...vouch, "--dry-run"]);
  assert.deepEqual([dry.code, dry.stdout.split("\n").length], [0, 4], dry.stderr);
  assert.match(
    dry.stdout,
    /^byte 0: \{"said":"something"\}\n.*\nwould vouch for 2 lines of \/chat\/1\n$/s,
  );
  assert.deepEqual(await user.verdicts(), verdicts);
  const vouched = await user.run([...vouch, "/raw", "--yes"]);
  assert.equal(vouched.code, 0, vouched.stderr);
  assert.match(
    vouched.stdout,
    /vouched for 2 lines of \/chat\/1\n.*vouched for \d+ lines? of \/raw\n/s,
  );
  const all = { "/chat/1": "verified", "/raw": "verified" };
  assert.deepEqual(await user.verdicts(), all);
  await user.serve(["/chat/1", "/raw"], "--sign");
  assert.deepEqual(await user.verdicts(), all);
  const again = await user.run(vouch);
  assert.deepEqual([again.code, again.stdout], [0, "/chat/1: every line is signed\n"]);

  const log = join(user.data, "logs/chat__1.jsonl");
  writeFileSync(log, readFileSync(log, "utf8").replace("something", "another th"));
  const refused = await user.run(vouch);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /tampered, which cannot be vouched for.*NOT_VERIFIED/s);
});

test("heads of streams cannot be changed while a server runs there, or after it was killed", async () => {
  const user = new StreamUser();
  const running = user.start(["serve", "--sign", "--port", "0", "--data", user.data]);
  const stream = `${await urlOf(running)}/v1/stream/s`;
  await fetch(stream, { method: "PUT", headers, body: '{"n":1}' });
  const pin = ["keys", "head", "pin", "/s", "--root", user.data];
  const busy = await user.run(pin);
  assert.equal(busy.code, 7);
  assert.match(busy.stderr, /in use by a server.*LOG_LOCKED/s);
  await running.kill();
  const killed = await user.run(pin);
  assert.equal(killed.code, 7);
  assert.match(killed.stderr, /records of the journal are not carried out.*NOT_VERIFIED/s);
  await user.serve(["/t"], "--sign");
  assert.equal((await user.run(["keys", "head", "pin", "/t", "--root", user.data])).code, 0);
});

test("signed streams of a deleted data directory are reported as missing until their heads are forgotten", async () => {
  const user = new StreamUser();
  await user.serve(["/a", "/b"], "--sign");
  const record = ["record", "--dialect", "rye", "--directive", "s", "--session", "s-1", "--sign"];
  const recorded = await user.run([...record, "--root", user.data], {
    input: '{"event_type":"cognition_in","payload":{"role":"user","text":"hi"}}\n',
  });
  assert.equal(recorded.code, 0, recorded.stderr);
  const sound = { "/a": "verified", "/b": "verified", "s-1": "verified" };
  assert.deepEqual(await user.verdicts(), sound);
  await user.run(["keys", "head", "export", "pins.jsonl"]);
  const gone = { "/a": "rollback BEHIND", "/b": "rollback BEHIND" };
  rmSync(join(user.data, "meta.jsonl"));
  assert.deepEqual(await user.verdicts(), { ...sound, ...gone });
  for (const name of ["journal", "logs"]) rmSync(join(user.data, name), { recursive: true });
  const missed = await user.run(["verify", user.data]);
  assert.equal(missed.code, 6, missed.stderr);
  assert.match(
    missed.stdout,
    /^\/a: rollback\n.*BEHIND.*\n.*`verbatim keys head forget ID`\n\/b: /,
  );
  rmSync(user.data, { recursive: true });
  assert.deepEqual(await user.verdicts(), { ...gone, "s-1": "rollback BEHIND" });

  for (const name of ["/a", "/b", "s-1"]) {
    assert.equal((await user.run(["keys", "head", "forget", name, "--root", user.data])).code, 0);
  }
  const forgotten = await user.run(["verify", user.data]);
  assert.equal(forgotten.code, 7);
  assert.match(forgotten.stderr, /SESSION_NOT_FOUND/);
  const against = await user.run(["verify", user.data, "--against", "pins.jsonl"]);
  assert.equal(against.code, 6, against.stderr);
  assert.match(against.stdout, /^\/a: rollback$/m);
});

test("a project with folders named logs and journal is not a data directory", async () => {
  const user = new StreamUser();
  for (const name of ["logs", "journal"]) mkdirSync(join(user.data, name), { recursive: true });
  const { code, stdout, stderr } = await user.run(["verify", user.data]);
  assert.deepEqual([code, stdout], [7, ""]);
  assert.match(stderr, /SESSION_NOT_FOUND/);
});
