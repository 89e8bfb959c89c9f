/**
 * The allow-list: every element and attribute that a page of a session may contain.
 *
 * Written independently of the code that makes pages, so that a mistake there is found here.
 */

const ELEMENTS =
  "html head meta title style body a header h1 h2 h3 h4 h5 h6 p main dl div dt dd span article " +
  "section footer details summary pre code strong em del ul ol li blockquote hr br table thead " +
  "tbody tr th td mark img";

export const ALLOWED_ELEMENTS: ReadonlySet<string> = new Set(ELEMENTS.split(" "));

const CLASSES = /^[a-z]+(-[a-z]+)*( [a-z]+(-[a-z]+)*)*$/;
const PLACE = "(?:(?:entry|byte)-\\d+|transcript)";

/** Patterns for attribute values; other attributes are not allowed. */
export const ALLOWED_ATTRIBUTES: Readonly<Record<string, RegExp>> = {
  class: CLASSES,
  id: new RegExp(`^${PLACE}$`),
  href: new RegExp(
    `^(?:#${PLACE}|https?://[^\\s"'<>\`\\\\@]*|https?://[^/@]+/.*|mailto:\\S+)$`,
    "i",
  ),
  rel: /^noopener noreferrer nofollow$/,
  "aria-label": /^Link to (?:entry \d+|the entry at byte \d+)$/,
  start: /^\d{1,9}$/,
  open: /^$/,
  title: /^/,
  alt: /^image(?: [\w.+-]+\/[\w.+-]+)?(?:, [\d,]+ (?:bytes|KB|MB))?$/,
  src: /^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+={0,2}$/,
  loading: /^lazy$/,
  "data-part": /^\d+$/,
  "data-n": /^\d+$/,
  "data-o": /^\d*$/,
  "data-t": /^/,
  lang: /^en$/,
  charset: /^utf-8$/,
  "http-equiv": /^(?:Content-Security-Policy|x-dns-prefetch-control)$/,
  name: /^(?:referrer|robots|viewport|color-scheme)$/,
  content: /^[a-z0-9 ,:;'=./+-]+$/i,
};

/** Attributes that only these elements may have. */
export const ATTRIBUTE_PLACES: Readonly<Record<string, readonly string[]>> = {
  href: ["a"],
  rel: ["a"],
  start: ["ol"],
  open: ["details"],
  title: ["span"],
  alt: ["img"],
  src: ["img"],
  loading: ["img"],
  "data-part": ["details"],
  "data-n": ["span"],
  "data-o": ["span"],
  "data-t": ["span"],
  lang: ["html"],
  charset: ["meta"],
  "http-equiv": ["meta"],
  name: ["meta"],
  content: ["meta"],
};

/** What is wrong with an element; null when it is allowed. */
export function faultOf(name: string, attributes: readonly (readonly [string, string])[]) {
  if (!ALLOWED_ELEMENTS.has(name)) return `<${name}>`;
  for (const [attribute, value] of attributes) {
    const places = ATTRIBUTE_PLACES[attribute];
    if (places && !places.includes(name)) return `<${name} ${attribute}>`;
    if (!ALLOWED_ATTRIBUTES[attribute]?.test(value)) return `<${name} ${attribute}="${value}">`;
  }
  return null;
}
