/**
 * Viewer: the mount of the browser app, which serves `dist/viewer`.
 *
 * Only files that were in the directory at the first request are served, from memory and by exact
 * name. No path of a request reaches the file system, and a new build does not change a page that
 * is open.
 *
 * The page may load from and connect to its own server only, and runs only its own script files: no
 * text of a transcript can become a script.
 */

import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { packageFile } from "../../core/package-file.ts";
import { answer, type Headers, newHeaders, refuseWriting } from "../http/answer.ts";
import type { OpenMount } from "../router/mount.ts";
import { ASSET_ROOT, isBelow } from "../router/paths.ts";

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  // viewer/src/trusted-html.ts is that policy.
  "require-trusted-types-for 'script'",
  "trusted-types verbatim",
].join("; ");

const TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  md: "text/markdown; charset=utf-8",
};

interface ViewerFile {
  readonly type: string;
  readonly tag: string;
  readonly bytes: Buffer;
  /** Read at the first request. */
  gzip: Buffer | null;
}

type ViewerFiles = ReadonlyMap<string, ViewerFile>;

let files: ViewerFiles | null = null;

export const VIEWER: OpenMount = {
  async handle({ request, response, path }) {
    files ??= readViewer();
    const file = files.get(path);
    if (file === undefined) return false;
    refuseWriting(request);
    answerFile(path, file, request, response);
    return true;
  },
};

function answerFile(
  path: string,
  file: ViewerFile,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const headers = viewerHeaders(path, file);
  if (isNamed(request.headers["if-none-match"], file.tag)) {
    answer(response, 304, headers);
    return;
  }
  headers.push("Content-Type", file.type);
  let body = file.bytes;
  if (acceptsGzip(request)) {
    file.gzip ??= gzipSync(file.bytes, { level: 9 });
    body = file.gzip;
    headers.push("Content-Encoding", "gzip");
  }
  headers.push("Content-Length", String(body.length));
  response.writeHead(200, headers);
  response.end(body);
}

function viewerHeaders(path: string, { tag }: ViewerFile): Headers {
  const isFixed = isBelow(path, ASSET_ROOT);
  const headers = newHeaders();
  headers.push("ETag", tag, "Vary", "Accept-Encoding, Origin");
  headers.push("Cache-Control", isFixed ? "public, max-age=31536000, immutable" : "no-cache");
  headers.push("Content-Security-Policy", POLICY, "Referrer-Policy", "no-referrer");
  headers.push("Cross-Origin-Opener-Policy", "same-origin");
  return headers;
}

/** Empty if a bundler left the viewer out: the server works without it. */
function readViewer(): ViewerFiles {
  const directory = packageFile("dist/viewer/");
  const found = new Map<string, ViewerFile>();
  for (const name of namesIn(directory)) {
    const type = TYPES[name.slice(name.lastIndexOf(".") + 1)];
    if (type === undefined) continue;
    const bytes = readFileSync(new URL(name, directory));
    const hash = createHash("sha256").update(bytes).digest("base64url");
    // Weak, because it covers the bytes with and without compression.
    const file = { type, tag: `W/"${hash.slice(0, 22)}"`, bytes, gzip: null };
    found.set(name === "index.html" ? "/" : `/${name}`, file);
  }
  return found;
}

function namesIn(directory: URL): string[] {
  try {
    const options = { recursive: true, encoding: "utf8" } as const;
    const names = readdirSync(fileURLToPath(directory), options);
    return names.map((name) => name.replaceAll("\\", "/"));
  } catch {
    return []; // The directory does not exist.
  }
}

function isNamed(condition: string | undefined, tag: string): boolean {
  if (condition === undefined) return false;
  const tags = condition.split(",").map((text) => text.trim());
  return tags.includes("*") || tags.includes(tag);
}

function acceptsGzip({ headers }: IncomingMessage): boolean {
  const asked = headers["accept-encoding"] ?? "";
  return /(?:^|,)\s*gzip\s*(?:,|;(?!\s*q=0(?:\.0*)?\s*(?:,|$))|$)/i.test(asked);
}
