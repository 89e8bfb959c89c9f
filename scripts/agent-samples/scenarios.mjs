/**
 * Scenarios: what people say and models answer in the samples of several agents.
 *
 * Only the tools differ between these agents. The tests know these texts and numbers.
 */

/**
 * @typedef {import("./answers.mjs").Call} Call
 *
 * @typedef {object} Tools what an agent calls them
 * @property {(path: string) => Call} read
 * @property {(command: string) => Call} shell
 * @property {(path: string, from: string, to: string) => Call} edit
 * @property {(path: string, text: string) => Call} write
 * @property {(prompt: string) => Call} agent
 */

export const PROMPTS = {
  tools: "Make the well deeper, and look whether the tests pass.",
  resumed: "And how many trees are there?",
  forked: "Would a pump help?",
  delegated: "Let another agent name the first tree.",
  child: "Read trees.txt, and name the first tree.",
  picture: "Is this the picture in well.png?",
  remember: "Remember the word lantern.",
  remembered: "Remember the number 12, too.",
  recall: "Which word was it?",
  refused: "Ask for what is not allowed.",
};

/** Of a conversation that was compacted. */
export const SUMMARY = "The word is lantern, and the number is 12.";

/** @param {Tools} tools @returns {readonly import("./answers.mjs").Script[]} */
export function scenarios({ read, shell, edit, write, agent }) {
  const project = "/home/dev/project";
  return [
    {
      prompt: PROMPTS.tools,
      answers: [
        {
          thinking: "The depth is in well.js.",
          text: "I read the files first.",
          calls: [read(`${project}/well.js`), shell("wc -l trees.txt")],
          usage: { input: 900, cacheWrite: 300, output: 60, thinking: 12 },
        },
        {
          calls: [edit(`${project}/well.js`, "depth = 7", "depth = 9")],
          usage: { input: 50, cacheRead: 1200, output: 40 },
        },
        {
          calls: [shell("echo no tests >&2; exit 3"), read(`${project}/missing.txt`)],
          usage: { input: 30, cacheRead: 1250, output: 35 },
        },
        {
          calls: [write(`${project}/notes.md`, "The well is 9 deep.\n")],
          usage: { input: 20, cacheRead: 1300, output: 30 },
        },
        {
          text: "The well is 9 deep now. There are no tests.",
          usage: { input: 10, cacheRead: 1350, output: 15 },
        },
      ],
    },
    {
      prompt: PROMPTS.resumed,
      answers: [{ text: "Three.", usage: { input: 12, cacheRead: 1400, output: 3 } }],
    },
    {
      prompt: PROMPTS.forked,
      answers: [{ text: "Yes, a small one.", usage: { input: 14, cacheRead: 1400, output: 6 } }],
    },
    {
      prompt: PROMPTS.delegated,
      answers: [
        { calls: [agent(PROMPTS.child)], usage: { input: 400, output: 50 } },
        { text: "The first tree is a linden.", usage: { input: 460, output: 9 } },
      ],
    },
    {
      prompt: PROMPTS.child,
      answers: [
        { calls: [read(`${project}/trees.txt`)], usage: { input: 200, output: 20 } },
        { text: "It is a linden.", usage: { input: 230, output: 7 } },
      ],
    },
    {
      prompt: PROMPTS.picture,
      answers: [
        { calls: [read(`${project}/well.png`)], usage: { input: 300, output: 20 } },
        { text: "Yes, both are blue squares.", usage: { input: 380, output: 9 } },
      ],
    },
    {
      prompt: PROMPTS.remember,
      answers: [{ text: "I will: lantern.", usage: { input: 110, output: 6 } }],
    },
    {
      prompt: PROMPTS.remembered,
      answers: [{ text: "And 12.", usage: { input: 130, output: 4 } }],
    },
    {
      prompt: PROMPTS.recall,
      answers: [{ text: "It was lantern.", usage: { input: 90, output: 5 } }],
    },
    { prompt: PROMPTS.refused, answers: [{ status: 400 }] },
  ];
}

/** The session of each scenario. */
export const SESSIONS = {
  tools: "00000000-0000-4000-8000-000000000001",
  subagent: "00000000-0000-4000-8000-000000000002",
  image: "00000000-0000-4000-8000-000000000003",
  compaction: "00000000-0000-4000-8000-000000000004",
  failure: "00000000-0000-4000-8000-000000000005",
  fork: "00000000-0000-4000-8000-000000000006",
  mentions: "00000000-0000-4000-8000-000000000007",
};
