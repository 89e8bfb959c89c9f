/** OpenClaw. It needs a newer Node than we do: `npm install --prefix DIR node@24`. */

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { EDITED } from "../trees.mjs";

const PROMPTS = {
  edit: "Put the linden first in trees.txt.",
  resumed: "How many trees are there now?",
  refused: "This request is refused.",
};

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
          { name: "read", input: { path: "missing.txt" } },
          { name: "exec", input: { command: "cat missing.txt" } },
        ],
        usage: { input: 300, cacheRead: 1024, output: 30 },
      },
      {
        calls: [
          {
            name: "edit",
            input: {
              path: "trees.txt",
              edits: [{ oldText: "oak\nbirch\nlinden\n", newText: "linden\noak\nbirch\n" }],
            },
          },
        ],
        usage: { input: 210, cacheRead: 1408, output: 45 },
      },
      EDITED,
    ],
  },
  {
    prompt: PROMPTS.resumed,
    answers: [{ text: "Three.", usage: { input: 240, cacheRead: 1664, output: 5 } }],
  },
  { prompt: PROMPTS.refused, answers: [{ status: 400 }] },
];

const MODEL = {
  id: "claude-sonnet-4-5",
  name: "Sample model",
  reasoning: true,
  input: ["text", "image"],
  contextWindow: 200_000,
  maxTokens: 8192,
  cost: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
};

/** @type {import("../make.mjs").Agent} */
export const openclaw = {
  name: "openclaw",
  bin: "openclaw",
  root: ".openclaw",
  environment: (_url, home) => ({
    PATH: `${join(dirname(home), "node_modules/.bin")}:${process.env.PATH}`,
  }),
  settings: (url, home) => ({
    ".openclaw/openclaw.json": JSON.stringify({
      models: {
        providers: {
          local: { baseUrl: url, apiKey: "none", api: "anthropic-messages", models: [MODEL] },
        },
      },
      agents: {
        defaults: {
          workspace: join(home, "project"),
          model: { primary: `local/${MODEL.id}` },
          skipBootstrap: true,
        },
      },
    }),
    "project/trees.txt": "oak\nbirch\nlinden\n",
  }),
  scripts,
  async converse({ home, program }) {
    /** @param {string} session @param {string} text */
    const ask = async (session, text) => {
      const args = ["agent", "--local", "--agent", "main", "--session-id", session];
      const out = await program([...args, "--message", text], {
        mayFail: text === PROMPTS.refused,
      });
      if (process.env.SHOW) console.error(out.slice(0, 2000));
    };
    await ask("sample-edit", PROMPTS.edit);
    await ask("sample-edit", PROMPTS.resumed);
    await ask("sample-refused", PROMPTS.refused);
    writeTranscripts(join(home, ".openclaw/agents/main"));
  },
  keeps: (path) => /^agents\/main\/sessions\/sample-\w+\.jsonl$/.test(path),
};

/**
 * OpenClaw has its transcripts in a database now. Their rows, in files where it had them before.
 *
 * @param {string} folder of the agent
 */
function writeTranscripts(folder) {
  const database = new DatabaseSync(join(folder, "agent/openclaw-agent.sqlite"));
  const query = "SELECT session_id, event_json FROM transcript_events ORDER BY session_id, seq";
  const rows = /** @type {{ session_id: string, event_json: string }[]} */ (
    /** @type {unknown} */ (database.prepare(query).all())
  );
  database.close();
  mkdirSync(join(folder, "sessions"), { recursive: true });
  for (const { session_id, event_json } of rows) {
    writeFileSync(join(folder, "sessions", `${session_id}.jsonl`), `${event_json}\n`, {
      flag: "a",
    });
  }
}
