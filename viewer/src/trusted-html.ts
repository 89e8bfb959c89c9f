/**
 * Trusted HTML: the one way from text to elements in this page.
 *
 * The server's Content-Security-Policy has `require-trusted-types-for 'script'`: where a browser
 * knows it, `innerHTML` and its like take nothing but what this policy made, and this policy takes
 * nothing but `Html`, which only src/sessions/render/html/markup.ts makes, by escaping.
 *
 *     <div dangerouslySetInnerHTML={{ __html: trustedHtml(html) }} />
 */

import type { Html } from "../../src/sessions/render/html/markup.ts";

interface Policy {
  createHTML(text: string): unknown;
}

interface TrustedTypes {
  createPolicy(name: string, rules: { createHTML(text: string): string }): Policy;
}

const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
const policy: Policy = trustedTypes?.createPolicy("verbatim", { createHTML: same }) ?? {
  createHTML: same,
};

/**
 * What `innerHTML` accepts. Browsers' types call it a string; with Trusted Types it is an object.
 */
export function trustedHtml(html: Html): string {
  return policy.createHTML(html.toString()) as string;
}

function same(text: string): string {
  return text;
}
