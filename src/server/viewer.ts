/**
 * Viewer: the page for people and its files, as `dist/viewer` holds them.
 *
 * VW1  Only what was in that directory when it was first asked for is served, out of memory and by
 *      exact name: no path of a request ever reaches the file system, and a build that replaces the
 *      directory meanwhile changes nothing for who has the page open.
 * VW2  The page may load and ask its own server and nothing else, and runs no script but its files:
 *      what is in a transcript cannot become one.
 */

import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { packageFile } from "../base/node-package.ts";
import { answer, type Headers, newHeaders } from "./http/answer.ts";

/** Where files lie whose names change with their content. */
export const ASSET_ROOT = "/assets/";

const POLICY = [
  "default-src 'none'",
  ...["script-src 'self'", "style-src 'self'", "img-src 'self' data:", "connect-src 'self'"],
  ...["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
  // viewer/src/trusted-html.ts is that policy.
  ...["require-trusted-types-for 'script'", "trusted-types verbatim"],
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
  /** Made when it is first asked for. */
  gzip: Buffer | null;
}

type ViewerFiles = ReadonlyMap<string, ViewerFile>;

let files: ViewerFiles | null = null;

/** Answers a GET or HEAD of one of the viewer's files; false when the path names none. */
export function answerViewer(
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): boolean {
  files ??= readViewer();
  const file = files.get(path);
  if (file === undefined) return false;
  const headers = viewerHeaders(path, file);
  if (isNamed(request.headers["if-none-match"], file.tag)) {
    answer(response, 304, headers);
    return true;
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
  return true;
}

function viewerHeaders(path: string, { tag }: ViewerFile): Headers {
  const isFixed = path.startsWith(ASSET_ROOT);
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
    // Weak, since it stands for the bytes with and without compression.
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
    return []; // It is not there.
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
