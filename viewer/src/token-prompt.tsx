/** Token prompt: for a server that requires a token. */

import { useRef } from "preact/hooks";
import { useToken as keepToken } from "./server.ts";

export function TokenPrompt() {
  const field = useRef<HTMLInputElement>(null);
  const give = (event: Event) => {
    event.preventDefault();
    const token = field.current?.value.trim() ?? "";
    if (token !== "") keepToken(token);
  };
  return (
    <main id="main" tabIndex={-1} class="page">
      <form class="blank token" onSubmit={give}>
        <h1>This server requires a token</h1>
        <p>
          Its administrator creates one with <code>verbatim token create</code>. It is kept in this
          tab only, until you close it.
        </p>
        <label for="token">Token</label>
        <input ref={field} id="token" type="password" autocomplete="off" spellcheck={false} />
        <button type="submit" class="primary">
          Show the sessions
        </button>
      </form>
    </main>
  );
}
