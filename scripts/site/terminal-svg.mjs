/**
 * Terminal SVG: commands and their output as an animated picture. It loads nothing, runs no script,
 * and shows everything at once to readers who asked for less motion.
 *
 * @typedef {object} Step
 * @property {string} command
 * @property {readonly string[]} output
 */

import { escapeHtml } from "./markdown.mjs";

const COLUMNS = 92;
const ROW = 20;
const TYPING_S = 0.6;
const READING_S = 1.4;
const END_S = 5;

/** @param {readonly Step[]} steps */
export function terminalSvg(steps) {
  /** @type {{ text: string, isCommand: boolean, at: number }[]} */
  const rows = [];
  let at = 0.5;
  for (const { command, output } of steps) {
    rows.push({ text: `$ ${command}`, isCommand: true, at });
    at += TYPING_S;
    for (const text of output.filter((line) => line.trim() !== "")) {
      rows.push({ text: cut(text), isCommand: false, at });
    }
    at += READING_S;
  }
  const total = at + END_S;
  const height = (rows.length + 2) * ROW;
  const shown = [...new Set(rows.map((row) => row.at))];
  const keyframes = shown.map((time, index) => {
    const percent = ((time / total) * 100).toFixed(2);
    return `@keyframes s${index}{0%,${percent}%{opacity:0}${percent}1%,100%{opacity:1}}.s${index}{animation-name:s${index}}`;
  });
  const texts = rows.map(({ text, isCommand, at }, index) => {
    const kind = isCommand ? "c" : "o";
    const y = (index + 1.7) * ROW;
    return `<text class="${kind} s${shown.indexOf(at)}" x="16" y="${y}">${escapeHtml(text)}</text>`;
  });
  const label = "Verbatim restores a deleted session and finds a changed line in a signed one";
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 ${height}" role="img" aria-label="${label}">
<style>
text{font:14px ui-monospace,Menlo,Consolas,monospace;white-space:pre;fill:#c9d1d9;animation:${total.toFixed(1)}s infinite}
.c{fill:#7ee787}
${keyframes.join("\n")}
@media (prefers-reduced-motion:reduce){text{animation:none}}
</style>
<rect width="800" height="${height}" rx="8" fill="#161b22"/>
${texts.join("\n")}
</svg>
`;
}

/** @param {string} text */
function cut(text) {
  return text.length <= COLUMNS ? text : `${text.slice(0, COLUMNS - 1)}…`;
}
