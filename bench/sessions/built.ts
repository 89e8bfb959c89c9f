/** The built package, as users get it; its types are the sources', so that no build is needed. */

const at = (name: string) => new URL(`../../dist/${name}`, import.meta.url).href;

export const CLI = at("cli/main.js");

export const { openLog }: typeof import("../../src/doors/log.ts") = await import(
  at("doors/log.js")
);
export const { openStore }: typeof import("../../src/doors/index.ts") = await import(
  at("doors/index.js")
);
export const { ThreadTelemetry }: typeof import("../../src/doors/rye.ts") = await import(
  at("doors/rye.js")
);
export const { openResumable, resume }: typeof import("../../src/doors/resume.ts") = await import(
  at("doors/resume.js")
);
