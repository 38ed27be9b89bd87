// The parts of the page.
import type { Expandable } from "@croupier/client";

/** Return the part of the page with this id. */
export function element(id: string): HTMLElement {
  return document.getElementById(id) as HTMLElement;
}

/** Make a part of the page. Texts are shown as they are, never interpreted as HTML. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Partial<HTMLElementTagNameMap[K]> = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

/** Make a list to select one value from; the values are shown by their texts, and selected by their position. */
export function makeSelect(texts: readonly string[], selected = 0): HTMLSelectElement {
  const options = texts.map((text, position) => make("option", { value: `${position}` }, text));
  const select = make("select", {}, ...options);
  select.selectedIndex = selected;
  return select;
}

/** Show lines in a list. */
export function showLines(id: string, lines: readonly string[]): HTMLLIElement[] {
  const shown = lines.filter((line) => line !== "").map((line) => make("li", {}, line));
  element(id).replaceChildren(...shown);
  return shown;
}

/** Show lines in a list, those with more to see as details that can be opened; `opened` keeps the keys of the open ones. */
export function showExpandable(id: string, lines: readonly Expandable[], opened: Set<string>): void {
  element(id).replaceChildren(...lines.map(({ key, text, more }) => {
    if (more.length === 0) return make("li", {}, text);
    const list = make("ul", {}, ...more.map((line) => make("li", {}, line)));
    const details = make("details", { open: opened.has(key) }, make("summary", {}, text), list);
    details.ontoggle = () => void (details.open ? opened.add(key) : opened.delete(key));
    return make("li", {}, details);
  }));
}

/** Run something whenever a form is sent; its button is disabled meanwhile. */
export function onSubmit(form: HTMLFormElement, run: () => Promise<void>): void {
  const button = form.querySelector("button") as HTMLButtonElement;
  form.onsubmit = (submitted) => {
    submitted.preventDefault();
    button.disabled = true;
    run()
      .catch((error) => showStatus("failed", String(error)))
      .finally(() => (button.disabled = false));
  };
}

/** Show the status: as text for people, and as `data-state` for programs. */
export function showStatus(state: string, text: string): void {
  element("status").textContent = text;
  document.body.dataset["state"] = state;
}
