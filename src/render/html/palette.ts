/**
 * Palette: colours and fonts of all our HTML, light and dark.
 *
 * Each is a list of custom properties for a CSS rule. Text on `page`, `card` and `soft` has a
 * contrast of 4.5 to 1 or more (WCAG AA) in both.
 */

import { type Html, html } from "./markup.ts";

export const LIGHT: Html = html`
  --page: #f4f4f1; --card: #fff; --soft: #f5f5f2; --ink: #20211f; --dim: #686a65; --line: #dfdfd9;
  --user: #2563c9; --user-card: #f0f5fe; --assistant: #7645c9; --tool: #8a5a00; --system: #5d6470;
  --bad: #b3261e; --bad-card: #fdf1ef; --good: #1d7346; --wait: #8a5a00; --link: #1f5fc4;
  --name: #7645c9; --string: #1d6f45; --number: #a1440b; --shadow: 0 1px 2px #0000000f;
  --gone: #fbe9e7; --new: #e4f4e9;
`;

export const DARK: Html = html`
  --page: #131416; --card: #1b1c1f; --soft: #232428; --ink: #e6e5e1; --dim: #9b9c98;
  --line: #33353a;
  --user: #7fb0ff; --user-card: #19222f; --assistant: #bb9bf5; --tool: #e0ad55; --system: #a3abb8;
  --bad: #ff8f85; --bad-card: #2c1c1b; --good: #6fce9b; --wait: #e0ad55; --link: #86b6ff;
  --name: #bb9bf5; --string: #83d0a3; --number: #f0a878; --shadow: none;
  --gone: #3a1f1e; --new: #17301f;
`;

export const LETTERS: Html = html`
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
`;
