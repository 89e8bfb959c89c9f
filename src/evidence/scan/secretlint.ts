/**
 * Secretlint: the rules of `@secretlint/secretlint-rule-preset-recommend`, one for each service.
 *
 * Why only some are used, and why not through `@secretlint/core`: docs/decisions/0021-scanning.md.
 *
 * - Reported ranges are not used as they are: some begin at the name of a variable and have the
 *   length of its value. The reported value is looked for from there.
 * - Their messages contain the value. They are never made into text.
 */

import type { RuleContext } from "@secretlint/secretlint-rule-preset-recommend";
import type { Match, Rule } from "./rules.ts";

/** The literals of each rule: every value that it finds contains one of them. */
const NEAR: Readonly<Record<string, readonly string[]>> = {
  "1password": ["ops_ey"],
  anthropic: ["sk-ant-"],
  aws: ["ss_k", "ss_K", "ssk", "ssK", "SS_k", "SS_K", "SSk", "SSK"],
  databricks: ["dapi"],
  docker: ["dckr_pat_"],
  figma: ["figd_"],
  github: ["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"],
  gitlab: ["glpat-"],
  grafana: ["glc_", "glsa_"],
  groq: ["gsk_"],
  "hashicorp-vault": ["hvs.", "hvb.", "hvr."],
  huggingface: ["hf_"],
  linear: ["lin_api_"],
  notion: ["ntn_"],
  npm: ["npm_", "_authToken="],
  openai: ["T3BlbkFJ"],
  sendgrid: ["SG."],
  shopify: ["shppa_", "shpca_", "shpat_", "shpss_"],
  slack: ["xoxb-", "xoxp-", "xapp-", "xoxa-", "xoxo-", "xoxr-", "hooks.slack"],
  vercel: ["vcp_", "vci_", "vca_", "vcr_", "vck_"],
};

/** Values longer than the default, with a blank or quote after them. */
const AFTER_BYTES: Readonly<Record<string, number>> = {
  "1password": 1_400,
  grafana: 500,
  "hashicorp-vault": 400,
  openai: 400,
  sendgrid: 500,
};

const PREFIX = "@secretlint/secretlint-rule-";

export async function secretlintRules(): Promise<Rule[]> {
  const { rules } = await import("@secretlint/secretlint-rule-preset-recommend");
  const made: Rule[] = [];
  for (const creator of rules) {
    const id = creator.meta.id.slice(PREFIX.length);
    const near = Object.hasOwn(NEAR, id) ? NEAR[id] : undefined;
    if (near === undefined) continue;
    let found: Match[] = [];
    let content = "";
    const context: RuleContext = {
      createTranslator: () => (_id, facts) => ({ ...facts }),
      report: ({ message, range }) => {
        const value = Object.values(message).find((each) => typeof each === "string");
        const match = valueFrom(content, value ?? "", range);
        if (match.end > match.start) found.push(match);
      },
    };
    const { file } = creator.create(context, {});
    const find = (text: string) => {
      found = [];
      content = text;
      file?.({ content, filePath: ".npmrc" }); // Some look for more in files of this name.
      return found;
    };
    made.push({
      id,
      what: `key or token, by the rule ${creator.meta.id}`,
      near,
      isBreakable: true,
      find,
      ...(Object.hasOwn(AFTER_BYTES, id) && { after: AFTER_BYTES[id] ?? 0 }),
    });
  }
  return made;
}

/** Where the value is. One that a rule takes to the end of the line ends at a blank or quote. */
function valueFrom(content: string, value: string, range: readonly [number, number]): Match {
  const start = content.indexOf(value, range[0]);
  if (value === "" || start === -1) return { start: range[0], end: range[1] };
  const end = value.search(/[\s"'`\\]/);
  return { start, end: start + (end === -1 ? value.length : end) };
}
