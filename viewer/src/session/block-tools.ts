/** Block tools: a copy button for each block of code, output and diff; a search for a long one. */

import { addBlockSearch } from "./block-search.ts";

/** They are put before the block, so that they are not part of its text. */
const BLOCKS = ".code > pre, .inside :is(.input, .output, .error) > pre, .source > pre";

export function addBlockTools(root: ParentNode): void {
  for (const block of root.querySelectorAll<HTMLElement>(BLOCKS)) {
    if (block.previousElementSibling?.matches("button.copy")) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.setAttribute("aria-label", "Copy this block");
    block.before(button);
    addBlockSearch(block, button);
  }
}

/** The text of the block whose button it is; null when it is another button. */
export function copiedBlock(button: Element): string | null {
  return button.matches("button.copy") ? (button.nextElementSibling?.textContent ?? "") : null;
}
