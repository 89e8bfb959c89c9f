/** Claude Code. */

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
    {
      prompt: "Which tree is next to the well?",
      answers: [{ text: "An old linden is there.", usage: { input: 120, output: 8 } }],
    },
  ],
  async converse({ program }) {
    await program(["-p", "Which tree is next to the well?"]);
  },
  keeps: (path) => path.startsWith("projects/"),
};
