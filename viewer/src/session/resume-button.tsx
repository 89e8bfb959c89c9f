/** Resume button: copies the command that continues the session in its program. */

import { useState } from "preact/hooks";
import { pageText } from "../../../src/sessions/render/html/markup.ts";
import { copyText } from "./copy.ts";
import { Icon } from "./tool-button.tsx";

const TOLD_MS = 1500;

export function ResumeButton({ command }: { readonly command: string | null }) {
  const [told, tell] = useState<string | null>(null);
  if (command === null) return null;
  const copy = () => {
    copyText(command).then(
      () => tell("Copied"),
      () => tell("No clipboard"),
    );
    setTimeout(() => tell(null), TOLD_MS);
  };
  return (
    <button
      type="button"
      aria-label="Copy the command that continues it"
      title={`Copy: ${pageText(command)}`}
      onClick={copy}
    >
      <Icon name="resume" />
      <span class={told === null ? "tool-word" : ""} role="status">
        {told ?? "Resume"}
      </span>
    </button>
  );
}
