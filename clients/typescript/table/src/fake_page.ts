// A page in place of a browser's, for tests.

/** A part of a page. */
export class FakeElement extends EventTarget {
  hidden = false;
  disabled = false;
  lang = "";
  selectedIndex = -1;
  onclick?: () => void;
  onchange?: () => void;
  ontoggle?: () => void;
  dataset: Record<string, string> = {};
  private nodes: (FakeElement | string)[] = [];

  constructor(readonly tag: string) {
    super();
  }

  get textContent(): string {
    return this.nodes.map((node) => (typeof node === "string" ? node : node.textContent)).join("");
  }

  set textContent(text: string) {
    this.nodes = [text];
  }

  get children(): FakeElement[] {
    return this.nodes.filter((node): node is FakeElement => typeof node !== "string");
  }

  append(...nodes: readonly (FakeElement | string)[]): void {
    this.nodes.push(...nodes);
  }

  replaceChildren(...nodes: readonly (FakeElement | string)[]): void {
    this.nodes = [...nodes];
  }

  prepend(node: FakeElement): void {
    this.nodes.unshift(node);
  }

  contains(): boolean {
    return false;
  }

  scrollIntoView(): void {
    this.dispatchEvent(new Event("scrolled"));
  }

  tap(): void {
    this.dispatchEvent(new Event("click"));
  }

  /** Return the parts with a tag in this one, at any depth. */
  all(tag: string): FakeElement[] {
    return this.children.flatMap((child) => [...(child.tag === tag ? [child] : []), ...child.all(tag)]);
  }
}

/** Put an empty page in place of the document, and return a function that returns its parts by id. */
export function fakePage(): (id: string) => FakeElement {
  const elements = new Map<string, FakeElement>();
  const find = (id: string) => {
    const found = elements.get(id) ?? new FakeElement("div");
    elements.set(id, found);
    return found;
  };
  const createElement = (tag: string) => new FakeElement(tag);
  Object.assign(globalThis, { document: { getElementById: find, createElement, body: new FakeElement("body") } });
  return find;
}
