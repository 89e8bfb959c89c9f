/**
 * Keep: copies the files of an agent that become samples, without anything of this machine.
 *
 * The home directory becomes `/home/dev`, also where a program writes it with dashes.
 */

import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { hostname, userInfo } from "node:os";
import { dirname, join } from "node:path";

export const NEUTRAL_HOME = "/home/dev";

/**
 * Returns the paths of the files that it wrote, below the target.
 *
 * @param {object} given
 * @param {import("./make.mjs").Agent} given.agent
 * @param {string} given.home
 * @param {string} given.url of the provider
 * @param {string} given.target
 */
export function keepSamples({ agent, home, url, target }) {
  const source = join(home, agent.root);
  const paths = readdirSync(source, { recursive: true, encoding: "utf8" })
    .filter((path) => statSync(join(source, path)).isFile() && agent.keeps(path))
    .sort();
  return paths.map((path) => {
    const bytes = readFileSync(join(source, path));
    const neutralPath = neutral(path, { home, url });
    const file = join(target, neutralPath);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, isText(bytes) ? cleanedText(bytes.toString(), neutralPath) : bytes);
    return neutralPath;
  });

  /** @param {string} text @param {string} path */
  function cleanedText(text, path) {
    const cleaned = neutral(text, { home, url });
    return agent.cleaned?.(cleaned, path) ?? cleaned;
  }
}

/** @param {Buffer} bytes */
function isText(bytes) {
  return Buffer.from(bytes.toString()).equals(bytes);
}

/** @param {string} text @param {{ home: string, url: string }} machine */
function neutral(text, { home, url }) {
  /** @param {string} path */
  const dashed = (path) => path.replaceAll(/[^A-Za-z0-9]/g, "-");
  return [
    [home, NEUTRAL_HOME],
    [dashed(home), dashed(NEUTRAL_HOME)],
    [url, "http://localhost:8080"],
    [hostname(), "devhost"],
    ...(userInfo().username === "root" ? [] : [[userInfo().username, "dev"]]),
  ].reduce((result, [from = "", to = ""]) => result.replaceAll(from, to), text);
}

/**
 * The text of a JSONL file with every row changed; the rest of a row stays as the program wrote it.
 *
 * @param {string} text
 * @param {(row: any) => unknown} change
 */
export function changedRows(text, change) {
  return text.replaceAll(/^.+$/gm, (line) => {
    const row = JSON.parse(line);
    const changed = JSON.stringify(change(row));
    return changed === JSON.stringify(JSON.parse(line)) ? line : changed;
  });
}

/**
 * A row with a short text in the place of each long one: all texts of ours are short, so that
 * long ones are a program's own prompts.
 *
 * @param {any} value
 * @param {number} charsMax
 * @returns {any}
 */
export function withoutLongTexts(value, charsMax) {
  if (typeof value === "string") {
    return value.length > charsMax ? "A text of the program." : value;
  }
  if (Array.isArray(value)) return value.map((each) => withoutLongTexts(each, charsMax));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name, withoutLongTexts(field, charsMax)]),
  );
}
