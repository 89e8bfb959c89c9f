/** HTML as a parser of the standard's reads it, for tests that need no browser. */

import {
  html as namespaces,
  parse,
  parseFragment,
  type DefaultTreeAdapterTypes as Tree,
} from "parse5";
import { faultOf } from "./allow-list.ts";

export class ParsedHtml {
  readonly elements: readonly Tree.Element[];
  readonly #root: Tree.ParentNode;

  private constructor(root: Tree.ParentNode) {
    this.#root = root;
    this.elements = elementsOf(root);
  }

  static page(text: string): ParsedHtml {
    return new ParsedHtml(parse(text));
  }

  static fragment(text: string): ParsedHtml {
    return new ParsedHtml(parseFragment(text));
  }

  /** What may not be in a page, including comments and elements of other languages. */
  get faults(): string[] {
    const strangers = this.elements.map(({ tagName, namespaceURI, attrs }) => {
      if (namespaceURI !== namespaces.NS.HTML) return `foreign <${tagName}>`;
      return faultOf(
        tagName,
        attrs.map(({ name, value }) => [name, value] as const),
      );
    });
    return [...strangers.filter((fault) => fault !== null), ...commentsIn(this.#root)];
  }

  get text(): string {
    return textIn(this.#root);
  }

  /** The texts of the elements that have this class, in order. */
  withClass(name: string): string[] {
    return this.#texts(({ attrs }) =>
      attrs.some((attr) => attr.name === "class" && attr.value.split(" ").includes(name)),
    );
  }

  named(tagName: string): string[] {
    return this.#texts((element) => element.tagName === tagName);
  }

  #texts(isWanted: (element: Tree.Element) => boolean): string[] {
    return this.elements.filter(isWanted).map(textIn);
  }
}

function childrenOf(node: Tree.Node): Tree.ChildNode[] {
  if (!("childNodes" in node)) return [];
  return "content" in node ? [...node.childNodes, node.content as never] : node.childNodes;
}

// Each has its own stack: hostile pages are nested deeper than ours.
function* nodesIn(root: Tree.Node): Generator<Tree.Node> {
  const stack: Tree.Node[] = [root];
  for (let node = stack.pop(); node; node = stack.pop()) {
    yield node;
    stack.push(...childrenOf(node).toReversed());
  }
}

function elementsOf(root: Tree.Node): Tree.Element[] {
  return [...nodesIn(root)].filter((node): node is Tree.Element => "tagName" in node);
}

function commentsIn(root: Tree.Node): string[] {
  return [...nodesIn(root)].filter((node) => node.nodeName === "#comment").map(() => "comment");
}

function textIn(root: Tree.Node): string {
  let text = "";
  for (const node of nodesIn(root)) if ("value" in node) text += node.value;
  return text;
}
