/**
 * Makes the samples in `test/samples/<agent>/<version>/` again: the files that the agents' own
 * programs write as they run our scenarios against a fake provider (test/samples/README.md).
 *
 * Run by hand: the programs are large, and are not dependencies. It needs no network and no keys.
 *
 *     npm install --prefix DIR @anthropic-ai/claude-code @qwen-code/qwen-code @github/copilot
 *     node scripts/agent-samples/make.mjs DIR [AGENT...]
 */

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { root } from "../setup.mjs";
import { claudeCode } from "./agents/claude-code.mjs";
import { codex } from "./agents/codex.mjs";
import { copilotCli } from "./agents/copilot-cli.mjs";
import { geminiCli } from "./agents/gemini-cli.mjs";
import { openclaw } from "./agents/openclaw.mjs";
import { opencode } from "./agents/opencode.mjs";
import { pi } from "./agents/pi.mjs";
import { qwen } from "./agents/qwen.mjs";
import { answersOf } from "./answers.mjs";
import { keepSamples, NEUTRAL_HOME } from "./keep.mjs";
import { run } from "./program.mjs";
import { startProvider } from "./provider.mjs";

/**
 * What differs between the programs.
 *
 * @typedef {object} Agent
 * @property {string} name of its dialect
 * @property {string} bin
 * @property {string} root its directory, below the home directory
 * @property {(url: string, home: string) => Record<string, string>} environment
 * @property {(url: string, home: string) => Record<string, string>} [settings] files, by path in
 *   the home directory
 * @property {readonly import("./answers.mjs").Script[]} scripts with the home
 *   directory as it is in the samples
 * @property {import("./answers.mjs").AnswerTo} [sideAnswer] to a request for a title or a summary
 * @property {(session: Session) => Promise<void>} converse runs the scenarios
 * @property {(path: string) => boolean} keeps whether a file, by its path below `root`, is kept
 * @property {(text: string, path: string) => string} [cleaned] a file without the vendor's texts
 *
 * @typedef {object} Session
 * @property {string} home
 * @property {string} project the working directory
 * @property {(args: readonly string[], options?: RunOptions) => Promise<string>} program
 * @property {NodeJS.ProcessEnv} env
 * @property {readonly import("./answers.mjs").ModelRequest[]} requests so far
 *
 * @typedef {object} RunOptions
 * @property {string} [input]
 * @property {(out: string) => string | null} [reply] more input, as soon as the output says so
 * @property {boolean} [mayFail]
 * @property {string} [cwd]
 */

/** @type {readonly Agent[]} */
const AGENTS = [claudeCode, codex, copilotCli, geminiCli, openclaw, opencode, pi, qwen];

/** @param {Agent} agent @param {string} folder where the programs are installed */
async function makeSamples(agent, folder) {
  const home = mkdtempSync(join(folder, `home-${agent.name}-`));
  const project = join(home, "project");
  mkdirSync(project);
  const scripts = JSON.parse(JSON.stringify(agent.scripts).replaceAll(NEUTRAL_HOME, home));
  const provider = await startProvider(answersOf(scripts, agent.sideAnswer));
  const { url, requests } = provider;
  for (const [path, text] of Object.entries(agent.settings?.(url, home) ?? {})) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text);
  }
  const env = { PATH: process.env.PATH, HOME: home, TERM: "dumb", ...agent.environment(url, home) };
  const bin = join(folder, "node_modules/.bin", agent.bin);
  /** @type {Session["program"]} */
  const program = (args, options) => run(bin, args, { cwd: project, env, ...options });
  const version = versionOf(bin);
  try {
    await agent.converse({ home, project, program, env, requests });
  } finally {
    provider.close();
  }
  const target = join(root, "test/samples", agent.name, version);
  rmSync(target, { recursive: true, force: true });
  const names = keepSamples({ agent, home, url, target });
  if (!process.env.KEEP_HOME) rmSync(home, { recursive: true });
  process.stdout.write(`${agent.name} ${version}: ${names.length} files\n`);
}

/** From the package's own description: not every program prints its version alone. */
function versionOf(/** @type {string} */ bin) {
  for (let folder = dirname(realpathSync(bin)); folder !== "/"; folder = dirname(folder)) {
    const path = join(folder, "package.json");
    const version = existsSync(path) && JSON.parse(readFileSync(path, "utf8")).version;
    if (version) return String(version);
  }
  throw new Error(`${bin} is in no package`);
}

const [given, ...names] = process.argv.slice(2);
if (given === undefined) throw new Error("say where the agents are: make.mjs DIR [AGENT...]");
const folder = resolve(given);
const isInstalled = (/** @type {Agent} */ { bin }) =>
  existsSync(join(folder, "node_modules/.bin")) &&
  readdirSync(join(folder, "node_modules/.bin")).includes(bin);
for (const agent of AGENTS.filter(isInstalled)) {
  if (names.length === 0 || names.includes(agent.name)) await makeSamples(agent, folder);
}
