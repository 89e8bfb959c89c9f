/** Claude Code. */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { changedRows, withoutLongTexts } from "../keep.mjs";
import { PICTURE } from "../picture.mjs";
import { writeProject } from "../project.mjs";
import { PROMPTS, SESSIONS, SUMMARY, scenarios } from "../scenarios.mjs";

/** Of a session with files that are mentioned, a skill, a picture and a prompt that waits. */
const MENTIONING = "Is a well in @trees.txt or in @well.png?";
const SKILLED = "Use the skill for gardens.";
const WAITED = "Wait a moment, and then say how deep it is.";
const WAITING = "And say it twice.";
const RECALLED = "Which trees are there?";
const SKILL =
  "---\nname: garden\ndescription: How to describe a garden\n---\n\nName the trees first.\n";

/** @type {readonly import("../answers.mjs").Script[]} */
const MENTION_SCRIPTS = [
  {
    prompt: MENTIONING,
    answers: [{ text: "In neither.", usage: { input: 500, output: 6 } }],
  },
  {
    prompt: SKILLED,
    answers: [
      {
        calls: [{ name: "Skill", input: { skill: "garden" } }],
        usage: { input: 520, output: 11 },
      },
      { text: "Linden, birch, maple.", usage: { input: 540, output: 9 } },
    ],
  },
  {
    prompt: WAITED,
    answers: [
      {
        calls: [{ name: "Bash", input: { command: "sleep 4; cat well.js", description: "Wait" } }],
        usage: { input: 560, output: 12 },
      },
      { text: "Seven.", usage: { input: 580, output: 3 } },
    ],
  },
  { prompt: RECALLED, answers: [{ text: "Three of them.", usage: { input: 90, output: 5 } }] },
  { prompt: WAITING, answers: [{ text: "Seven, seven.", usage: { input: 600, output: 5 } }] },
];

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
  scripts: [
    ...MENTION_SCRIPTS,
    ...scenarios({
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
  ],
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
    await converseOfGardens({ program, project });
  },
  keeps: (path) => path.startsWith("projects/") && path.endsWith(".jsonl"),
  cleaned: (text) => changedRows(text, cleanedRow),
};

/** @param {Pick<import("../make.mjs").Session, "program" | "project">} session */
async function converseOfGardens({ program, project }) {
  mkdirSync(join(project, ".claude/skills/garden"), { recursive: true });
  writeFileSync(join(project, ".claude/skills/garden/SKILL.md"), SKILL);
  const tools = ["--allowedTools", "Bash,Read,Skill"];
  const resume = ["--resume", SESSIONS.mentions];
  await program(["--session-id", SESSIONS.mentions, "-p", MENTIONING, ...tools]);
  await program([...resume, "-p", SKILLED, ...tools]);
  const json = ["--input-format", "stream-json", "--output-format", "stream-json", "--verbose"];
  /** @param {string} content */
  const line = (content) =>
    `${JSON.stringify({ type: "user", message: { role: "user", content } })}\n`;
  await program([...resume, "-p", ...json, ...tools], {
    input: line(WAITED),
    /** The next prompt is typed while the agent works. */
    reply: (out) => (out.includes('"tool_use"') ? line(WAITING) : null),
  });
  await program([...resume, "-p", "/compact"]);
  await program([...resume, "-p", RECALLED, ...tools]);
}

/** Longer texts of the program are not ours. */
const SHORT_CHARS = 60;

/** @param {any} tool */
const nameOnly = ({ name }) => ({ name });

const REMINDER = "<system-reminder>\nA text of the program.\n</system-reminder>";

/** Attachments in which all words are ours. */
const OURS = ["file", "date"];

/** @param {any} row */
function cleanedRow(row) {
  const { attachment, message, isCompactSummary } = row;
  if (row.type?.startsWith("api-request")) {
    if (row.shape?.tools) row.shape.tools = row.shape.tools.map(nameOnly);
    return withoutLongTexts(row, SHORT_CHARS);
  }
  if (attachment?.type === "prompt_snapshot") {
    if (attachment.tools) attachment.tools = attachment.tools.map(nameOnly);
    row.attachment = withoutLongTexts(attachment, SHORT_CHARS);
  }
  if (row.rendered && !OURS.includes(attachment?.type)) {
    row.rendered = row.rendered.map((/** @type {any} */ each) => ({ ...each, content: REMINDER }));
  }
  if (attachment?.type === "model") row.attachment = withoutLongTexts(attachment, SHORT_CHARS);
  if (attachment?.type === "session_context") attachment.context = { gitStatus: "Branch: main" };
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
      .replaceAll(/(<local-command-caveat>(?:Caveat: )?)[^<]*/g, "$1A local command.")
      .replaceAll(/("osVersion":"Linux)[^"]*/g, "$1")
      .replaceAll(/ \(file state is current[^)]*\)/g, "")
      .replaceAll(/(agentId: \w+) \(use [^)]*\)/g, "$1"),
  );
}
