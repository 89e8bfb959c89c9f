/**
 * Agent looks: the colour and the mark of each agent, by its label, wherever pages show one. They are
 * ours, not trade marks. An agent without a line here has both from its name.
 */

export interface AgentLook {
  /** Of its colour, in degrees (OKLCH); the theme has its lightness. */
  readonly hue: number;
  /** Two letters. */
  readonly mark: string;
}

/** As far apart as so many can be. */
const LOOKS: Readonly<Record<string, AgentLook>> = {
  OpenClaw: { hue: 15, mark: "Ow" },
  "Claude Code": { hue: 40, mark: "Cl" },
  Goose: { hue: 65, mark: "Go" },
  pi: { hue: 90, mark: "pi" },
  Droid: { hue: 115, mark: "Dr" },
  OpenCode: { hue: 140, mark: "Oc" },
  Codex: { hue: 165, mark: "Cx" },
  Cursor: { hue: 190, mark: "Cu" },
  "Grok Build": { hue: 215, mark: "Gr" },
  "Copilot CLI": { hue: 240, mark: "Co" },
  "Gemini CLI": { hue: 265, mark: "Ge" },
  Antigravity: { hue: 290, mark: "An" },
  "Qwen Code": { hue: 315, mark: "Qw" },
  "Kimi Code": { hue: 340, mark: "Ki" },
};

export function agentLook(label: string): AgentLook {
  if (Object.hasOwn(LOOKS, label)) return LOOKS[label] as AgentLook;
  let hash = 0;
  for (const letter of label) hash = (hash * 31 + (letter.codePointAt(0) ?? 0)) % 360;
  const [mark = "?"] = /\p{L}\p{L}?|\p{N}/u.exec(label.split("/").at(-1) ?? "") ?? [];
  return { hue: hash, mark: mark.charAt(0).toUpperCase() + mark.slice(1) };
}
