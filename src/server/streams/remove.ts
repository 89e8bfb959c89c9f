/** Remove: `DELETE` of a stream. Forks keep what they share with it; its path may be used again. */

import type { ServerResponse } from "node:http";
import type { ServerContext } from "../context.ts";
import { answer, newHeaders } from "../http/answer.ts";

export async function removeStream(
  { store }: ServerContext,
  path: string,
  response: ServerResponse,
): Promise<void> {
  await store.remove(path);
  answer(response, 204, newHeaders());
}
