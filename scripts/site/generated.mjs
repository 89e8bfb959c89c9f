/**
 * Generated pages: the commands, from what they declare, and the HTTP routes, from the server's own
 * OpenAPI document. Written as Markdown at each build, so that they cannot be out of date.
 *
 * @import { AnyCommand, CommandOption } from "../../src/cli/command/command.ts"
 */

/** @param {readonly AnyCommand[]} commands */
export function commandsPage(commands) {
  return [
    "# Commands: all options",
    "",
    "Every command and option, generated from the code. [Commands explained](cli.md) says what",
    "they have in common, their output and their JSON.",
    "",
    ...commands.flatMap((command) => commandSection(command, "verbatim")),
  ].join("\n");
}

/**
 * @param {AnyCommand} command
 * @param {string} above
 * @returns {string[]}
 */
function commandSection(command, above) {
  const name = `${above} ${command.name}`;
  const below = (command.commands ?? []).flatMap((each) => commandSection(each, name));
  if (!("run" in command)) return below;
  const { args = [], options, summary, examples } = command;
  const usage = [name, ...(options.length > 0 ? ["[options]"] : []), ...args.map((a) => a.name)];
  const rows = [
    ...args.map((arg) => `| ${code(arg.name)} | ${cell(arg.summary)} |`),
    ...options.map((option) => `| ${code(option.flags)} | ${cell(optionText(option))} |`),
  ];
  return [
    `## ${name}`,
    "",
    `${sentence(summary)}`,
    "",
    "```text",
    usage.join(" "),
    "```",
    "",
    ...(rows.length > 0 ? [...head("argument or option", "meaning"), ...rows, ""] : []),
    ...(examples.length > 0 ? ["```sh", ...examples, "```", ""] : []),
    ...below,
  ];
}

/** @param {CommandOption} option */
function optionText({ summary, choices, default: byDefault, isRepeatable }) {
  const values = choices ? `; one of ${choices.join(", ")}` : "";
  const usual = byDefault === undefined || byDefault === "" ? "" : `; default: ${byDefault}`;
  const isSaid = !isRepeatable || summary.includes("repeatable");
  return `${summary}${values}${usual}${isSaid ? "" : "; repeatable"}`;
}

/**
 * @typedef {object} Operation
 * @property {string} summary
 * @property {readonly Parameter[]} [parameters]
 * @property {Body} [requestBody]
 * @property {Readonly<Record<string, Response>>} responses
 *
 * @typedef {object} Body
 * @property {string} [description]
 * @property {Readonly<Record<string, { schema?: Schema }>>} content
 *
 * @typedef {object} Parameter
 * @property {string} name
 * @property {string} in
 * @property {string} [description]
 * @property {boolean} [required]
 * @property {Schema} [schema]
 *
 * @typedef {object} Response
 * @property {string} [description]
 * @property {Readonly<Record<string, { description?: string }>>} [headers]
 *
 * @typedef {object} Schema
 * @property {string} [type]
 * @property {string} [description]
 * @property {readonly unknown[]} [enum]
 * @property {unknown} [default]
 * @property {number} [minimum]
 * @property {number} [maximum]
 * @property {readonly string[]} [required]
 * @property {Readonly<Record<string, Schema>>} [properties]
 *
 * @typedef {object} OpenApi
 * @property {Readonly<Record<string, Readonly<Record<string, unknown>>>>} paths
 */

const METHODS = ["get", "head", "put", "post", "patch", "delete"];

/** @param {OpenApi} openApi */
export function httpPage({ paths }) {
  return [
    "# HTTP routes",
    "",
    "Every route of the server, generated from its OpenAPI document (`GET /v1/openapi.json`).",
    "[The HTTP API](api.md) explains sessions and the client, [the server](server.md) tokens and",
    "limits, [subscriptions](subscriptions.md) notifications, [error codes](errors.md) refusals.",
    "",
    ...Object.entries(paths).flatMap(([path, methods]) =>
      METHODS.filter((method) => method in methods).flatMap((method) =>
        routeSection(path, method, /** @type {Operation} */ (methods[method])),
      ),
    ),
  ].join("\n");
}

/**
 * @param {string} path
 * @param {string} method
 * @param {Operation} operation
 */
function routeSection(path, method, { summary, parameters = [], requestBody, responses }) {
  const given = parameters.map(({ name, in: place, description = "", required, schema = {} }) => {
    return `| ${code(name)} | ${place} | ${valueText({ ...schema, description }, required)} |`;
  });
  return [
    `## ${method.toUpperCase()} ${path.replace(/[{}]/g, (brace) => `\\${brace}`)}`,
    "",
    sentence(summary),
    "",
    ...(given.length > 0 ? [...head("parameter", "in", "meaning"), ...given, ""] : []),
    ...(requestBody ? bodyRows(requestBody) : []),
    ...head("status", "meaning"),
    ...statusRows(responses),
    "",
  ];
}

/** @param {Body} body */
function bodyRows({ description, content }) {
  return Object.entries(content).flatMap(([type, { schema = {} }]) => {
    const rows = Object.entries(schema.properties ?? {}).map(([name, field]) => {
      const text = valueText(field, schema.required?.includes(name));
      return `| ${code(name)} | ${field.type ?? ""} | ${text} |`;
    });
    const what = `The body is ${code(type)}${description ? `: ${description}` : ""}.`;
    return [
      what,
      "",
      ...(rows.length > 0 ? [...head("field", "type", "meaning"), ...rows, ""] : []),
    ];
  });
}

/**
 * Statuses with the same meaning are one row.
 *
 * @param {Operation["responses"]} responses
 */
function statusRows(responses) {
  /** @type {Map<string, string[]>} */
  const statuses = new Map();
  for (const [status, { description = "", headers = {} }] of Object.entries(responses)) {
    const lines = Object.entries(headers).map(([name, header]) => {
      return `<br>${code(name)}: ${cell(header.description ?? "")}`;
    });
    const meaning = `${cell(description)}${lines.join("")}`;
    statuses.set(meaning, [...(statuses.get(meaning) ?? []), code(status)]);
  }
  return [...statuses].map(([meaning, same]) => `| ${same.join(" ")} | ${meaning} |`);
}

/**
 * @param {Schema} schema
 * @param {boolean} [isRequired]
 */
function valueText(
  { description, enum: values, default: byDefault, minimum, maximum },
  isRequired,
) {
  const least = minimum === undefined || minimum === 0 ? "" : `at least ${minimum}`;
  return [
    cell(description ?? ""),
    values ? `one of ${values.map((each) => code(String(each))).join(", ")}` : "",
    maximum === undefined ? least : `${minimum ?? 0} to ${maximum}`,
    byDefault === undefined ? "" : `default: ${code(String(byDefault))}`,
    isRequired ? "required" : "",
  ]
    .filter(Boolean)
    .join("; ");
}

/** @param {readonly string[]} names */
function head(...names) {
  return [`| ${names.join(" | ")} |`, `|${"---|".repeat(names.length)}`];
}

/** @param {string} text */
function code(text) {
  return `\`${text.replaceAll("|", "\\|")}\``;
}

/** @param {string} text */
function cell(text) {
  return text
    .replaceAll("|", "\\|")
    .replace(/</g, "&lt;")
    .replace(/(?<!`)https?:\/\/[^\s;,)]+/g, "`$&`"); // A placeholder, which must not be a link.
}

/** @param {string} text */
function sentence(text) {
  const escaped = text.replace(/</g, "&lt;");
  return `${escaped.charAt(0).toUpperCase()}${escaped.slice(1)}${/[.!?]$/.test(escaped) ? "" : "."}`;
}
