/** What tokens with narrow permissions reach, over every route of the server. */

import assert from "node:assert/strict";
import { onTestFinished, test } from "vitest";
import { LOOK_MS } from "../../../src/server/auth/gate.ts";
import { openApiDocument } from "../../../src/server/openapi/document.ts";
import { SESSION_LIMITS } from "../../../src/server/sessions/session-limits.ts";
import { answerRow, promptRow, writeClaude } from "../../support/agent-home.ts";
import { ManualTime } from "../../support/manual-time.ts";
import { newUser } from "../sessions/served.ts";
import { startTestServer } from "../test-server.ts";
import { bearer, makeToken, type Wanted } from "./token-user.ts";

const APP = "/home/me/app";
const OTHER = "/home/me/other";
const SECRET = "walnut";
const MINUTE_MS = 60_000;

/** Operations that need no token, or have a secret of their own. */
const PUBLIC = [
  ["getViewer", "openViewer", "getOpenApi", "getLive", "getHealth", "getReady", "getWebhookKeys"],
  ["getShared", "addCheckpoint", "getCheckpoint"],
  ["subscriptions_post_ack", "subscriptions_post_callback", "subscriptions_post_release"],
].flat();
/** Of a session, for tokens that see it. */
const READING = ["listSessions", "searchSessions", "sumUsage", "getInsights", "listFigureSessions"];

interface Kind {
  readonly name: string;
  readonly token: Wanted;
  /** The operations that it may use. All others refuse it: a new route is closed until named here. */
  readonly may: readonly string[];
  /** What its answers must not contain. */
  readonly secrets: readonly string[];
}

const KINDS: readonly Kind[] = [
  {
    name: "of a project",
    token: { scopes: ["read"], project: APP },
    may: READING,
    secrets: [SECRET, OTHER],
  },
  { name: "for sums", token: { scopes: ["usage"] }, may: ["sumUsage"], secrets: [SECRET, "hazel"] },
  {
    name: "for sums of a project",
    token: { scopes: ["usage"], project: APP },
    may: ["sumUsage"],
    secrets: [SECRET, OTHER, "hazel"],
  },
  {
    name: "that manages tokens",
    token: { scopes: ["tokens"], paths: ["team/**"] },
    may: ["listTokens", "createToken", "rotateToken", "revokeToken"],
    secrets: [SECRET, OTHER, "hazel"],
  },
  {
    name: "for other streams",
    token: { scopes: ["read", "append"], paths: ["team/**"] },
    may: ["getMetrics"],
    secrets: [SECRET, OTHER, "hazel"],
  },
  {
    name: "of a machine",
    token: { scopes: ["read", "append"], paths: ["sessions/*/@desk/**"] },
    may: [...READING, "sumTools", "getRetention", "getDemo", "getMetrics"],
    secrets: [SECRET, OTHER, "hazel"],
  },
];

/** A server with a session and a stream that none of these tokens may see. */
async function served() {
  const { home } = newUser();
  const before = process.env.HOME;
  process.env.HOME = home;
  onTestFinished(() => {
    process.env.HOME = before;
  });
  const at = Date.now() - 10 * MINUTE_MS;
  for (const [session, cwd, text] of [
    ["s1", APP, "hazel"],
    ["s2", OTHER, SECRET],
  ] as const) {
    const rows = [
      promptRow(text, { session, cwd, at }),
      answerRow(text, { session, cwd, at: at + 1 }),
    ];
    writeClaude(home, `-${session}/${session}.jsonl`, rows);
  }
  const time = new ManualTime(Date.now());
  const limits = { ...SESSION_LIMITS, freshMs: 0, listWaitMs: 20_000, searchWaitMs: 20_000 };
  const sessions = { ...limits, usageWaitMs: 20_000 };
  const server = await startTestServer({ roots: "found", sessions, time });
  await server.put("/secret/1", "text/plain", { body: SECRET });
  const admin = await makeToken(server.directory, { name: SECRET });
  const tokens = await Promise.all(KINDS.map(({ token }) => makeToken(server.directory, token)));
  time.pass(LOOK_MS);
  const listed = await fetch(`${server.url}/v1/sessions`, { headers: bearer(admin.token) });
  const page = (await listed.json()) as { sessions: { id: string; title: string }[] };
  const idOf = (text: string) => page.sessions.find(({ title }) => title === text)?.id;
  const [own, other] = [idOf("hazel"), idOf(SECRET)];
  assert.ok(own && other);
  return { server, admin, tokens, own, other };
}

const QUERIES: Readonly<Record<string, string>> = {
  searchSessions: `?q=${SECRET}`,
  listFigureSessions: "?figure=responses",
  listSessions: "?facets=true",
};

test("a narrow token reaches its own routes, and sees nothing of others through any of them", async () => {
  // Method: every operation of the OpenAPI document, which has every route (openapi.test.ts).
  const { server, admin, tokens, own, other } = await served();
  const operations = operationsOf((await openApiDocument()).paths);
  for (const [kind, { name, may, secrets }] of KINDS.entries()) {
    const { token } = tokens[kind] ?? assert.fail();
    const isProjects = name === "of a project";
    const reached = new Set<string>();
    for (const { id, method, path } of operations) {
      for (const session of [own, other]) {
        const url = path.replace("{path}", "secret/1").replace("{id}", session);
        const left = new AbortController();
        const response = await fetch(
          `${server.url}${url.replace(/\{\w+\}/, admin.entry.id)}${QUERIES[id] ?? ""}`,
          {
            method: method.toUpperCase(),
            headers: { ...bearer(token), "Content-Type": "application/json" },
            ...(["post", "put", "patch"].includes(method) && { body: "{}" }),
            signal: left.signal,
          },
        );
        const what = `${method} ${path} by a token ${name}`;
        const isLive = response.headers.get("Content-Type") === "text/event-stream";
        const text = isLive ? "" : await response.text();
        left.abort();
        for (const secret of [...secrets, other]) {
          assert.ok(!text.includes(secret), `${what} has ${secret}: ${text.slice(0, 300)}`);
        }
        const isOfSession = path.startsWith("/v1/sessions/{id}");
        if (!isOfSession) {
          if (response.status !== 401 && response.status !== 403) reached.add(id);
        } else if (session === other || !isProjects) {
          assert.ok([401, 403, 404].includes(response.status), `${what}: ${response.status}`);
        } else if (method === "get") {
          assert.ok(response.status < 400, `${what}: ${response.status} ${text}`);
        }
      }
    }
    const extra = [...reached].filter((id) => !PUBLIC.includes(id));
    assert.deepEqual(extra.sort(), [...may].sort(), `a token ${name}`);
  }
});

function operationsOf(paths: Readonly<Record<string, unknown>>) {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods as Record<string, { operationId: string }>).map(
      ([method, { operationId: id }]) => ({ id, method, path }),
    ),
  );
}
