/** Demo: the mount of example sessions, which are shown while there are no others. */

import { boolean, object, ref } from "../../client/schema.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import { demoRoot } from "../../core/base/node-paths.ts";
import type { ServerContext } from "../context.ts";
import { answer, answerJson, methodNotAllowed, newHeaders } from "../http/answer.ts";
import { content, page, refusals } from "../openapi/describe.ts";
import type { MountDescription, MountRequest, OpenMount } from "../router/mount.ts";
import { DEMO_PATH } from "../router/paths.ts";
import { Demo } from "./demo.ts";

export async function demoMount(context: ServerContext): Promise<OpenMount> {
  const { options, isLocal, onFault } = context;
  const demo = new Demo(nodeHost, demoRoot());
  if (options.demo === true && isLocal) {
    const failed = (cause: unknown) => onFault("making the demo", cause);
    await demo.showWhenEmpty(process.cwd()).catch(failed);
  }
  return { handle: (asked) => handle(asked, demo), parts: { demo } };
}

/** Whether the demo is shown, and the request that removes it. */
async function handle({ request, response, path }: MountRequest, demo: Demo): Promise<boolean> {
  if (path !== DEMO_PATH) return false;
  const { method } = request;
  const headers = newHeaders();
  headers.push("Cache-Control", "no-store");
  if (method === "GET" || method === "HEAD") {
    answerJson(response, 200, { isShown: demo.isShown }, headers);
  } else if (method === "DELETE") {
    demo.remove();
    answer(response, 204, headers);
  } else {
    throw methodNotAllowed("GET, HEAD, DELETE, OPTIONS");
  }
  return true;
}

export const DEMO: MountDescription = {
  paths: {
    [DEMO_PATH]: {
      ...page("getDemo", "Whether example sessions are shown", {
        200: content("application/json", ref("Demo"), "Whether they are shown"),
        ...refusals(401),
      }),
      delete: {
        operationId: "removeDemo",
        summary: "Remove the example sessions permanently",
        tags: ["server"],
        responses: { 204: { description: "Removed" }, ...refusals(401) },
      },
    },
  },
  schemas: { Demo: object({ isShown: boolean }) },
};
