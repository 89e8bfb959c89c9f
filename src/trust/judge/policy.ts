/**
 * Policy: may a session be continued if its last lines are unsigned? `strict` says no; `lenient`
 * lets such lines through, marked. The user decides. Order of precedence:
 *
 *     flag, over VERBATIM_TRANSCRIPT_INTEGRITY, over the user's config.json, over `strict`
 *
 * A project may only tighten the policy: a process that can write its transcripts can also write
 * its settings. A setting that cannot be read or understood is an error, and never read as the
 * laxer value.
 */

import { join } from "node:path";
import { VerbatimError } from "../../core/base/errors.ts";
import { readUserFile, type UserFileRules } from "../../core/base/node-user-files.ts";

export type Policy = "strict" | "lenient";

/** The setting of each source; undefined if it has none. Files come with their path. */
export interface PolicySources {
  readonly flag?: string | undefined;
  readonly env?: string | undefined;
  readonly user?: StatedPolicy | undefined;
  readonly project?: readonly StatedPolicy[];
}

export interface StatedPolicy {
  readonly policy: Policy;
  readonly path: string;
}

export interface PolicyInForce {
  readonly policy: Policy;
  /** "flag", "environment", "default", or the path of a file. */
  readonly from: string;
}

export const POLICY_VARIABLE = "VERBATIM_TRANSCRIPT_INTEGRITY";
const SETTING = "transcript_integrity";
const SETTINGS_BYTES_MAX = 256 * 1024;

/** A project's own settings. */
const PROJECT_JSON = ".verbatim.json";

/** The policy in force, and its source. Refuses with BAD_SETTING. */
export function policyFor({ flag, env, user, project = [] }: PolicySources): PolicyInForce {
  const chosen = chosenBy(flag, env, user);
  const tightening = project.find(({ policy }) => policy === "strict");
  if (chosen.policy === "strict" || tightening === undefined) return chosen;
  return { policy: "strict", from: tightening.path }; // A project may only tighten.
}

/** The setting in the user's `config.json`; undefined without the file or the setting. */
export function readUserPolicy(configPath: string): StatedPolicy | undefined {
  const text = readSettings(configPath, "own");
  return text === null ? undefined : statedInJson(text, configPath);
}

/**
 * The settings in a project's files. All are read, because any of them may tighten. `yamlPaths`:
 * where the settings of other programs may be, below the project.
 */
export function readProjectPolicies(
  projectPath: string,
  yamlPaths: readonly string[],
): readonly StatedPolicy[] {
  const stated: (StatedPolicy | undefined)[] = [];
  const jsonPath = join(projectPath, PROJECT_JSON);
  const json = readSettings(jsonPath, "anyone");
  if (json !== null) stated.push(statedInJson(json, jsonPath));
  for (const below of yamlPaths) {
    const path = join(projectPath, below);
    const yaml = readSettings(path, "anyone");
    if (yaml !== null) stated.push(...statedInYaml(yaml, path));
  }
  return stated.filter((each) => each !== undefined);
}

function chosenBy(
  flag: string | undefined,
  env: string | undefined,
  user: StatedPolicy | undefined,
): PolicyInForce {
  if (flag !== undefined) return { policy: policyOf(flag, SETTING, "flag"), from: "flag" };
  if (env) {
    return { policy: policyOf(env, POLICY_VARIABLE, "environment"), from: "environment" };
  }
  if (user) return { policy: user.policy, from: user.path };
  return { policy: "strict", from: "default" };
}

function statedInJson(text: string, path: string): StatedPolicy | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw badSetting(SETTING, path, "the file is not JSON");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw badSetting(SETTING, path, "the file is no JSON object");
  }
  // The file may hold other settings, which are not ours.
  if (!Object.hasOwn(value, SETTING)) return undefined;
  return { policy: policyOf((value as Record<string, unknown>)[SETTING], SETTING, path), path };
}

const YAML_LINE =
  /^\s*(?:"transcript_integrity"|'transcript_integrity'|transcript_integrity)\s*:\s*(?:"(\w+)"|'(\w+)'|(\w+))\s*(?:#.*)?$/;

/**
 * Every line of YAML that sets it, at any depth. A line that names the setting in any other form is
 * an error: it may be a `strict` that we fail to read.
 */
function statedInYaml(text: string, path: string): StatedPolicy[] {
  const lines = text.split(/\r\n|\r|\n/).filter((line) => /^[^#]*transcript_integrity/.test(line));
  return lines.map((line) => {
    const [, double, single, bare] = YAML_LINE.exec(line) ?? [];
    return { policy: policyOf(double ?? single ?? bare, SETTING, path), path };
  });
}

function policyOf(value: unknown, setting: string, from: string): Policy {
  if (value === "strict" || value === "lenient") return value;
  throw badSetting(setting, from, "it is neither strict nor lenient");
}

function readSettings(path: string, access: UserFileRules["access"]): string | null {
  const file = readUserFile(path, { access, bytesMax: SETTINGS_BYTES_MAX });
  if (file === null || file.fault === null) return file?.text ?? null;
  throw badSetting(SETTING, path, file.fault);
}

function badSetting(setting: string, from: string, reason: string): VerbatimError<"BAD_SETTING"> {
  return new VerbatimError("BAD_SETTING", `${setting} in ${from} is refused: ${reason}`, {
    setting,
    from,
    reason,
  });
}
