/** Copy page: a copy of a session or a proof, from a file or a share, judged and shown in this browser. */

import { useEffect, useState } from "preact/hooks";
import { faultText } from "../fault-text.ts";
import { droppedFile } from "./dropped-file.ts";
import { JudgedView, type OpenedCopy } from "./judged-view.tsx";
import { followShare } from "./share.ts";
import "./copy.css";

/** `token`: of a share, for as long as the page is there; "" to choose a file. */
export function CopyPage({ token }: { readonly token: string }) {
  const [opened, open] = useState<OpenedCopy | null>(null);
  const [told, tell] = useState<string | null>(null);
  useEffect(() => {
    const file = droppedFile.peek();
    droppedFile.value = null;
    if (token === "" && file !== null) open({ name: file.name, copy: file });
    if (token === "") return;
    const leaving = new AbortController();
    const shown = (copy: Blob) => open({ name: "shared.vbd", copy });
    followShare(token, shown, tell, leaving.signal).catch((cause) => {
      if (!leaving.signal.aborted) tell(faultText(cause));
    });
    return () => leaving.abort();
  }, [token]);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    const [file] = event.dataTransfer?.files ?? [];
    if (file && token === "") open({ name: file.name, copy: file });
  };
  return (
    <main
      id="main"
      tabIndex={-1}
      class="page copy-page"
      onDragOver={(event) => event.preventDefault()}
      onDrop={drop}
    >
      {token === "" && <Choose open={open} />}
      <p role="status" class="copy-told">
        {told ?? (token !== "" && opened === null ? "Loading …" : null)}
      </p>
      {opened !== null && <JudgedView key={opened.name} {...opened} />}
    </main>
  );
}

function Choose({ open }: { readonly open: (opened: OpenedCopy) => void }) {
  const choose = ({ currentTarget }: Event) => {
    const input = currentTarget as HTMLInputElement;
    const [file] = input.files ?? [];
    input.value = ""; // Else the same file, which may have changed, cannot be chosen again.
    if (file) open({ name: file.name, copy: file });
  };
  return (
    <div class="copy-choose">
      <h1>Check a disclosed copy or a proof</h1>
      <p>
        A <code>.vbd</code> or <code>.vbp</code> file shows part of a session and proves that it is
        part of it. It is read in this browser only, and sent nowhere.
      </p>
      <label class="button primary">
        Choose a file
        <input type="file" class="unseen" accept=".vbd,.vbp" onChange={choose} />
      </label>
      <small>or drop it here</small>
    </div>
  );
}
