/**
 * Try proxy: whether `verbatim proxy -- PROGRAM` records the agents' own programs and the providers'
 * SDKs for Python.
 *
 * Run by hand, as try-agents.mjs, with the same server in the place of the models:
 *
 *     npm install --prefix DIR @anthropic-ai/claude-code @openai/codex @google/gemini-cli \
 *       opencode-ai @qwen-code/qwen-code
 *     python3 -m venv DIR/python && DIR/python/bin/pip install anthropic google-genai openai
 *     node scripts/try-proxy.mjs DIR [NAME…]
 *
 * An agent calls a tool and answers. Its session is shown, verified, found and resumed, and no file
 * has the key. If the program names its session, lists show one, and usage counts each answer once.
 */

import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { answersOf } from "./agent-samples/answers.mjs";
import { run } from "./agent-samples/program.mjs";
import { startProvider } from "./agent-samples/provider.mjs";
import { build, root } from "./setup.mjs";

const PROMPT = "Count the trees next to the well.";
const ANSWER = "There are three lindens.";
const KEY = "sk-ant-secret-9f4e7d1c2b8a";

/**
 * @typedef {object} Program
 * @property {string} bin below DIR
 * @property {readonly string[]} args
 * @property {string} [start] a shell's command for it: `$0` with `$@`
 * @property {string} [tool] that it calls before it answers; absent: it is no agent
 * @property {boolean} [isNamed] its calls name its session
 * @property {Record<string, string>} [settings] files, by path in the home directory
 */

/** @param {string} code @returns {Program} */
const python = (code) => ({ bin: "python/bin/python", args: ["-c", code] });
const SAID = `[{"role": "user", "content": "${PROMPT}"}]`;
const OPENCODE = {
  model: "local/sample-model",
  small_model: "local/sample-model",
  enabled_providers: ["local"],
  permission: "allow",
  autoupdate: false,
  provider: {
    local: {
      npm: "@ai-sdk/openai-compatible",
      options: { baseURL: "{env:OPENAI_BASE_URL}", apiKey: "{env:OPENAI_API_KEY}" },
      models: { "sample-model": {} },
    },
  },
};

/** @type {Readonly<Record<string, Program>>} */
const PROGRAMS = {
  "claude-code": {
    bin: "node_modules/.bin/claude",
    args: ["-p", PROMPT, "--allowedTools", "Bash"],
    tool: "Bash",
    isNamed: true,
  },
  codex: {
    bin: "node_modules/.bin/codex",
    start: `exec "$0" -c "openai_base_url=\\"$OPENAI_BASE_URL\\"" "$@"`,
    args: ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", PROMPT],
    tool: "exec_command",
    isNamed: true,
  },
  opencode: {
    bin: "node_modules/.bin/opencode",
    args: ["run", PROMPT],
    tool: "bash",
    isNamed: true,
    settings: { ".config/opencode/opencode.json": JSON.stringify(OPENCODE) },
  },
  "gemini-cli": {
    bin: "node_modules/.bin/gemini",
    args: ["-m", "gemini-2.5-flash", "--yolo", "-p", PROMPT],
    tool: "run_shell_command",
    settings: {
      ".gemini/settings.json": '{"security":{"auth":{"selectedType":"gemini-api-key"}}}',
    },
  },
  qwen: {
    bin: "node_modules/.bin/qwen",
    args: ["--auth-type", "openai", "--yolo", "-p", PROMPT],
    tool: "run_shell_command",
  },
  "python-anthropic": python(`
import anthropic
asked = {"model": "claude-opus-5", "max_tokens": 99, "messages": ${SAID}}
with anthropic.Anthropic().messages.stream(**asked) as stream:
    print(stream.get_final_text())`),
  "python-openai": python(`
import openai
with openai.OpenAI().responses.stream(model="gpt-5.5", input="${PROMPT}") as stream:
    for event in stream: pass
    print(stream.get_final_response().output_text)`),
  "python-openai-chat": python(`
import openai
asked = {"model": "gpt-5.5", "messages": ${SAID}, "stream_options": {"include_usage": True}}
for piece in openai.OpenAI().chat.completions.create(stream=True, **asked):
    print("".join(choice.delta.content or "" for choice in piece.choices))`),
  "python-google": python(`
from google import genai
client = genai.Client()
for piece in client.models.generate_content_stream(model="gemini-3-pro", contents="${PROMPT}"):
    print(piece.text)`),
};

/** @param {string} home @param {string} url */
function environment(home, url) {
  return {
    PATH: process.env.PATH,
    HOME: home,
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: KEY,
    OPENAI_BASE_URL: `${url}/v1`,
    OPENAI_API_KEY: KEY,
    OPENAI_MODEL: "qwen3-coder-plus",
    CODEX_API_KEY: KEY,
    GOOGLE_GEMINI_BASE_URL: url,
    GEMINI_API_KEY: KEY,
    GEMINI_CLI_TRUST_WORKSPACE: "true",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    OPENCODE_DISABLE_MODELS_FETCH: "1",
    OPENCODE_DISABLE_AUTOUPDATE: "1",
  };
}

