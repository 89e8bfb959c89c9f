/** The part of the package that we use; its own types need two packages more. */
declare module "@secretlint/secretlint-rule-preset-recommend" {
  interface Reported {
    readonly message: Readonly<Record<string, unknown>>;
    readonly range: readonly [number, number];
  }
  interface RuleContext {
    createTranslator(messages: unknown): (id: string, facts?: object) => object;
    report(reported: Reported): void;
  }
  interface RuleCreator {
    readonly meta: { readonly id: string };
    create(
      context: RuleContext,
      options: object,
    ): { file?(source: { readonly content: string; readonly filePath: string }): unknown };
  }
  export const rules: readonly RuleCreator[];
}
