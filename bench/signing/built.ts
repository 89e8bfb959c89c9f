/** The built package; its types are the sources', so that no build is needed to check them. */

export const at = (name: string) => new URL(`../../dist/${name}`, import.meta.url).href;

export const { openStore }: typeof import("../../src/index.ts") = await import(at("index.js"));
export const { nodeHost }: typeof import("../../src/base/node-host.ts") = await import(
  at("base/node-host.js")
);
export const { nodeCrypto }: typeof import("../../src/signing/keys/node-crypto.ts") = await import(
  at("signing/keys/node-crypto.js")
);
export const { LogSigner }: typeof import("../../src/signing/writing/log-signer.ts") = await import(
  at("signing/writing/log-signer.js")
);
export const { nothingSigned }: typeof import("../../src/signing/writing/signer-state.ts") =
  await import(at("signing/writing/signer-state.js"));
export const { verifyLog }: typeof import("../../src/signing/judging/verify.ts") = await import(
  at("signing/judging/verify.js")
);
export const { TranscriptSigner }: typeof import("../../src/signing.ts") = await import(
  at("signing.js")
);
