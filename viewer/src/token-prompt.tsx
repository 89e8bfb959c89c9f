/** Token prompt: for a server that serves more than its own machine. */

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
        <h1>This server asks for a token</h1>
        <p>
          Whoever runs it makes one with <code>verbatim token create</code>. It is kept in this tab
          alone, until you close it.
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
