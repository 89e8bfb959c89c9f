/**
 * Terminal: Markdown with a little colour.
 *
 * Takes text that `text.ts` has escaped, and adds the only escape codes. Reads lines, not
 * Markdown: headings, rules, fences, bold captions and italic notes, which is all that our own
 * renderers write. A piece is coloured by itself, so a fence ends where its piece does.
 */

const RESET = "\u001b[0m";
const BOLD = "\u001b[1m";
const DIM = "\u001b[2m";
const CYAN = "\u001b[36m";
const YELLOW = "\u001b[33m";

/** Colours one piece of Markdown. */
export function colourMarkdown(safeMarkdown: string): string {
  let fence: string | null = null;
  return safeMarkdown
    .split("\n")
    .map((line) => {
      const marks = /^`{3,}/.exec(line)?.[0] ?? "";
      if (fence !== null) {
        // A fence is closed by as many backticks as opened it, and nothing else.
        if (line === fence) fence = null;
        return painted(line, DIM);
      }
      if (marks !== "") {
        fence = marks;
        return painted(line, DIM);
      }
      return coloured(line);
    })
    .join("\n");
}

function coloured(line: string): string {
  if (/^#{1,6} /.test(line)) return painted(line, BOLD + CYAN);
  if (line === "---" || /^_.+_$/.test(line)) return painted(line, DIM);
  return line.replace(/^\*\*[^*]+\*\*/, (caption) => painted(caption, BOLD + YELLOW));
}

/** Each line by itself, so that a pager may begin anywhere. */
function painted(line: string, code: string): string {
  return line === "" ? "" : `${code}${line}${RESET}`;
}
