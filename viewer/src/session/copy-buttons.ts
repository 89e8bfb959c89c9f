/** Copy buttons: one for each block of code, output and diff. */

/** Blocks with a button; it is put before them, so that it is not part of their text. */
const BLOCKS = ".code > pre, .inside :is(.input, .output, .error) > pre, .source > pre";

export function addCopyButtons(root: ParentNode): void {
  for (const block of root.querySelectorAll(BLOCKS)) {
    if (block.previousElementSibling?.matches("button.copy")) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.setAttribute("aria-label", "Copy this block");
    block.before(button);
  }
}

/** The text of the block whose button it is; null when it is another button. */
export function copiedBlock(button: Element): string | null {
  return button.matches("button.copy") ? (button.nextElementSibling?.textContent ?? "") : null;
}
