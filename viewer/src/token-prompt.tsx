/** Token prompt: for a server that requires a link or a token. */

import { useRef } from "preact/hooks";
import { isTokenRefused, useToken as keepToken } from "./server.ts";

export function TokenPrompt() {
  return (
    <main id="main" tabIndex={-1} class="page">
      <div class="blank token">
        <h1>These sessions are private</h1>
        <p>
          On the server's machine, <code>verbatim open</code> opens this page with access, and{" "}
          <code>verbatim open --print</code> prints a link to it. The link that{" "}
          <code>verbatim serve</code> printed works once. If the server has a <code>--data</code>,
          add it to these commands.
        </p>
        <p>
          Or enter a token, which the server's administrator creates with{" "}
          <code>verbatim server token create</code>. It is kept in this tab only, until you close
          it.
        </p>
        {isTokenRefused.value && (
          <p role="alert" class="token-refused">
            The server does not accept this token. It may be incomplete, or have been revoked.
          </p>
        )}
        <TokenForm act="Show the sessions" />
      </div>
    </main>
  );
}

export function TokenForm({ act }: { readonly act: string }) {
  const field = useRef<HTMLInputElement>(null);
  const give = (event: Event) => {
    event.preventDefault();
    const token = field.current?.value.trim() ?? "";
    if (token !== "") keepToken(token);
  };
  return (
    <form class="token-form" onSubmit={give}>
      <label for="token">Token</label>
      <input ref={field} id="token" type="password" autocomplete="off" spellcheck={false} />
      <button type="submit" class="primary">
        {act}
      </button>
    </form>
  );
}
