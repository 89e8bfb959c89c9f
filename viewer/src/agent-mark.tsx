/**
 * Agent mark: the small mark of an agent, in its colour, next to its name; its letters are no
 * text of the page.
 */

import { agentLook } from "../../src/dialects/agent-looks.ts";
import { pageText } from "../../src/sessions/render/html/markup.ts";

export function AgentMark({ label }: { readonly label: string }) {
  const { hue, mark } = agentLook(label);
  return (
    <span
      class="agent-mark"
      style={{ "--hue": hue }}
      data-mark={mark}
      title={pageText(label)}
      aria-hidden="true"
    />
  );
}

/** In a chart. */
export function agentColor(label: string): string {
  const { hue } = agentLook(label);
  return `light-dark(oklch(0.6 0.13 ${hue}), oklch(0.72 0.12 ${hue}))`;
}
