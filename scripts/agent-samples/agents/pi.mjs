/** The pi coding agent. */

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { changedRows } from "../keep.mjs";
import { PICTURE } from "../picture.mjs";
import { EDITED, plainTreeScripts, TREE_FILES, TREE_PROMPTS } from "../trees.mjs";

const PROMPTS = { ...TREE_PROMPTS, branched: "And how many birds?" };

/** @type {readonly import("../answers.mjs").Script[]} */
const scripts = [
  {
    prompt: PROMPTS.edit,
    answers: [
      {
        thinking: "The file has to be read before it is changed.",
        text: "I look at the file.",
        calls: [{ name: "read", input: { path: "trees.txt" } }],
        usage: { input: 1200, output: 60, cacheWrite: 900 },
      },
      {
        calls: [
          { name: "bash", input: { command: "cat missing.txt" } },
          { name: "edit", input: editOf("elm\n", "linden\nelm\n") },
        ],
        usage: { input: 300, cacheRead: 1024, output: 30 },
      },
      {
        calls: [{ name: "edit", input: editOf("oak\nbirch\nlinden\n", "linden\noak\nbirch\n") }],
        usage: { input: 210, cacheRead: 1408, output: 45 },
      },
      EDITED,
    ],
  },
  ...plainTreeScripts(190_000),
  { prompt: PROMPTS.branched, answers: [{ text: "Two." }] },
];

/** @param {string} oldText @param {string} newText */
function editOf(oldText, newText) {
  return { path: "trees.txt", edits: [{ oldText, newText }] };
}

/** Commands that a person has in the terminal, for runs without one. */
const EXTENSION = `
export default function (pi) {
  pi.registerCommand("back", {
    handler: async (_args, ctx) => {
      const prompt = ctx.sessionManager.getEntries().find(({ type }) => type === "message");
      await ctx.navigateTree(prompt.id, { summarize: true });
    },
  });
}
`;

const MODEL = {
  id: "claude-sonnet-4-5",
  reasoning: true,
  input: ["text", "image"],
  contextWindow: 200_000,
  maxTokens: 8192,
  cost: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
};

/** @type {import("../make.mjs").Agent} */
export const pi = {
  name: "pi",
  bin: "pi",
  root: ".pi/agent",
  environment: () => ({ PI_OFFLINE: "1" }),
  settings: (url) => ({
    ".pi/agent/models.json": JSON.stringify({
      providers: {
        local: { baseUrl: url, api: "anthropic-messages", apiKey: "none", models: [MODEL] },
      },
    }),
    ".pi/agent/settings.json": JSON.stringify({
      compaction: { keepRecentTokens: 4 },
      retry: { enabled: false },
    }),
    "back.js": EXTENSION,
    ...TREE_FILES,
  }),
  scripts,
  sideAnswer({ system }) {
    return /summar/i.test(system) ? { text: "The well is deep and old." } : null;
  },
  async converse({ home, project, program }) {
    writeFileSync(join(project, "picture.png"), PICTURE);
    const all = ["--print", "--provider", "local", "--model", MODEL.id, "--thinking", "low"];
    /** @param {string[]} args */
    const ask = async (...args) => {
      const before = sessions(home);
      const mayFail = args.includes(PROMPTS.refused);
      await program([...all, ...args], { mayFail });
      return sessions(home).find((each) => !before.includes(each)) ?? "";
    };
    const first = await ask("@picture.png", PROMPTS.edit);
    await ask("--session", first, PROMPTS.resumed);
    await ask("--fork", first, PROMPTS.forked);
    const long = await ask(PROMPTS.long);
    await ask("--session", long, PROMPTS.compacted);
    await ask("--session", long, "--extension", join(home, "back.js"), "/back");
    await ask("--session", long, PROMPTS.branched);
    const name = { type: "set_session_name", name: "Well and birds" };
    await program(["--mode", "rpc", "--session", long], { input: `${JSON.stringify(name)}\n` });
    await ask(PROMPTS.refused);
  },
  keeps: (path) => path.startsWith("sessions/"),
  cleaned: (text) =>
    changedRows(text, ({ summary, ...row }) =>
      summary === undefined ? row : { ...row, summary: summary.replace(/.*\n\n/s, `${OURS}\n\n`) },
    ),
};

/** In the place of what pi writes before a summary. */
const OURS = "A text of the program.";

/** @param {string} home */
function sessions(home) {
  const folder = join(home, ".pi/agent/sessions");
  mkdirSync(folder, { recursive: true });
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".jsonl"))
    .map((path) => JSON.parse(readFileSync(join(folder, path), "utf8").split("\n", 1)[0] ?? "").id);
}
