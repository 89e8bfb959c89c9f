/** Witness: the mount of a witness (evidence/witness/witness.ts), which needs no token. */

import { VerbatimError } from "../../core/base/errors.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import { userPaths } from "../../core/base/node-paths.ts";
import { SUBMISSION_BYTES_MAX, Witness } from "../../evidence/witness/witness.ts";
import type { ServerContext } from "../context.ts";
import { answerText, methodNotAllowed, newHeaders } from "../http/answer.ts";
import { readBody } from "../http/body.ts";
import type { MountDescription, MountRequest, OpenMount } from "../router/mount.ts";
import { WITNESS_ROOT } from "../router/paths.ts";

const ADD = `${WITNESS_ROOT}/add-checkpoint`;
const NEWEST = /^\/witness\/([0-9a-f]{64})\/checkpoint$/;

export async function witnessMount(context: ServerContext, listPath: string): Promise<OpenMount> {
  const { dataDirectory } = context.options;
  const { nowMs } = context.time;
  const places = userPaths();
  const witness = await Witness.open({ host: nodeHost, dataDirectory, listPath, places, nowMs });
  return {
    handle: (asked) => handle(asked, witness),
    parts: { witnessKey: witness.verifierKey },
  };
}

async function handle(
  { request, response, path }: MountRequest,
  witness: Witness,
): Promise<boolean> {
  const hash = NEWEST.exec(path)?.[1];
  if (path !== ADD && hash === undefined) return false;
  const headers = newHeaders();
  headers.push("Cache-Control", "no-store");
  const method = hash === undefined ? "POST" : "GET";
  if (request.method !== method) throw methodNotAllowed(`${method}, OPTIONS`);
  if (hash === undefined) {
    const body = await readBody(request, SUBMISSION_BYTES_MAX);
    const { status, type, text } = await witness.add(body).catch(failed);
    answerText(response, status, type, text, headers);
  } else {
    const note = await witness.newest(hash).catch(failed);
    const status = note === null ? 404 : 200;
    answerText(response, status, "text/plain; charset=utf-8", note ?? "no checkpoint\n", headers);
  }
  return true;
}

/** Anyone may ask, so that paths and reasons are shown to the operator only. */
function failed(cause: unknown): never {
  if (cause instanceof VerbatimError && cause.code === "OVERLOADED") throw cause;
  throw new Error("the witness failed", { cause });
}

const text = (description: string, type = "text/plain") => {
  return { description, content: { [type]: { schema: { type: "string" } } } };
};
const refused = (...statuses: readonly number[]) => {
  const schema = { $ref: "#/components/schemas/Error" };
  const error = { description: "Refused", content: { "application/json": { schema } } };
  return Object.fromEntries([...statuses, 403, 500, 503].map((each) => [String(each), error]));
};
/** Only with `serve --witness`; the log's signature admits a request. */
const about = { tags: ["witness"], security: [{}] };

const PATHS = {
  "/witness/add-checkpoint": {
    post: {
      operationId: "addCheckpoint",
      summary: "Cosign a head that continues the last one (C2SP tlog-witness)",
      ...about,
      requestBody: { required: true, ...text("The old size, a proof, and the signed note") },
      responses: {
        ...refused(413),
        200: text("The witness's signature lines"),
        400: text("The request is malformed"),
        403: text("No key that this witness knows for the log signs the checkpoint"),
        404: text("The witness does not know the log"),
        409: text("The size of the newest head that it has cosigned", "text/x.tlog.size"),
        422: text("The proof does not hold, or the head contradicts an earlier one"),
      },
    },
  },
  "/witness/{origin}/checkpoint": {
    get: {
      operationId: "getCheckpoint",
      summary: "The newest head of a log that this witness has cosigned",
      ...about,
      parameters: [
        {
          name: "origin",
          in: "path",
          required: true,
          description: "SHA-256 of the log's origin, in hex",
          schema: { type: "string", pattern: "^[0-9a-f]{64}$" },
        },
      ],
      responses: { ...refused(), 200: text("The cosigned note"), 404: text("There is none") },
    },
  },
};

export const WITNESS: MountDescription = { paths: PATHS };
