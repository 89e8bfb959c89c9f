/** Gemini CLI. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { changedRows } from "../keep.mjs";
import { PICTURE } from "../picture.mjs";
import { EDITED, TREE_FILES } from "../trees.mjs";

const PROMPTS = {
  edit: "Put the linden first in trees.txt. The tree is in @picture.png",
  resumed: "How many trees are there now?",
  repeated: "Tell me all that you know of the well.",
  compressed: "And of the linden?",
  delegated: "Let another agent count the birds.",
  child: "Count the birds in birds.txt and say how many there are.",
  refused: "This request is refused.",
};

const SETTINGS = ".gemini/settings.json";
const SNAPSHOT = "<state_snapshot>The well is deep and old.</state_snapshot>";

/** @param {object} more */
function settingsWith(more) {
  return JSON.stringify({
    security: { auth: { selectedType: "gemini-api-key" } },
    general: {
      enableAutoUpdate: false,
      enableAutoUpdateNotification: false,
      // It deletes sessions that were resumed: a second file has their id.
      sessionRetention: { enabled: false },
    },
    tools: { useRipgrep: false },
    privacy: { usageStatisticsEnabled: false },
    ...more,
  });
}

/** @type {readonly import("../answers.mjs").Script[]} */
const scripts = [
  {
    prompt: "Put the linden first in trees.txt.",
    answers: [
      {
        thinking: "**Looking first**\n\nThe file has to be read before it is changed.",
        text: "I look at the file.",
        calls: [{ name: "read_file", input: { file_path: "trees.txt" } }],
        usage: { input: 1200, output: 60, thinking: 24 },
      },
      {
        calls: [
          { name: "run_shell_command", input: { command: "cat missing.txt" } },
          { name: "read_file", input: { file_path: "missing.txt" } },
        ],
        usage: { input: 300, cacheRead: 1024, output: 30 },
      },
      {
        calls: [
          {
            name: "replace",
            input: {
              file_path: "trees.txt",
              instruction: "Move the linden to the first line.",
              old_string: "oak\nbirch\nlinden\n",
              new_string: "linden\noak\nbirch\n",
            },
          },
        ],
        usage: { input: 210, cacheRead: 1408, output: 45, thinking: 8 },
      },
      EDITED,
    ],
  },
  {
    prompt: PROMPTS.resumed,
    answers: [{ text: "Three.", usage: { input: 240, cacheRead: 1664, output: 5 } }],
  },
  {
    prompt: PROMPTS.repeated,
    answers: [{ text: "It is deep and old. ".repeat(200), usage: { input: 9000, output: 900 } }],
  },
  {
    prompt: PROMPTS.compressed,
    answers: [{ text: "It stands next to the well.", usage: { input: 500, output: 12 } }],
  },
  {
    prompt: PROMPTS.delegated,
    answers: [
      {
        calls: [
          { name: "invoke_agent", input: { agent_name: "generalist", prompt: PROMPTS.child } },
        ],
      },
      { text: "There are two birds." },
    ],
  },
  {
    prompt: PROMPTS.child,
    answers: [
      { calls: [{ name: "run_shell_command", input: { command: "wc -l birds.txt" } }] },
      { calls: [{ name: "complete_task", input: { result: { response: "Two birds." } } }] },
    ],
  },
  { prompt: PROMPTS.refused, answers: [{ status: 400 }] },
];

/** @type {import("../make.mjs").Agent} */
export const geminiCli = {
  name: "gemini-cli",
  bin: "gemini",
  root: ".gemini",
  environment: (url) => ({
    GOOGLE_GEMINI_BASE_URL: url,
    GEMINI_API_KEY: "none",
    GEMINI_CLI_TRUST_WORKSPACE: "true",
  }),
  settings: () => ({
    [SETTINGS]: settingsWith({}),
    ...TREE_FILES,
  }),
  scripts,
  sideAnswer({ system, messages }) {
    const said = system + messages.at(-1)?.text;
    return said.includes("<state_snapshot>") ? { text: SNAPSHOT } : null;
  },
  async converse({ home, project, program }) {
    writeFileSync(join(project, "picture.png"), PICTURE);
    const all = ["--model", "gemini-2.5-flash", "--yolo"];
    await program([...all, "--prompt", PROMPTS.edit]);
    // A session that is resumed begins a file named by the minute. In the minute of the first file
    // that is the same one, and Gemini CLI loses the rows it has.
    await setTimeout(60_000 - (Date.now() % 60_000));
    await program([...all, "--resume", "latest", "--prompt", PROMPTS.resumed]);
    await program([...all, "--prompt", PROMPTS.repeated]);
    // The latest session with an answer is the first one.
    writeFileSync(join(home, SETTINGS), settingsWith({ model: { compressionThreshold: 0.0001 } }));
    await program([...all, "--resume", "latest", "--prompt", PROMPTS.compressed]);
    writeFileSync(join(home, SETTINGS), settingsWith({}));
    await program([...all, "--prompt", PROMPTS.delegated]);
    await program([...all, "--prompt", PROMPTS.refused], { mayFail: true });
  },
  keeps: (path) => /^tmp\/[^/]+\/(chats\/|\.project_root$)/.test(path) || path === "projects.json",
  cleaned: (text, path) => (path.endsWith(".jsonl") ? changedRows(text, cleanedRow) : text),
};

const OURS = "A text of the program.";

/** The vendor's texts: what precedes the facts of a context, or follows the name of an event. */
const VENDORS = [
  /(?<=^<session_context>\n).*(?=\n)/,
  /(?<=^System: Potential loop detected\. ).*/s,
  /^Got it\. Thanks for the additional context!$/,
  /^(Call this tool to submit your final answer|Reads and returns the content of).*/s,
];

/** @param {any} value @returns {any} */
function cleanedRow(value) {
  if (typeof value === "string") {
    return VENDORS.reduce((text, vendors) => text.replace(vendors, OURS), value);
  }
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(cleanedRow);
  return Object.fromEntries(Object.entries(value).map(([key, below]) => [key, cleanedRow(below)]));
}
