/**
 * Try agents: whether the agents' own programs accept a session that `verbatim restore` wrote.
 *
 * Run by hand: the programs are large, and are not dependencies. It needs no network and no keys:
 * a server on this machine answers in the place of each model, and everything is below DIR.
 *
 *     npm install --prefix DIR @openai/codex @google/gemini-cli @anthropic-ai/claude-code
 *     node scripts/try-agents.mjs DIR
 *
 * Each program that is installed has a conversation. Its session is guarded, deleted and restored.
 * Then the program continues it: its request to the model must have the earlier conversation.
 */

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { run } from "./agent-samples/program.mjs";
import { startProvider } from "./agent-samples/provider.mjs";
import { build, root } from "./setup.mjs";

const FIRST_PROMPT = "Which tree is next to the well?";
const ANSWER = "An old linden is there.";

/**
 * What differs between the programs.
 *
 * @typedef {object} Agent
 * @property {string} bin
 * @property {string} sessions below the home directory
 * @property {(url: string) => Record<string, string>} environment
 * @property {(url: string) => Record<string, string>} [settings] files, by path in the home directory
 * @property {(text: string) => string[]} ask
 * @property {(id: string, text: string) => string[]} resume
 * @property {(name: string) => string} idOf from the name of the session's file
 * @property {(request: any) => unknown} said the conversation in a request to the model
 */

/** @type {Agent[]} */
const AGENTS = [
  {
    bin: "claude",
    sessions: ".claude/projects",
    environment: (url) => ({
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: "none",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    }),
    ask: (text) => ["-p", text],
    resume: (id, text) => ["--resume", id, "-p", text],
    idOf: (name) => name.replace(".jsonl", ""),
    said: ({ messages }) => messages,
  },
  {
    bin: "codex",
    sessions: ".codex/sessions",
    environment: () => ({ NO_KEY: "none" }),
    settings: (url) => ({
      ".codex/config.toml": [
        'model = "gpt-5-codex"',
        'model_provider = "local"',
        "[model_providers.local]",
        'name = "local"',
        `base_url = "${url}/v1"`,
        'wire_api = "responses"',
        'env_key = "NO_KEY"\n',
      ].join("\n"),
    }),
    ask: (text) => ["exec", "--skip-git-repo-check", text],
    resume: (id, text) => ["exec", "--skip-git-repo-check", "resume", id, text],
    idOf: (name) => name.slice(-"uuuuuuuu-uuuu-uuuu-uuuu-uuuuuuuuuuuu.jsonl".length, -6),
    said: ({ input }) => input,
  },
  {
    bin: "gemini",
    sessions: ".gemini/tmp",
    environment: (url) => ({
      GOOGLE_GEMINI_BASE_URL: url,
      GEMINI_API_KEY: "none",
      GEMINI_CLI_TRUST_WORKSPACE: "true",
    }),
    settings: () => ({
      ".gemini/settings.json": '{"security":{"auth":{"selectedType":"gemini-api-key"}}}',
    }),
    ask: (text) => ["-m", "gemini-2.5-flash", "-p", text],
    resume: (_id, text) => ["-m", "gemini-2.5-flash", "--resume", "latest", "-p", text],
    idOf: (name) => name.replace(".jsonl", ""),
    said: ({ contents }) => contents,
  },
];

/**
 * @param {Agent} agent
 * @param {{ bins: string, home: string, url: string, requests: import("./agent-samples/answers.mjs").ModelRequest[] }} where
 */
async function tryAgent(agent, { bins, home, url, requests }) {
  const env = { PATH: process.env.PATH, HOME: home, ...agent.environment(url) };
  const cwd = join(home, "project");
  for (const folder of ["project", ".codex", ".gemini"]) mkdirSync(join(home, folder));
  for (const [path, text] of Object.entries(agent.settings?.(url) ?? {})) {
    writeFileSync(join(home, path), text);
  }
  /** @param {string[]} args */
  const program = (args) => run(join(bins, agent.bin), args, { cwd, env });
  /** @param {string[]} args */
  const verbatim = (...args) =>
    run(process.execPath, [join(root, "dist/cli/main.js"), ...args], { cwd, env });
  const version = (await program(["--version"])).trim().split("\n").at(-1);

  await program(agent.ask(FIRST_PROMPT));
  const sessions = join(home, agent.sessions);
  const [path, ...others] = readdirSync(sessions, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".jsonl"))
    .map((name) => join(sessions, name));
  assert.ok(path !== undefined && others.length === 0, `${sessions} has one session`);
  const bytes = readFileSync(path);
  await verbatim("guard", "--once");
  rmSync(path);
  const id = agent.idOf(path.slice(path.lastIndexOf("/") + 1));
  await verbatim("restore", id);
  assert.ok(readFileSync(path).equals(bytes), `${path} is restored byte for byte`);

  requests.length = 0;
  await program(agent.resume(id, "And next to it?"));
  const said = requests.map(({ body }) => JSON.stringify(agent.said(body) ?? null));
  /** @param {string} text */
  const isWhole = (text) => text.includes(FIRST_PROMPT) && text.includes(ANSWER);
  assert.ok(said.some(isWhole), `${agent.bin} sent the restored conversation to the model`);
  return version;
}

const [given] = process.argv.slice(2);
if (given === undefined) throw new Error("say where the agents are: try-agents.mjs DIR");
const folder = resolve(given);
const bins = join(folder, "node_modules/.bin");
await build();
const server = await startProvider(() => ({ text: ANSWER }));
for (const agent of AGENTS.filter(({ bin }) => readdirSync(bins).includes(bin))) {
  const home = mkdtempSync(join(folder, `home-${agent.bin}-`));
  const version = await tryAgent(agent, { bins, home, ...server });
  rmSync(home, { recursive: true });
  process.stdout.write(`${agent.bin} ${version}: accepts a restored session\n`);
}
server.close();
