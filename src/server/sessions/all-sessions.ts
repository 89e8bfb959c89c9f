/** All sessions: requests about all sessions; each is answered with one JSON value. */

import assert from "node:assert/strict";
import { refuseWriting } from "../http/answer.ts";
import type { OpenMount } from "../router/mount.ts";
import { type Sees, seenBy } from "./roots.ts";
import type { SessionService } from "./service.ts";
import { answerJsonText } from "./wire.ts";

type Answer = (sessions: SessionService, url: string, sees: Sees) => Promise<unknown>;

/** `answers`: by path. */
export function overSessions(
  sessions: SessionService | undefined,
  answers: Readonly<Record<string, Answer>>,
): OpenMount {
  assert.ok(sessions, "mounts.ts opens sessions first");
  return {
    async handle({ request, response, path, track, pass }) {
      const answer = Object.hasOwn(answers, path) ? answers[path] : undefined;
      if (answer === undefined) return false;
      track.route = "sessions";
      refuseWriting(request);
      await sessions.listReceived();
      await sessions.hooks.drain();
      const value = await sessions.reads.run(() => {
        return answer(sessions, request.url ?? "/", seenBy(pass));
      });
      answerJsonText(response, JSON.stringify(value), sessions.room);
      return true;
    },
  };
}
