/**
 * Proof page: a proof as one HTML page that judges itself, without any network.
 *
 * Its policy allows only its own script and style, by their hashes, and nothing else.
 */

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { VerbatimError } from "../../core/base/errors.ts";
import { packageFile } from "../../core/package-file.ts";

export const PAGE_EXTENSION = ".html";
/** A longer page is not written. */
export const PAGE_BYTES_MAX = 100_000;
const MAGIC = "<!doctype html>\n<!-- a proof of verbatim: see docs/formats/proof.md -->\n";
const DATA = '<script type="text/plain" id="verbatim-proof">';

const STYLE = `:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}
body{max-width:50rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.3rem}h2{font-size:1rem;margin:1.5rem 0 .3rem}
#verdict{padding:.7rem 1rem;border:2px solid;border-radius:.4rem;font-weight:600}
.verified{color:#0a7f3f}.untrusted,.incomplete{color:#a05a00}.tampered,.unreadable{color:#c0202c}
@media(prefers-color-scheme:dark){.verified{color:#4cc38a}.untrusted,.incomplete{color:#f0a84b}
.tampered,.unreadable{color:#ff7b81}}
pre{white-space:pre-wrap;overflow-wrap:anywhere;border:1px solid #8886;border-radius:.4rem;padding:.7rem}
textarea{width:100%;box-sizing:border-box;font:14px/1.4 ui-monospace,monospace}
button{font:inherit;padding:.3rem .9rem;margin:.5rem .5rem 0 0}
.id,#note{overflow-wrap:anywhere;font-size:.9rem}.warning{border-left:4px solid #a05a00;padding-left:1rem}`;

const BODY = `<h1>Proof of part of a signed session</h1>
<p id="verdict" class="untrusted" role="status">untrusted: not checked yet</p>
<p class="warning">A page that checks itself proves little: another page could show the same and check nothing. To be
sure, save the proof and check it with a program that you trust: <code>verbatim verify proof.vbp --key KEY.pem</code>,
or <code>verify-proof.py</code> of the documentation.</p>
<label for="key">Public key of the signer, which you got from them and not with this page (PEM, hex or base64):</label>
<textarea id="key" rows="4" spellcheck="false" autocomplete="off"></textarea>
<p id="note"></p>
<button id="check" type="button">Check</button><button id="save" type="button">Save the proof</button>
<div id="facts"></div>
<div id="lines"></div>`;

/** The page, in bytes. */
export function proofPage(proof: Uint8Array): Uint8Array {
  // A closing tag in the script would end it.
  const script = readFileSync(packageFile("dist/proof-page.js"), "utf8").replaceAll("</", "<\\/");
  const allow = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
  const policy = [
    "default-src 'none'",
    `script-src ${allow(script)}`,
    `style-src ${allow(STYLE)}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  const page = `${MAGIC}<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width">
<meta name="referrer" content="no-referrer">
<title>Proof of part of a signed session</title>
<style>${STYLE}</style>
</head>
<body>
${BODY}
${DATA}
${Buffer.from(proof).toString("base64")}
</script>
<script>${script}</script>
</body>
</html>
`;
  const bytes = Buffer.from(page);
  if (bytes.length <= PAGE_BYTES_MAX) return bytes;
  const reason = `the page would have ${bytes.length} bytes, and ${PAGE_BYTES_MAX} is the limit`;
  const message = `the proof is too long for a page: ${reason}; write it as .vbp instead`;
  throw new VerbatimError("CANNOT_PROVE", message, { path: "", reason });
}

/** The proof in a page; null if the bytes are not such a page. */
export function proofInPage(bytes: Uint8Array): Uint8Array | null {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
  if (!text.startsWith(MAGIC)) return null;
  const start = text.indexOf(DATA) + DATA.length;
  const end = text.indexOf("</script>", start);
  return Buffer.from(text.slice(start, end), "base64");
}

export function beginsAsPage(bytes: Uint8Array): boolean {
  return Buffer.from(bytes).toString("latin1").startsWith(MAGIC.slice(0, bytes.length));
}
