/** The session that the pictures show. */

const TOTAL = [
  'import type { Item } from "./item.ts";',
  "",
  "/** The total of an order, in the shop's currency. */",
  "export function total(items: readonly Item[], discount: number): number {",
  "  const sum = items.reduce((all, item) => all + item.price * item.count, 0);",
  "  return Math.round(sum * (1 - discount) * 100) / 100;",
  "}",
];
const [SUM = "", ROUNDED = ""] = TOTAL.slice(4);
const FIXED = [
  "  // Each line is rounded to whole cents, as on the invoice.",
  "  const cents = items.map((item) => Math.round(item.price * item.count * (1 - discount) * 100));",
  "  return cents.reduce((all, line) => all + line, 0) / 100;",
];
const FILE = "src/cart/total.ts";
const COLOUR = { red: "\u001b[31m", green: "\u001b[32m", bold: "\u001b[1m", off: "\u001b[0m" };

/** A row of a conversation: who, what, and what the program adds. */
const user = (/** @type {string} */ content) => ({ role: "user", content });
const says = (/** @type {string} */ text) => ({
  role: "assistant",
  content: [{ type: "text", text }],
});
/** A call and its result. @type {(id: string, name: string, input: object, output: string, more?: object) => object[]} */
const call = (id, name, input, output, more = {}) => {
  const { is_error = false, ...rest } = /** @type {any} */ (more);
  const result = { type: "tool_result", tool_use_id: id, content: output, is_error };
  return [
    { role: "assistant", content: [{ type: "tool_use", id, name, input }] },
    { role: "user", content: [result], ...rest },
  ];
};
const todo = (/** @type {string[]} */ ...states) => ({
  todos: ["Find where totals are rounded", "Round as the invoice does", "Test it"].map(
    (content, n) => ({ content, status: states[n] ?? "pending" }),
  ),
});
const numbered = (/** @type {string[]} */ lines) =>
  lines.map((line, n) => `${String(n + 1).padStart(6)}→${line}`).join("\n");
const patch = (/** @type {number} */ start, /** @type {string[]} */ lines) => ({
  toolUseResult: { structuredPatch: [{ oldStart: start, newStart: start, lines }] },
});

/** @type {(cwd: string) => object[]} */
export const shownTurns = (cwd) => [
  user(
    "The total of an order with a discount is a cent too high on some invoices. Find out why, and fix it.",
  ),
  ...call("t0", "TodoWrite", todo("in_progress"), "Todos have been modified"),
  ...call(
    "t1",
    "Grep",
    { pattern: "discount", path: "src", output_mode: "files_with_matches" },
    "src/cart/total.ts\nsrc/cart/total.test.ts\nsrc/invoice/lines.ts",
  ),
  ...call("t2", "Read", { file_path: `${cwd}/${FILE}` }, numbered(TOTAL)),
  says(
    "The cart rounds the **sum** once, the invoice rounds **each line**. With three lines of `0.335` they differ by a cent. I will round lines in both places.",
  ),
  ...call(
    "t3",
    "Edit",
    {
      file_path: `${cwd}/${FILE}`,
      old_string: [SUM, ROUNDED].join("\n"),
      new_string: FIXED.join("\n"),
    },
    `The file ${cwd}/${FILE} has been updated.`,
    patch(2, [
      ...TOTAL.slice(1, 4).map((line) => ` ${line}`),
      `-${SUM}`,
      `-${ROUNDED}`,
      ...FIXED.map((line) => `+${line}`),
      ` ${TOTAL[6]}`,
    ]),
  ),
  ...call(
    "t4",
    "Bash",
    { command: "npm test -- cart", description: "Run the cart's tests" },
    [
      ` ${COLOUR.green}✓${COLOUR.off} total without a discount`,
      ` ${COLOUR.red}✗ total of an empty order${COLOUR.off}`,
      `   ${COLOUR.bold}expected${COLOUR.off} 0, received NaN`,
      "",
      ` Tests  ${COLOUR.red}1 failed${COLOUR.off} | ${COLOUR.green}11 passed${COLOUR.off}`,
    ].join("\n"),
    { is_error: true },
  ),
  says("An order without a discount passes `undefined`. I will make it 0."),
  ...call(
    "t5",
    "Edit",
    {
      file_path: `${cwd}/${FILE}`,
      old_string: "discount: number): number {",
      new_string: "discount = 0): number {",
    },
    `The file ${cwd}/${FILE} has been updated.`,
    patch(3, [
      ` ${TOTAL[2]}`,
      `-${TOTAL[3]}`,
      `+${TOTAL[3]?.replace("discount: number", "discount = 0")}`,
      ` ${FIXED[0]}`,
    ]),
  ),
  ...call(
    "t6",
    "Bash",
    { command: "npm test -- cart", description: "Run the cart's tests again" },
    ` Tests  ${COLOUR.green}12 passed${COLOUR.off}\n Duration  1.42s`,
  ),
  ...call("t7", "TodoWrite", todo("completed", "completed", "completed"), "Todos are modified"),
  says(
    "All 12 tests pass. The cart now rounds each line to whole cents, as the invoice does:\n\n| order | before | now | invoice |\n|---|---|---|---|\n| 3 × 0.335 | 1.01 | 1.02 | 1.02 |\n| 2 × 19.99, −15 % | 33.98 | 33.98 | 33.98 |\n\nI did not change past orders.",
  ),
  user("Which orders of last month are affected?"),
  ...call(
    "t8",
    "mcp__shop-db__query",
    { sql: "select id, total, invoiced from orders where total <> invoiced", limit: 20 },
    "| id | total | invoiced |\n|---|---|---|\n| 20117 | 1.01 | 1.02 |\n| 20344 | 8.37 | 8.38 |",
  ),
  says(
    "Two orders, **20117** and **20344**, are a cent below their invoice. No customer paid more.",
  ),
  user("Write a test for these two, and a line in the change log."),
  ...call(
    "t9",
    "Read",
    { file_path: `${cwd}/CHANGELOG.md`, limit: 6 },
    numbered(["# Changes", ""]),
  ),
  ...call(
    "t10",
    "Write",
    {
      file_path: `${cwd}/src/cart/rounding.test.ts`,
      content:
        'import { test } from "vitest";\nimport { total } from "./total.ts";\n\ntest("lines are rounded as on the invoice", () => {\n  expect(total([{ price: 0.335, count: 3 }])).toBe(1.02);\n});\n',
    },
    "File created successfully",
  ),
  ...call(
    "t11",
    "Edit",
    {
      file_path: `${cwd}/CHANGELOG.md`,
      old_string: "# Changes\n",
      new_string: "# Changes\n\n- Totals are rounded line by line, as on the invoice.\n",
    },
    "The file CHANGELOG.md has been updated.",
  ),
  says("Done: `src/cart/rounding.test.ts` has both orders, and the change log has a line."),
];
