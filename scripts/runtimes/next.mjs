/**
 * A Next.js application with the AI SDK's entry point, for `npm run test:runtimes`: the files of
 * docs/guides/nextjs.md, on default settings and with `output: "standalone"`, moved elsewhere. For
 * Node without SQLite of its own, the second has a setting that takes its package along.
 */

import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { root } from "../setup.mjs";

const run = promisify(execFile);
const FRAMEWORK = ["next", "react", "react-dom", "ai", "@ai-sdk/react"];
const TYPES = ["typescript@5", "@types/node@20", "@types/react"];
const HAS_SQLITE = process.getBuiltinModule("node:sqlite") !== undefined;

/** In the place of the one of create-next-app, which loads its fonts from the network. */
const LAYOUT = `export default function Layout({ children }: { children: React.ReactNode }) {
  return <html lang="en"><body>{children}</body></html>;
}
`;
/** As create-next-app sets them. */
const DEFAULTS = "cacheComponents: true, partialPrefetching: true";
const STANDALONE = 'output: "standalone", outputFileTracingRoot: import.meta.dirname';
const WITH_SQLITE =
  'outputFileTracingIncludes: { "/*": ["./node_modules/verbatim-log-sqlite-*/**/*"] }';

/** @typedef {{ folder: string, tarball: string, programs: string }} Place */

/** @param {Place} place @returns {Map<string, () => Promise<string>>} */
export function nextCases(place) {
  const app = join(place.folder, "next");
  const installed = lazily(() => makeApplication(app, place.tarball));
  return new Map([
    [
      "Next.js",
      async () => {
        await installed();
        await build(app);
        await tryApplication(app, ["node_modules/next/dist/bin/next", "start"]);
        return "works";
      },
    ],
    [
      "Next.js standalone",
      async () => {
        await installed();
        const settings = HAS_SQLITE ? [STANDALONE] : [STANDALONE, WITH_SQLITE];
        await build(app, ...settings);
        const moved = join(mkdtempSync(join(place.programs, "standalone-")), "app");
        cpSync(join(app, ".next", "standalone"), moved, { recursive: true });
        renameSync(app, `${app}-away`);
        try {
          await tryApplication(moved, ["server.js"]);
        } finally {
          renameSync(`${app}-away`, app);
        }
        return `works with ${settings.join(", ")}`;
      },
    ],
  ]);
}

/** @param {() => Promise<void>} work */
function lazily(work) {
  /** @type {Promise<void> | undefined} */
  let done;
  return () => {
    done ??= work();
    return done;
  };
}

/** @param {string} app @param {string} tarball */
async function makeApplication(app, tarball) {
  const page = readFileSync(join(root, "docs", "guides", "nextjs.md"), "utf8");
  const files = [...page.matchAll(/^`((?:app|lib)\/\S+)` [\s\S]*?\n\n```tsx\n([\s\S]*?)^```$/gm)];
  if (files.length < 5) throw new Error("docs/guides/nextjs.md has no files");
  for (const [, path = "", text = ""] of [...files, ["", "app/layout.tsx", LAYOUT]]) {
    mkdirSync(dirname(join(app, path)), { recursive: true });
    writeFileSync(join(app, path), text);
  }
  const compilerOptions = { paths: { "@/*": ["./*"] }, strict: true };
  writeFileSync(join(app, "tsconfig.json"), JSON.stringify({ compilerOptions }));
  writeFileSync(join(app, "package.json"), '{ "private": true }\n');
  const options = ["--no-audit", "--no-fund", "--prefer-offline"];
  await run("npm", ["install", ...options, ...FRAMEWORK, ...TYPES, tarball], { cwd: app });
}

/** @param {string} app @param {string[]} settings */
async function build(app, ...settings) {
  writeFileSync(
    join(app, "next.config.mjs"),
    `export default { ${[DEFAULTS, ...settings].join(", ")} };\n`,
  );
  const env = { ...process.env, NEXT_TELEMETRY_DISABLED: "1" };
  const next = join(app, "node_modules", "next", "dist", "bin", "next");
  await run(process.execPath, [next, "build"], { cwd: app, env });
}

/**
 * Asks a question, and asks for the chat as after a reload.
 *
 * @param {string} app
 * @param {string[]} args
 */
async function tryApplication(app, args) {
  const port = await freePort();
  const env = { PATH: process.env.PATH, HOME: app, PORT: String(port), HOSTNAME: "127.0.0.1" };
  const server = spawn(process.execPath, args, {
    cwd: app,
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(server, "exit");
  try {
    await new Promise((resolve) => {
      server.stdout.on("data", (text) => /Ready/.test(text) && resolve(true));
    });
    const url = `http://127.0.0.1:${port}/api/chat`;
    const message = { id: "m1", role: "user", parts: [{ type: "text", text: "Hi" }] };
    const body = JSON.stringify({ id: "chat-1", message });
    const answer = await (await fetch(url, { method: "POST", body })).text();
    if (!answer.includes('"delta":"You said: Hi"')) throw new Error(`answer: ${answer}`);
    const chat = await (await fetch(`${url}/chat-1`)).text();
    if (!chat.includes("You said: Hi")) throw new Error(`chat: ${chat}`);
    const { status } = await fetch(`${url}/chat-1/stream`);
    if (status !== 204) throw new Error(`status of a finished answer: ${status}`);
  } finally {
    server.kill("SIGKILL");
    await ended;
  }
}

/** @returns {Promise<number>} */
async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address ? address.port : 0;
}
