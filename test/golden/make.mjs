/**
 * Makes test/golden/corpus with a given `verbatim`: node test/golden/make.mjs MAIN_JS
 *
 * The corpus was made once and is not changed. It is what users have on their disks, so make it again
 * only to add a format that did not exist, never to make a test pass.
 */

import { spawn, spawnSync } from "node:child_process";
import { appendFileSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const main = resolve(process.argv[2]);
const kept = join(dirname(fileURLToPath(import.meta.url)), "corpus");
/** Lines contain the directory they were recorded in: one that does not identify the machine. */
const corpus = "/tmp/verbatim-golden";
const home = join(corpus, "home");
const env = { PATH: process.env.PATH, HOME: home };

/** By dialect: where its logs are, how a session is named, and its rows. */
const DIALECTS = {
  rye: {
    log: (id) => `.ai/threads/${id}/transcript.jsonl`,
    id: (name) => `${name}-1763287200`,
    options: ["--directive", "golden"],
    rows: (n) => [
      { type: "user_message", text: `Question ${n}` },
      { type: "assistant_text", text: `Answer ${n}` },
    ],
  },
  homeagent: {
    log: (id) => `agents/kitchen/sessions/${id}.jsonl`,
    id: (name) => name,
    options: ["--agent", "kitchen"],
    rows: (n) => [
      { turnId: `u${n}`, role: "user", content: `Question ${n}`, ts: 1763287200000 + n },
      { turnId: `a${n}`, role: "assistant", content: `Answer ${n}`, ts: 1763287200000 + n },
    ],
  },
  entire: {
    log: (id) => `.entire/metadata/${id}/full.jsonl`,
    id: (name) => `2026-11-16-${name}`,
    options: ["--model", "claude-opus-4-5"],
    rows: (n) => [
      { type: "user", message: { content: `Question ${n}` } },
      { type: "assistant", message: { content: [{ type: "text", text: `Answer ${n}` }] } },
    ],
  },
  claude: {
    log: (id) => `.verbatim/claude/${id}/transcript.jsonl`,
    id: (name) => `app/${name}`,
    options: [],
    rows: (n) => [
      {
        type: "user",
        uuid: `u${n}`,
        timestamp: at(n),
        message: { role: "user", content: `Question ${n}` },
      },
      {
        type: "assistant",
        uuid: `a${n}`,
        parentUuid: `u${n}`,
        timestamp: at(n),
        message: {
          role: "assistant",
          model: "claude-opus-4-5",
          content: [{ type: "text", text: `Answer ${n}` }],
        },
      },
    ],
  },
  sdk: {
    log: (id) => `.verbatim/sdk/${id}.jsonl`,
    id: (name) => `openai-agents/${name}`,
    options: [],
    rows: (n) => [
      {
        type: "item",
        id: `u${n}`,
        at: at(n),
        item: { type: "message", role: "user", content: `Question ${n}` },
      },
      {
        type: "item",
        id: `a${n}`,
        at: at(n),
        item: {
          type: "message",
          role: "assistant",
          status: "completed",
          content: [{ type: "output_text", text: `Answer ${n}` }],
        },
      },
    ],
  },
};

function at(n) {
  return `2026-11-16T10:00:0${n}.000Z`;
}

function run(args, input = "") {
  const ran = spawnSync(process.execPath, [main, ...args], { cwd: corpus, env, input });
  if (ran.status !== 0) {
    throw new Error(`verbatim ${args.join(" ")} ended with ${ran.status}: ${ran.stderr}`);
  }
}

function lines(rows) {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join("");
}

function record(dialect, name, ...more) {
  const { id, options, rows } = DIALECTS[dialect];
  const session = ["--session", id(name), "--root", join(corpus, dialect)];
  const input = lines([1, 2].flatMap(rows));
  run(["record", "--dialect", dialect, ...session, ...options, ...more], input);
}

/** Kills the recorder with -9 after all rows of two turns were acknowledged. */
async function recordKilled(dialect, name) {
  const { id, options, rows } = DIALECTS[dialect];
  const args = ["record", "--dialect", dialect, "--session", id(name), ...options];
  const child = spawn(
    process.execPath,
    [main, ...args, "--root", join(corpus, dialect), "--sign", "--ack"],
    { cwd: corpus, env },
  );
  const given = [1, 2].flatMap(rows);
  child.stdin.write(lines(given));
  await printed(child.stdout, (text) => text.split("\n").length > given.length);
  await killed(child);
}

function printed(stream, isEnough) {
  let text = "";
  return new Promise((go) => {
    stream.on("data", (chunk) => {
      text += chunk;
      if (isEnough(text)) go(text);
    });
  });
}

function killed(child, signal = "SIGKILL") {
  return new Promise((gone) => {
    child.on("close", gone);
    child.kill(signal);
  });
}

async function serve(data, signal, work) {
  const args = ["serve", "--sign", "--port", "0", "--data", join(corpus, data)];
  const child = spawn(process.execPath, [main, ...args], { cwd: corpus, env });
  const said = await printed(child.stdout, (text) => /http:\/\/[^\s/]+/.test(text));
  await work(async (method, path, body, headers = {}) => {
    const url = `${/http:\/\/[^\s/]+/.exec(said)[0]}/v1/stream${path}`;
    const answer = await fetch(url, {
      method,
      body,
      headers: { "Content-Type": "application/json", ...headers },
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  });
  await killed(child, signal);
}

async function writeStreams(ask) {
  await ask("PUT", "/chat");
  for (const n of [1, 2]) await ask("POST", "/chat", JSON.stringify({ n }));
  await ask("PUT", "/fork", undefined, { "Stream-Forked-From": "/v1/stream/chat" });
  await ask("POST", "/fork", JSON.stringify({ n: 3 }));
  await ask("PUT", "/closed");
  await ask("POST", "/closed", JSON.stringify({ n: 1 }), { "Stream-Closed": "true" });
}

rmSync(corpus, { recursive: true, force: true });
mkdirSync(home, { recursive: true });
run(["keys", "init"]);
for (const [dialect, { log, id }] of Object.entries(DIALECTS)) {
  const path = (name) => join(corpus, dialect, log(id(name)));
  record(dialect, "plain");
  record(dialect, "signed", "--sign");
  record(dialect, "altered", "--sign");
  writeFileSync(
    path("altered"),
    readFileSync(path("altered"), "utf8").replace("Answer 1", "Altered!"),
  );
  for (const name of ["torn", "repaired"]) {
    record(dialect, name, "--sign");
    appendFileSync(path(name), '{"type":"us');
  }
  run(["doctor", "--fix", id("repaired"), "--dialect", dialect, "--root", join(corpus, dialect)]);
  await recordKilled(dialect, "killed");
}
const rye = ["--root", join(corpus, "rye"), "--dialect", "rye"];
run([
  "resume",
  DIALECTS.rye.id("signed"),
  "--for",
  "anthropic",
  "--model",
  "m",
  "--up-to",
  "1",
  "--record",
  ...rye,
]);
run([
  "export",
  "--format",
  "bundle",
  DIALECTS.rye.id("signed"),
  "--output",
  join(corpus, "signed.vbx"),
  ...rye,
]);
await serve("data", "SIGTERM", writeStreams);
await serve("data-killed", "SIGKILL", writeStreams);
// Files that are derived from the rest, and files without a format.
const MADE_AGAIN = ["streams.db", "streams.db-wal", "streams.db-shm", "webhook-keys"];
for (const data of ["data", "data-killed"]) {
  for (const name of MADE_AGAIN) rmSync(join(corpus, data, name), { recursive: true, force: true });
}
const heads = join(home, ".local/state/verbatim/heads.jsonl");
writeFileSync(heads, readFileSync(heads, "utf8").replaceAll(corpus, "@CORPUS@"));
rmSync(join(home, ".cache"), { recursive: true, force: true });
rmSync(join(corpus, "rye/.ai/threads/registry.db"), { force: true });
rmSync(kept, { recursive: true, force: true });
cpSync(corpus, kept, { recursive: true });
rmSync(corpus, { recursive: true });
