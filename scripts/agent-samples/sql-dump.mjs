/** SQL dump: tables of a SQLite database as the statements that make them again. */

import { DatabaseSync } from "@photostructure/sqlite";

/** @param {string} path @param {readonly string[]} tables */
export function sqlDump(path, tables) {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    return tables.flatMap((table) => statements(database, table)).join("\n");
  } finally {
    database.close();
  }
}

/** @param {InstanceType<typeof DatabaseSync>} database @param {string} table */
function statements(database, table) {
  const made = database
    .prepare(
      "SELECT sql FROM sqlite_master WHERE tbl_name = ? AND sql IS NOT NULL ORDER BY type DESC",
    )
    .all(table);
  const rows = database.prepare(`SELECT * FROM "${table}"`).all();
  return [
    ...made.map(({ sql }) => `${String(sql).replaceAll(/\s+/g, " ")};`),
    ...rows.map((row) => {
      const values = Object.values(/** @type {object} */ (row)).map(literal);
      return `INSERT INTO "${table}" VALUES (${values.join(", ")});`;
    }),
    "",
  ];
}

/** @param {unknown} value */
function literal(value) {
  if (value === null) return "NULL";
  return typeof value === "string" ? `'${value.replaceAll("'", "''")}'` : String(value);
}
