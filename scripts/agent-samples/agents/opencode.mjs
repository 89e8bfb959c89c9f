/** OpenCode. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { PICTURE } from "../picture.mjs";
import { sqlDump } from "../sql-dump.mjs";
import { EDITED, TREE_PROMPTS as PROMPTS, plainTreeScripts, TREE_FILES } from "../trees.mjs";

/** @type {readonly import("../answers.mjs").Script[]} */
const scripts = [
  {
    prompt: PROMPTS.edit,
    answers: [
      {
        thinking: "The file has to be read before it is changed.",
        text: "I look at the file.",
        calls: [{ name: "read", input: { filePath: "trees.txt" } }],
        usage: { input: 1200, output: 60, thinking: 24 },
      },
      {
        calls: [
          { name: "bash", input: { command: "cat missing.txt", description: "Reads a file" } },
          { name: "read", input: { filePath: "missing.txt" } },
        ],
        usage: { input: 300, cacheRead: 1024, output: 30 },
      },
      {
        calls: [
          {
            name: "edit",
            input: {
              filePath: "trees.txt",
              oldString: "oak\nbirch\nlinden\n",
              newString: "linden\noak\nbirch\n",
            },
          },
        ],
        usage: { input: 210, cacheRead: 1408, output: 45, thinking: 8 },
      },
      EDITED,
    ],
  },
  ...plainTreeScripts(199_000),
  {
    prompt: PROMPTS.delegated,
    answers: [
      {
        calls: [
          {
            name: "task",
            input: {
              description: "Count birds",
              prompt: PROMPTS.child,
              subagent_type: "general",
            },
          },
        ],
      },
      { text: "There are two birds." },
    ],
  },
  {
    prompt: PROMPTS.child,
    answers: [
      { calls: [{ name: "bash", input: { command: "wc -l birds.txt", description: "Counts" } }] },
      { text: "There are two birds." },
    ],
  },
];

const MODEL = {
  name: "Sample model",
  reasoning: true,
  attachment: true,
  tool_call: true,
  modalities: { input: ["text", "image"], output: ["text"] },
  limit: { context: 200_000, output: 8192 },
  cost: { input: 3, output: 15, cache_read: 0.3, cache_write: 3.75 },
};

/** @type {import("../make.mjs").Agent} */
export const opencode = {
  name: "opencode",
  bin: "opencode",
  root: ".local/share/opencode",
  environment: () => ({
    OPENCODE_DISABLE_MODELS_FETCH: "1",
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
    OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
  }),
  settings: (url) => ({
    ".config/opencode/opencode.json": JSON.stringify({
      model: "local/sample-model",
      small_model: "local/sample-model",
      enabled_providers: ["local"],
      permission: "allow",
      autoupdate: false,
      share: "disabled",
      provider: {
        local: {
          npm: "@ai-sdk/openai-compatible",
          options: { baseURL: `${url}/v1`, apiKey: "none" },
          models: { "sample-model": MODEL },
        },
      },
    }),
    ...TREE_FILES,
  }),
  scripts,
  sideAnswer({ system, messages }) {
    if (/title generator/i.test(system)) return { text: "Trees and birds" };
    const isSummary = /summary/i.test(messages.at(-1)?.text ?? "");
    return isSummary
      ? { text: "The well is deep and old.", usage: { input: 1000, output: 8 } }
      : null;
  },
  async converse({ home, project, program }) {
    writeFileSync(join(project, "picture.png"), PICTURE);
    /** @param {string[]} args */
    const ask = async (...args) => {
      const out = await program(["run", "--format", "json", ...args], {
        mayFail: args.includes(PROMPTS.refused),
      });
      return /"sessionID":"(ses_\w+)"/.exec(out)?.[1] ?? "";
    };
    const first = await ask(PROMPTS.edit, "--file", "picture.png");
    await ask("--session", first, PROMPTS.resumed);
    await ask("--session", first, "--fork", PROMPTS.forked);
    const long = await ask(PROMPTS.long);
    await ask("--session", long, PROMPTS.compacted);
    await ask(PROMPTS.delegated);
    await ask(PROMPTS.refused);
    const root = join(home, ".local/share/opencode");
    writeFileSync(join(root, DUMP), sqlDump(join(root, "opencode.db"), TABLES));
  },
  keeps: (path) => path === DUMP,
  cleaned: (text) =>
    text
      .replaceAll(/Continue if you have next steps,[^"]*/g, OURS)
      // A path that begins at the root, without its slash.
      .replaceAll(/[\w/.-]*home-opencode-\w+/g, "home/dev"),
};

/**
 * The database has 300 KB, most of it empty pages, and nobody can see what changed in it. The tables
 * that hold sessions have a fifth of that as text.
 */
const DUMP = "opencode.sql";
const TABLES = ["project", "session", "message", "part", "session_message"];
const OURS = "A text of the program.";
