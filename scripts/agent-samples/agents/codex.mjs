/** Codex. */

import { execFileSync } from "node:child_process";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { changedRows } from "../keep.mjs";
import { PICTURE } from "../picture.mjs";
import { EDITED, TREE_PROMPTS as PROMPTS, plainTreeScripts, TREE_FILES } from "../trees.mjs";

const ROLLOUT =
  /rollout-[\dT-]+?-([\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12})\.jsonl$/;

const PATCH = `*** Begin Patch
*** Update File: trees.txt
@@
+linden
 oak
 birch
-linden
*** End Patch
`;

/** @type {readonly import("../answers.mjs").Script[]} */
const scripts = [
  {
    prompt: PROMPTS.edit,
    answers: [
      {
        thinking: "**Looking first**\n\nThe file has to be read before it is changed.",
        text: "I look at the file.",
        calls: [{ name: "exec_command", input: { cmd: "cat trees.txt" } }],
        usage: { input: 1200, output: 60, thinking: 24 },
      },
      {
        calls: [
          { name: "exec_command", input: { cmd: "cat missing.txt" } },
          { name: "view_image", input: { path: "picture.png" } },
        ],
        usage: { input: 300, cacheRead: 1024, output: 30 },
      },
      {
        calls: [{ name: "apply_patch", input: PATCH.replace(" oak", " elm") }],
        usage: { input: 200, cacheRead: 1280, output: 40 },
      },
      {
        thinking: "The second line is oak, not elm.",
        calls: [{ name: "apply_patch", input: PATCH }],
        usage: { input: 210, cacheRead: 1408, output: 45, thinking: 8 },
      },
      EDITED,
    ],
  },
  ...plainTreeScripts(9000),
  {
    prompt: PROMPTS.delegated,
    answers: [
      {
        calls: [
          {
            namespace: "multi_agent_v1",
            name: "spawn_agent",
            input: { message: PROMPTS.child },
          },
        ],
      },
    ],
  },
  {
    prompt: PROMPTS.child,
    answers: [
      { calls: [{ name: "exec_command", input: { cmd: "wc -l birds.txt" } }] },
      { text: "There are two birds." },
    ],
  },
];

/** @type {import("../make.mjs").Agent} */
export const codex = {
  name: "codex",
  bin: "codex",
  root: ".codex",
  environment: () => ({ NO_KEY: "none" }),
  settings: (url) => ({
    ".codex/config.toml": [
      'model = "gpt-5.5"',
      'model_provider = "local"',
      "[model_providers.local]",
      'name = "local"',
      `base_url = "${url}/v1"`,
      'wire_api = "responses"',
      'env_key = "NO_KEY"',
      "request_max_retries = 0",
      "",
    ].join("\n"),
    ...TREE_FILES,
    "project/AGENTS.md": "Answer in short sentences.\n",
  }),
  scripts,
  sideAnswer(request) {
    const last = request.body.input?.at(-1);
    const said = JSON.stringify(last?.content ?? last?.output ?? null);
    if (said.includes("CHECKPOINT COMPACTION")) {
      return { text: "The well is deep and old.", usage: { input: 9100, output: 8 } };
    }
    const child = /\{\\"agent_id\\":\\"([\da-f-]{36})/.exec(said)?.[1];
    if (child === undefined) return null;
    const wait = { name: "wait_agent", input: { targets: [child], timeout_ms: 60_000 } };
    return { calls: [{ ...wait, namespace: "multi_agent_v1" }] };
  },
  async converse({ home, project, program }) {
    writeFileSync(join(project, "picture.png"), PICTURE);
    execFileSync("git", ["init", "--quiet", "--initial-branch=main", project]);
    const all = ["--dangerously-bypass-approvals-and-sandbox", "--skip-git-repo-check"];
    /** @param {string[]} args */
    const exec = async (...args) => {
      const before = threads(home);
      await program(["exec", ...all, ...args], { mayFail: args.includes(PROMPTS.refused) });
      return threads(home).find((each) => !before.includes(each)) ?? "";
    };
    const first = await exec(PROMPTS.edit, "--image", "picture.png");
    await exec("resume", first, PROMPTS.resumed);
    await exec("fork", first, PROMPTS.forked);
    const small = ["-c", "model_auto_compact_token_limit=5000"];
    const long = await exec(...small, PROMPTS.long);
    await exec(...small, "resume", long, PROMPTS.compacted);
    await exec(PROMPTS.delegated);
    await exec(PROMPTS.refused);
  },
  keeps: (path) => ROLLOUT.test(path),
  cleaned: (text) => changedRows(text, cleanedRow),
};

/** @param {string} home */
function threads(home) {
  return readdirSync(join(home, ".codex"), { recursive: true, encoding: "utf8" })
    .sort()
    .flatMap((path) => ROLLOUT.exec(path)?.[1] ?? []);
}

const OURS = "A text of the program.";
const SUMMARY_START = /^Another language model started.*\n(?=The well)/s;

/**
 * Without the vendor's texts: base instructions, developer messages, skills, and what precedes the
 * summary of a compaction.
 *
 * @param {any} value
 * @returns {unknown}
 */
function cleanedRow(value) {
  if (typeof value === "string") return value.replace(SUMMARY_START, `${OURS}\n`);
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(cleanedRow);
  const entries = Object.entries(value).map(([key, below]) => {
    if (key === "base_instructions") return [key, { ...below, text: OURS }];
    if (key === "host_skills") return [key, { ...below, body: OURS }];
    if (key !== "content" || value.role !== "developer") return [key, cleanedRow(below)];
    const blocks = /** @type {{ text: string }[]} */ (below);
    return [key, blocks.map((block) => ({ ...block, text: inSameTags(block.text) }))];
  });
  return Object.fromEntries(entries);
}

/** @param {string} text */
function inSameTags(text) {
  const tag = /^<([a-z_ ]+)>/.exec(text)?.[1];
  return tag === undefined ? OURS : `<${tag}>\n${OURS}\n</${tag}>`;
}
