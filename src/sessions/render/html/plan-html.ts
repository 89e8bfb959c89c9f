/** Plan HTML: a list of things to do as a checklist. */

import type { Step } from "../plan.ts";
import { type Html, html } from "./markup.ts";

const WORDS = {
  finished: "done",
  current: "in progress",
  waiting: "to do",
  dropped: "dropped",
} as const;

export function planHtml(steps: readonly Step[]): Html {
  const rows = steps.map(({ text, state }) => {
    return html`<li class="step step-${state}"><span class="unseen">${WORDS[state]}: </span>${text}</li>`;
  });
  return html`<ul class="plan">${rows}</ul>`;
}
