/** OpenAPI: the routes of a witness. */

import type { MountDescription } from "../router/mount.ts";

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
