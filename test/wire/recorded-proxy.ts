/** A proxy that records, in this process, in front of one server; and what it recorded. */

import { onTestFinished } from "vitest";
import { openStore } from "../../src/doors/index.ts";
import { startRecorder } from "../../src/integrations/proxy/recorder-thread.ts";
import { startProxy } from "../../src/integrations/proxy/reverse-proxy.ts";
import { tempDirectory } from "../support/temp-directory.ts";

export interface RecordedSession {
  readonly id: string;
  readonly parent: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: JSON, which the tests read as they know it.
  readonly entries: readonly any[];
  /** Roles and texts, as a reader sees them: `user: Hi`. */
  readonly said: readonly string[];
}

export async function recordedProxy(
  upstream: string,
  root = tempDirectory(),
  prefix = "",
  options: { raw?: boolean } = {},
) {
  const problems: string[] = [];
  const choices = { root, sign: false, durability: "os", raw: options.raw ?? false } as const;
  const recorder = await startRecorder(choices, (problem) => problems.push(problem));
  const upstreams = new Map([[prefix, new URL(upstream)]]);
  const proxy = await startProxy({ upstreams, port: 0, sink: recorder.sink });
  let isClosed = false;
  const close = async () => {
    if (isClosed) return;
    isClosed = true;
    await proxy.close();
    await recorder.close();
  };
  onTestFinished(close);
  return { url: proxy.url, root, problems, close };
}

/** All sessions below a root, the oldest first. */
export async function sessionsIn(root: string): Promise<RecordedSession[]> {
  const store = await openStore({ root, remember: false });
  try {
    const sessions: (RecordedSession & { at: string })[] = [];
    for (const { id, parent } of await store.list()) {
      // biome-ignore lint/suspicious/noExplicitAny: JSON, which the tests read as they know it.
      const entries: any[] = [];
      for await (const entry of (await store.open(id)).entries()) entries.push(entry);
      const said = entries
        .filter(({ kind }) => kind === "message")
        .map(({ role, parts }) => `${role}: ${parts.map(textOf).join("")}`);
      const at = String(entries[0]?.at);
      sessions.push({ id, parent: parent ?? null, entries, said, at });
    }
    return sessions.sort((a, b) => a.at.localeCompare(b.at));
  } finally {
    await store.close();
  }
}

// biome-ignore lint/suspicious/noExplicitAny: JSON, which the tests read as they know it.
function textOf(part: any): string {
  if (part.type === "text" || part.type === "reasoning") return part.text;
  if (part.type === "tool_call") return `[${part.tool}]`;
  return part.type === "tool_result" ? `[${JSON.stringify(part.output)}]` : `[${part.type}]`;
}

/** A call to Anthropic's API. */
export async function ask(url: string, body: object, headers: Record<string, string> = {}) {
  const answer = await fetch(`${url}/v1/messages`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ model: "claude-opus-5", max_tokens: 9, ...body }),
  });
  return { status: answer.status, text: await answer.text() };
}
