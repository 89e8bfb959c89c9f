/** Qwen Code. */

import { changedRows, withoutLongTexts } from "../keep.mjs";
import { writeProject } from "../project.mjs";
import { PROMPTS, SESSIONS, SUMMARY, scenarios } from "../scenarios.mjs";

/** @type {import("../make.mjs").Agent} */
export const qwen = {
  name: "qwen",
  bin: "qwen",
  root: ".qwen",
  environment: (url) => ({
    OPENAI_API_KEY: "none",
    OPENAI_BASE_URL: `${url}/v1`,
    OPENAI_MODEL: "qwen3-coder-plus",
  }),
  settings: () => ({
    // Without the calls to the model in which it looks for what to remember.
    ".qwen/settings.json": JSON.stringify({
      memory: { enableManagedAutoMemory: false, enableManagedAutoDream: false },
      model: { generationConfig: { modalities: { image: true } } },
      privacy: { usageStatisticsEnabled: false },
      general: { enableAutoUpdate: false },
    }),
  }),
  scripts: scenarios({
    read: (file_path) => ({ name: "read_file", input: { file_path } }),
    shell: (command) => ({ name: "run_shell_command", input: { command, is_background: false } }),
    edit: (file_path, old_string, new_string) => ({
      name: "edit",
      input: { file_path, old_string, new_string },
    }),
    write: (file_path, content) => ({ name: "write_file", input: { file_path, content } }),
    agent: (prompt) => ({
      name: "agent",
      input: {
        description: "First tree",
        prompt,
        subagent_type: "general-purpose",
        run_in_background: true,
      },
    }),
  }),
  sideAnswer({ messages, system }) {
    const last = messages.at(-1)?.text ?? "";
    if (!`${system}${last}`.includes("<state_snapshot>")) return null;
    return {
      text: `<state_snapshot>${SUMMARY}</state_snapshot>`,
      usage: { input: 1100, output: 12 },
    };
  },
  async converse({ program, project }) {
    writeProject(project);
    const tools = ["--auth-type", "openai", "--approval-mode", "auto-edit"];
    const allowed = ["--allowed-tools", "run_shell_command"];
    /** @param {keyof typeof SESSIONS} name @param {string} text */
    const ask = (name, text) =>
      program(["--session-id", SESSIONS[name], ...tools, ...allowed, "-p", text], {
        mayFail: true,
      });
    /** @param {keyof typeof SESSIONS} name @param {string} text */
    const resume = (name, text) =>
      program(["--resume", SESSIONS[name], ...tools, ...allowed, "-p", text]);
    await ask("tools", PROMPTS.tools);
    await resume("tools", PROMPTS.resumed);
    await ask("subagent", PROMPTS.delegated);
    await ask("image", `${PROMPTS.picture} @well.png`);
    await ask("compaction", PROMPTS.remember);
    await resume("compaction", PROMPTS.remembered);
    await resume("compaction", "/compress");
    await resume("compaction", PROMPTS.recall);
    await ask("failure", PROMPTS.refused);
  },
  keeps: (path) => path.startsWith("projects/") && path.endsWith(".jsonl"),
  cleaned: (text) => changedRows(text, (row) => withoutLongTexts(row, 600)),
};
