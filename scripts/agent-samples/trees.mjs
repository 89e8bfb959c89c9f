/**
 * Trees: the conversation that several programs have, as far as it is the same for all. The calls
 * of tools differ: each program's module has them.
 */

export const TREE_FILES = {
  "project/trees.txt": "oak\nbirch\nlinden\n",
  "project/birds.txt": "wren\nrobin\n",
};

export const TREE_PROMPTS = {
  edit: "Put the linden first in trees.txt. The picture shows the tree.",
  resumed: "How many trees are there now?",
  forked: "Is one of them a maple?",
  long: "Tell me all that you know of the well.",
  compacted: "And of the linden?",
  delegated: "Let another agent count the birds.",
  child: "Count the birds in birds.txt.",
  refused: "This request is refused.",
};

/** The last answer to the first prompt. */
export const EDITED = {
  text: "The linden is first now; `missing.txt` does not exist.",
  usage: { input: 220, cacheRead: 1536, output: 20 },
};

/**
 * The prompts after the first one that lead to no calls.
 *
 * @param {number} longInput tokens of the long request, after which the program compacts
 * @returns {import("./answers.mjs").Script[]}
 */
export function plainTreeScripts(longInput) {
  const { resumed, forked, long, compacted, refused } = TREE_PROMPTS;
  return [
    {
      prompt: resumed,
      answers: [{ text: "Three.", usage: { input: 240, cacheRead: 1664, output: 5 } }],
    },
    {
      prompt: forked,
      answers: [{ text: "No.", usage: { input: 250, cacheRead: 1664, output: 4 } }],
    },
    {
      prompt: long,
      answers: [{ text: "It is deep and old.", usage: { input: longInput, output: 900 } }],
    },
    {
      prompt: compacted,
      answers: [{ text: "It stands next to the well.", usage: { input: 500, output: 12 } }],
    },
    { prompt: refused, answers: [{ status: 400 }] },
  ];
}
