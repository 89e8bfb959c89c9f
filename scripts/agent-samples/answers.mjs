/**
 * Answers: what the fake model says, the same for every protocol, and which answer a request gets.
 *
 * A script is found by its prompt: the last message of the user that contains it. The answer is
 * the one after as many answers of the model as follow that message. So a request decides alone:
 * a resumed session, a fork and a sub-agent (whose prompt is in the call that starts it) need no
 * state here.
 */

/**
 * @typedef {object} Usage
 * @property {number} input tokens that were not read from the cache
 * @property {number} output with those of thinking
 * @property {number} [cacheRead]
 * @property {number} [cacheWrite]
 * @property {number} [thinking]
 *
 * @typedef {object} Call
 * @property {string} name
 * @property {Record<string, unknown> | string} input a text: of a tool that takes no object
 * @property {string} [namespace] of the tool, in OpenAI's Responses API
 *
 * @typedef {object} Answer
 * @property {string} [thinking]
 * @property {string} [text]
 * @property {readonly Call[]} [calls]
 * @property {number} [status] an HTTP status of failure, in the place of an answer
 * @property {Usage} [usage]
 *
 * @typedef {object} Script
 * @property {string} prompt
 * @property {readonly Answer[]} answers
 *
 * @typedef {object} Message
 * @property {"user" | "assistant" | "tool"} role `tool`: only results of calls
 * @property {string} text
 *
 * @typedef {object} ModelRequest
 * @property {string} path of the URL
 * @property {string} model
 * @property {string} system
 * @property {readonly Message[]} messages
 * @property {readonly string[]} tools
 * @property {boolean} isStream
 * @property {any} body as the program sent it
 *
 * @typedef {(request: ModelRequest) => Answer | null} AnswerTo null: no answer of its own
 */

/** @type {Answer} */
const DEFAULT_ANSWER = { text: "All is done." };

/** @type {Usage} */
export const DEFAULT_USAGE = { input: 100, output: 10 };

/**
 * An id in the shape of a provider's: of real ones, usage counts an answer once.
 *
 * @param {string} prefix @param {number} length of what follows it @param {number} number
 */
export function sampleId(prefix, length, number) {
  return `${prefix}sample${String(number).padStart(length - "sample".length, "0")}`;
}

/** @type {(request: ModelRequest, scripts: readonly Script[]) => Answer | null} */
export function scriptedAnswer({ messages }, scripts) {
  for (const [at, { role, text }] of [...messages.entries()].reverse()) {
    const script =
      role === "user" ? scripts.find(({ prompt }) => text.includes(prompt)) : undefined;
    if (script === undefined) continue;
    const given = messages.slice(at + 1).filter((message) => message.role === "assistant").length;
    return script.answers[given] ?? DEFAULT_ANSWER;
  }
  return null;
}

/**
 * @param {readonly Script[]} scripts
 * @param {AnswerTo} [sideAnswer] to calls of the program for itself: a title, a summary
 * @returns {(request: ModelRequest) => Answer}
 */
export function answersOf(scripts, sideAnswer) {
  return (request) => sideAnswer?.(request) ?? scriptedAnswer(request, scripts) ?? DEFAULT_ANSWER;
}
