/** Entry points: what package.json exports, as names below `dist` without ending: `index`. */

import { readFileSync } from "node:fs";

const { exports } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));

/** @returns {string[]} */
export function entryPoints() {
  const doors = /** @type {{ default?: string }[]} */ (Object.values(exports));
  return doors.flatMap(({ default: path }) => {
    const name = /^\.\/dist\/(.+)\.js$/.exec(path ?? "")?.[1];
    return name === undefined ? [] : [name];
  });
}
