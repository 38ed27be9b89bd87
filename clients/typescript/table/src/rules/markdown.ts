// The rules page, which is a small part of Markdown: headings, paragraphs, lists, tables, emphasis and anchors.

/** A block of a page. */
export type Block =
  | { readonly kind: "heading"; readonly level: number; readonly text: string; readonly anchors: readonly string[] }
  | { readonly kind: "paragraph"; readonly text: string; readonly anchors: readonly string[] }
  | { readonly kind: "list"; readonly items: readonly Item[] }
  | { readonly kind: "table"; readonly head: readonly string[]; readonly rows: readonly (readonly string[])[] };

export interface Item {
  readonly text: string;
  readonly anchors: readonly string[];
}

/** A piece of a line. */
export interface Span {
  readonly text: string;
  readonly kind: "plain" | "strong" | "emphasis" | "code";
}

const ANCHOR = /<a id="([^"]+)"><\/a>\s*/g;

/** Return the blocks of a page. Nothing of it is ever markup: a text that looks like HTML stays a text. */
export function blocksOf(markdown: string): Block[] {
  const paragraphs = markdown.split(/\n\s*\n/).map((part) => part.split("\n").filter((line) => line.trim() !== "")).filter((lines) => lines.length > 0);
  return paragraphs.flatMap(blocksOfLines);
}

function blocksOfLines(lines: readonly string[]): Block[] {
  const [first = "", ...rest] = lines;
  const heading = /^(#{1,6})\s+(.*)$/.exec(without(first).text);
  if (heading !== null) {
    const block: Block = { kind: "heading", level: heading[1]?.length ?? 1, text: heading[2] ?? "", anchors: without(first).anchors };
    return rest.length === 0 ? [block] : [block, ...blocksOfLines(rest)];
  }
  if (/^\s*([-*]|\d+\.)\s/.test(without(first).text)) return [{ kind: "list", items: itemsOf(lines) }];
  if (first.startsWith("|") && /^\|[\s:|-]+\|$/.test(rest[0] ?? "")) {
    return [{ kind: "table", head: cellsOf(first), rows: rest.slice(1).map(cellsOf) }];
  }
  return [{ kind: "paragraph", ...without(lines.join(" ")) }];
}

function itemsOf(lines: readonly string[]): Item[] {
  const items: string[] = [];
  for (const line of lines) {
    const text = /^\s*(?:<a id="[^"]+"><\/a>\s*)*(?:[-*]|\d+\.)\s+/.test(line) ? line : undefined;
    if (text === undefined && items.length > 0) items.push(`${items.pop()} ${line.trim()}`);
    else items.push(line);
  }
  return items.map((item) => {
    const { text, anchors } = without(item);
    return { text: text.replace(/^\s*(?:[-*]|\d+\.)\s+/, ""), anchors };
  });
}

function cellsOf(line: string): string[] {
  return line.replace(/^\||\|$/g, "").split("|").map((cell) => without(cell).text.trim());
}

function without(text: string): Item {
  return { text: text.replace(ANCHOR, "").trim(), anchors: [...text.matchAll(ANCHOR)].map(([, id]) => id ?? "") };
}

/** Return the pieces of a line. */
export function spansOf(line: string): Span[] {
  const parts = line.split(/(\*\*[^*]+\*\*|`[^`]+`|\*[^*\s][^*]*\*)/).filter((part) => part !== "");
  return parts.map((part): Span => {
    if (part.startsWith("**") && part.length > 4) return { kind: "strong", text: part.slice(2, -2) };
    if (part.startsWith("`") && part.length > 2) return { kind: "code", text: part.slice(1, -1) };
    if (part.startsWith("*") && part.length > 2) return { kind: "emphasis", text: part.slice(1, -1) };
    return { kind: "plain", text: part };
  });
}
