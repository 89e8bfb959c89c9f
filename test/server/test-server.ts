/** A server for one test: in this process, with its own port and directory. */

import assert from "node:assert/strict";
import { onTestFinished } from "vitest";
import type { RunningServer } from "../../src/server/serve.ts";
import { startServer } from "../../src/server/serve.ts";
import type { ServeOptions } from "../../src/server/settings/serve-options.ts";
import { tempDirectory } from "../support/temp-directory.ts";

export interface TestServer {
  readonly url: string;
  readonly directory: string;
  readonly running: RunningServer;
  /** The URL of a stream, or of any path below the stream root. */
  at(path: string): string;
  /** Creates a stream. */
  put(path: string, type: string, init?: RequestInit): Promise<Response>;
  /** Appends, and fails if that is refused. */
  post(path: string, type: string, body: string | Uint8Array): Promise<Response>;
}

export const JSON_TYPE = "application/json";

export async function startTestServer(options: Partial<ServeOptions> = {}): Promise<TestServer> {
  const directory = options.dataDirectory ?? tempDirectory();
  const faults: unknown[] = [];
  const running = await startServer({
    port: 0,
    onFault: (what, cause) => faults.push(what, cause),
    ...options,
    dataDirectory: directory,
  });
  onTestFinished(async () => {
    await running.close();
    assert.deepEqual(faults, []);
  });
  return testServer(running, directory);
}

export function testServer(running: RunningServer, directory: string): TestServer {
  const at = (path: string) => `${running.url}/v1/stream${path}`;
  return {
    url: running.url,
    directory,
    running,
    at,
    async put(path, type, init = {}) {
      const headers = { "Content-Type": type, ...init.headers };
      const response = await fetch(at(path), { ...init, method: "PUT", headers });
      assert.equal(response.status, 201, await response.text());
      return response;
    },
    async post(path, type, body) {
      const headers = { "Content-Type": type };
      // The viewer's tests see the browser's types, which accept fewer arrays than `fetch` does.
      const sent = body as NonNullable<RequestInit["body"]>;
      const response = await fetch(at(path), { method: "POST", headers, body: sent });
      assert.ok(response.ok, `${response.status} ${await response.text()}`);
      return response;
    },
  };
}

/** A header that must be present. */
export function header(response: Response, name: string): string {
  return response.headers.get(name) ?? assert.fail(`no ${name}`);
}

/** The status and the code of an error answer. */
export async function refused(response: Response): Promise<[number, string]> {
  const { error } = (await response.json()) as { error: { code: string; message: string } };
  assert.ok(error.message.length > 0);
  return [response.status, error.code];
}
