/** Claude Code. */

import { changedRows } from "../keep.mjs";
import { PICTURE } from "../picture.mjs";
import { writeProject } from "../project.mjs";
import { PROMPTS, SESSIONS, SUMMARY, scenarios } from "../scenarios.mjs";

/** @type {import("../make.mjs").Agent} */
export const claudeCode = {
  name: "claude-code",
  bin: "claude",
  root: ".claude",
  environment: (url) => ({
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: "none",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  }),
  scripts: scenarios({
    read: (file_path) => ({ name: "Read", input: { file_path } }),
    shell: (command) => ({ name: "Bash", input: { command, description: "Try it" } }),
    edit: (file_path, old_string, new_string) => ({
      name: "Edit",
      input: { file_path, old_string, new_string },
    }),
    write: (file_path, content) => ({ name: "Write", input: { file_path, content } }),
    agent: (prompt) => ({
      name: "Agent",
      input: { description: "First tree", prompt, subagent_type: "general-purpose" },
    }),
  }),
  sideAnswer({ messages }) {
    const last = messages.at(-1)?.text ?? "";
    if (!last.includes("<summary>")) return null;
    const text = `<analysis>Short.</analysis>\n<summary>${SUMMARY}</summary>`;
    return { text, usage: { input: 700, output: 12 } };
  },
  async converse({ program, project }) {
    writeProject(project);
    const tools = ["--allowedTools", "Bash,Read,Edit,Write,Agent"];
    /** @param {keyof typeof SESSIONS} name @param {string} text */
    const ask = (name, text) =>
      program(["--session-id", SESSIONS[name], "-p", text, ...tools], { mayFail: true });
    /** @param {keyof typeof SESSIONS} name @param {string} text @param {string[]} more */
    const resume = (name, text, ...more) =>
      program(["--resume", SESSIONS[name], "-p", text, ...tools, ...more]);
    await ask("tools", PROMPTS.tools);
    await resume("tools", PROMPTS.resumed);
    await resume("tools", PROMPTS.forked, "--fork-session", "--session-id", SESSIONS.fork);
    await ask("subagent", PROMPTS.delegated);
    const source = { type: "base64", media_type: "image/png", data: PICTURE.toString("base64") };
    const content = [
      { type: "text", text: PROMPTS.picture },
      { type: "image", source },
    ];
    const json = ["--input-format", "stream-json", "--output-format", "stream-json", "--verbose"];
    await program(["--session-id", SESSIONS.image, "-p", ...json, ...tools], {
      input: `${JSON.stringify({ type: "user", message: { role: "user", content } })}\n`,
    });
    await ask("compaction", PROMPTS.remember);
    await resume("compaction", PROMPTS.remembered);
    await resume("compaction", "/compact");
    await resume("compaction", PROMPTS.recall);
    await ask("failure", PROMPTS.refused);
  },
  keeps: (path) => path.startsWith("projects/") && path.endsWith(".jsonl"),
  cleaned: (text) => changedRows(text, cleanedRow),
};

/** @param {any} row */
function cleanedRow(row) {
  const { attachment, message, isCompactSummary } = row;
  if (attachment?.type === "agent_listing_delta") {
    attachment.addedLines = attachment.addedTypes.map((/** @type {string} */ type) => `- ${type}`);
  }
  if (attachment?.type === "skill_listing") {
    attachment.content = attachment.names
      .map((/** @type {string} */ name) => `- ${name}`)
      .join("\n");
  }
  if (isCompactSummary) {
    message.content = `This session is being continued from an earlier one.\n\nSummary:\n${SUMMARY}`;
  }
  return JSON.parse(
    JSON.stringify(row)
      .replaceAll(/(<local-command-caveat>Caveat: )[^<]*/g, "$1A local command.")
      .replaceAll(/ \(file state is current[^)]*\)/g, "")
      .replaceAll(/(agentId: \w+) \(use [^)]*\)/g, "$1"),
  );
}
