/** Copilot CLI. */

import { join } from "node:path";
import { changedRows, withoutLongTexts } from "../keep.mjs";
import { writeProject } from "../project.mjs";
import { PROMPTS, SESSIONS, SUMMARY, scenarios } from "../scenarios.mjs";

/** @type {import("../make.mjs").Agent} */
export const copilotCli = {
  name: "copilot-cli",
  bin: "copilot",
  root: ".copilot",
  environment: (url) => ({
    COPILOT_OFFLINE: "true",
    COPILOT_PROVIDER_TYPE: "anthropic",
    COPILOT_PROVIDER_BASE_URL: url,
    COPILOT_PROVIDER_API_KEY: "none",
    COPILOT_MODEL: "claude-sonnet-4.5",
  }),
  scripts: scenarios({
    read: (path) => ({ name: "view", input: { path } }),
    shell: (command) => ({ name: "bash", input: { command, description: "Try it" } }),
    edit: (path, old_str, new_str) => ({ name: "edit", input: { path, old_str, new_str } }),
    write: (path, file_text) => ({ name: "create", input: { path, file_text } }),
    agent: (prompt) => ({
      name: "task",
      input: { description: "First tree", prompt, agent_type: "explore", name: "first-tree" },
    }),
  }),
  sideAnswer({ messages }) {
    const last = messages.at(-1)?.text ?? "";
    if (!last.includes("<overview>") || last.includes(PROMPTS.recall)) return null;
    return { text: `<overview>${SUMMARY}</overview>`, usage: { input: 70, output: 12 } };
  },
  async converse({ program, project }) {
    writeProject(project);
    const tools = ["--allow-all-tools", "--no-auto-update", "--no-color"];
    /** @param {keyof typeof SESSIONS} name @param {string} text @param {string[]} more */
    const ask = (name, text, ...more) =>
      program(["--session-id", SESSIONS[name], ...tools, ...more, "-p", text], { mayFail: true });
    await ask("tools", PROMPTS.tools);
    await ask("tools", PROMPTS.resumed);
    await ask("subagent", PROMPTS.delegated);
    await ask("image", PROMPTS.picture, "--attachment", join(project, "well.png"));
    await ask("compaction", PROMPTS.remember);
    await ask("compaction", PROMPTS.remembered);
    await ask("compaction", "/compact");
    await ask("compaction", PROMPTS.recall);
    await ask("failure", PROMPTS.refused);
  },
  keeps: (path) =>
    path.startsWith("session-state/") && /events\.jsonl$|workspace\.yaml$/.test(path),
  cleaned: (text, path) =>
    path.endsWith(".jsonl") ? changedRows(text, (row) => withoutLongTexts(row, 400)) : text,
};
