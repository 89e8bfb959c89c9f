/** Use answer: asks the server, and again until the answer is complete. */

import { useEffect, useState } from "preact/hooks";
import { faultText, isAbort } from "../fault-text.ts";

/** Between two requests, while sessions are counted. */
const AGAIN_MS = 1_000;

interface Answered<T> {
  readonly answer: T | null;
  readonly fault: string | null;
}

export function useAnswer<T extends { readonly isComplete: boolean }>(
  ask: (signal: AbortSignal) => Promise<T>,
  inputs: readonly unknown[],
): Answered<T> {
  const [answered, setAnswered] = useState<Answered<T>>({ answer: null, fault: null });
  useEffect(() => {
    const left = new AbortController();
    const again = async () => {
      for (let isDone = false; !isDone && !left.signal.aborted; ) {
        try {
          const answer = await ask(left.signal);
          setAnswered({ answer, fault: null });
          isDone = answer.isComplete;
        } catch (cause) {
          if (isAbort(cause)) return;
          const fault = faultText(cause); // The server may be back soon.
          setAnswered(({ answer }) => ({ answer, fault }));
        }
        if (!isDone) await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
      }
    };
    void again();
    return () => left.abort();
  }, inputs);
  return answered;
}