/** @param {Program["tool"]} tool */
function provider(tool) {
  const command = "wc -l trees.txt";
  const input = { command, cmd: command, description: "Count", is_background: false };
  const usage = { input: 100, output: 10 };
  const first = tool === undefined ? [] : [{ calls: [{ name: tool, input }], usage }];
  return startProvider(
    answersOf([{ prompt: PROMPT, answers: [...first, { text: ANSWER, usage }] }]),
  );
}

/** @param {string} folder @param {string} name @param {Program} program */
function project(folder, name, { settings = {} }) {
  const home = mkdtempSync(join(folder, `home-${name}-`));
  const files = { "project/trees.txt": "linden\n".repeat(3), ".codex/none": "", ...settings };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text);
  }
  return { home, cwd: join(home, "project") };
}

/** @param {string} folder @param {string} name */
async function tryProgram(folder, name) {
  const program = /** @type {Program} */ (PROGRAMS[name]);
  const { bin, start = 'exec "$0" "$@"', args, tool, isNamed = false } = program;
  const server = await provider(tool);
  const { home, cwd } = project(folder, name, program);
  const env = environment(home, server.url);
  /** @param {string[]} more */
  const verbatim = (...more) =>
    run(process.execPath, [join(root, "dist/cli/main.js"), ...more], { cwd, env });
  /** @param {string[]} more */
  const rows = async (...more) =>
    (await verbatim("ls", "--json", ...more)).split("\n").filter(Boolean).map(asJson);
  try {
    await verbatim("proxy", "--sign", "--", "sh", "-c", start, join(folder, bin), ...args);
    const recorded = (await rows("--root", cwd)).map(({ id }) => id);
    const main = recorded.find((id) => recordOf(cwd, id).includes(ANSWER)) ?? "";
    const shown = await verbatim("show", main, "--root", cwd);
    assert.ok(shown.includes(PROMPT) && shown.includes(ANSWER), "show has what was said");
    for (const id of recorded) {
      const verdict = await verbatim("verify", id, "--root", cwd);
      assert.match(verdict, /verified/);
    }
    assert.match(await verbatim("search", "lindens"), /lindens/);
    const request = ["--for", "anthropic", "--model", "claude-opus-5", "--json"];
    const resumed = await verbatim("resume", main, "--root", cwd, ...request);
    assert.ok(resumed.includes(ANSWER), "resume has what was said");
    for (const place of [cwd, join(home, ".cache"), join(home, ".local/state/verbatim")]) {
      assertWithout(place, KEY);
    }

    const all = await rows();
    const own = all.filter(({ id }) => !recorded.includes(id));
    assert.equal(own.length, tool === undefined ? 0 : 1, JSON.stringify(all));
    const isOne = own.some(({ hooks }) => hooks === main) && all.every(({ id }) => id !== main);
    assert.equal(isOne, isNamed, JSON.stringify(all));
    const { totals } = asJson(await verbatim("usage", "--json"));
    const calls = server.requests.length;
    const counted = { calls, counted: totals.responses };
    if (isNamed || own.length === 0) assert.equal(totals.responses, calls, JSON.stringify(totals));
    return { ...counted, isOne };
  } finally {
    server.close();
    rmSync(home, { recursive: true });
  }
}

/** @param {string} text */
function asJson(text) {
  return JSON.parse(text);
}

/** @param {string} cwd @param {string} id */
function recordOf(cwd, id) {
  return readFileSync(join(cwd, ".verbatim/sessions", `${id}.jsonl`), "utf8");
}

/** @param {string} folder @param {string} secret */
function assertWithout(folder, secret) {
  if (!existsSync(folder)) return;
  const all = readdirSync(folder, { recursive: true, withFileTypes: true });
  for (const entry of all.filter((each) => each.isFile())) {
    const path = join(entry.parentPath, entry.name);
    assert.ok(!readFileSync(path).includes(secret), `${path} has the key`);
  }
}

const [given, ...names] = process.argv.slice(2);
if (given === undefined) throw new Error("say where the programs are: try-proxy.mjs DIR");
const folder = resolve(given);
const installed = Object.keys(PROGRAMS).filter((name) =>
  existsSync(join(folder, PROGRAMS[name]?.bin ?? "")),
);
await build();
for (const name of names.length > 0 ? names : installed) {
  try {
    process.stdout.write(`${name}: ${JSON.stringify(await tryProgram(folder, name))}\n`);
  } catch (cause) {
    process.exitCode = 1;
    process.stdout.write(`${name}: FAILED\n${cause instanceof Error ? cause.message : cause}\n`);
  }
}
