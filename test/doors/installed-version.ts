/** The installed version of a dependency, by the name or alias that package.json gives it. */

import { readFileSync } from "node:fs";

export function versionOf(alias: string): string {
  const manifest = new URL(`../../node_modules/${alias}/package.json`, import.meta.url);
  return (JSON.parse(readFileSync(manifest, "utf8")) as { version: string }).version;
}
