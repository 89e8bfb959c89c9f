/** Names under which the price table may have a model: gateways and clouds add to them. */
export function namesOf(model: string): string[] {
  const plain = model.slice(model.lastIndexOf("/") + 1).replace(/\[.*\]$/, "");
  const claude = /(?:^|\.)(claude-.+?)(?:-v\d+(?::\d+)?)?$/.exec(plain)?.[1];
  const names = [model, plain, ...(claude ? [claude, claude.replaceAll(".", "-")] : [])];
  return [...new Set(names)].filter((name) => name !== "");
}
