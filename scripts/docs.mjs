/**
 * `npm run docs` writes the documentation site to `dist.site`; `npm run docs:dev` serves it and makes
 * it again when a page changed.
 *
 *     node --import tsx scripts/docs.mjs [--serve] [--port N] [--base PATH]
 *
 * With `--base`, 404.html is for a site below that path, such as /verbatim/.
 */

import { mkdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, extname, join } from "node:path";
import { parseArgs } from "node:util";
import { COMMANDS } from "../src/cli/commands.ts";
import { openApiDocument } from "../src/server/openapi/document.ts";
import { root } from "./setup.mjs";
import { buildSite, listedPages } from "./site/site.mjs";

const OUTPUT = join(root, "dist.site");

const { values } = parseArgs({
  options: {
    serve: { type: "boolean" },
    port: { type: "string", default: "4438" },
    base: { type: "string", default: "/" },
  },
});
const { base } = values;
const openApi = await openApiDocument();
const build = () => buildSite({ commands: COMMANDS, openApi, base });

if (values.serve) serve(Number(values.port));
else write(build());

/** @param {ReadonlyMap<string, string | Uint8Array>} files */
function write(files) {
  const next = `${OUTPUT}.${process.pid}`;
  for (const [address, content] of files) {
    const path = join(next, address);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }
  rmSync(OUTPUT, { recursive: true, force: true });
  renameSync(next, OUTPUT);
  const { system, user } = process.cpuUsage();
  const seconds = ((system + user) / 1e6).toFixed(1);
  console.log(`${files.size} files in dist.site, ${seconds} s of processor time`);
}

/** @param {number} port */
function serve(port) {
  let made = Number.NaN;
  /** @type {ReadonlyMap<string, string | Uint8Array>} */
  let files = new Map();
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    const address = decodeURIComponent(pathname.slice(1)) || "index.html";
    try {
      const changed = newest();
      if (changed !== made) files = build();
      made = changed;
    } catch (error) {
      response.writeHead(500, { "Content-Type": "text/plain; charset=utf-8" });
      response.end(error instanceof Error ? error.message : String(error));
      return;
    }
    const found = files.has(address) ? address : "404.html";
    const type = TYPES[extname(found)] ?? "application/octet-stream";
    response.writeHead(found === address ? 200 : 404, { "Content-Type": type });
    response.end(files.get(found));
  });
  server.listen(port, "127.0.0.1", () => console.log(`http://127.0.0.1:${port}`));
}

/** When a page was last changed. */
function newest() {
  const times = listedPages().map(
    (path) => statSync(join(root, path), { throwIfNoEntry: false })?.mtimeMs,
  );
  return Math.max(...times.map((time) => time ?? 0));
}

/** @type {Readonly<Record<string, string>>} */
const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".png": "image/png",
  ".svg": "image/svg+xml",
};
