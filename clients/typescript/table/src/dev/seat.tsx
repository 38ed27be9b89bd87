// The page of one seat: the ordinary app, with an identity of its own, and on a line that the panel around it controls.
import { render } from "preact";

import type { Store } from "@croupier/client";

import { App } from "../app.js";
import { Line, type Recorder } from "./line.js";

/** What the panel offers to the pages in it. */
export interface Panel {
  /** Take control of the line of a page, in place of the one before, which ended with its page. */
  readonly attach: (page: number, line: Line) => void;
  /** Return where the line of a page records. */
  readonly recorder: (page: number) => Recorder;
}

declare global {
  interface Window {
    croupierPanel?: Panel;
  }
}

/** Return the store of an identity: its keys in that of the browser have a prefix. */
export function storeOf(page: number): Store {
  const named = (key: string) => `seat ${page} ${key}`;
  return {
    getItem: (key) => localStorage.getItem(named(key)),
    setItem: (key, text) => localStorage.setItem(named(key), text),
    removeItem: (key) => localStorage.removeItem(named(key)),
  };
}

/** Show the page of an identity. Only a page of this origin can be around it, and without a panel its line is ordinary. */
export function showSeat(root: HTMLElement, page: number): void {
  const panel = parent.croupierPanel;
  const line = panel && new Line(panel.recorder(page));
  if (line) panel.attach(page, line);
  render(<App address={location.origin} store={storeOf(page)} {...(line && { line })} />, root);
}
