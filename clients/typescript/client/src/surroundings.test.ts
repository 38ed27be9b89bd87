// The surroundings of a browser's page, with its events.
import assert from "node:assert/strict";
import { afterEach, test, vi } from "vitest";

import { ownSurroundings } from "./surroundings.js";

afterEach(() => void vi.unstubAllGlobals());

/** A page in memory, and its surroundings after each change. */
function page() {
  const document = Object.assign(new EventTarget(), { visibilityState: "visible" });
  const [window, connection] = [new EventTarget(), Object.assign(new EventTarget(), { type: "wifi" })];
  const navigator = { onLine: true, connection };
  for (const [name, value] of Object.entries({ document, window, navigator })) vi.stubGlobal(name, value);
  const surroundings = ownSurroundings();
  const seen: unknown[] = [];
  const unsubscribe = surroundings.subscribe(() => {
    seen.push([surroundings.isVisible, surroundings.isOnline, surroundings.network]);
  });
  const tell = (target: EventTarget, type: string, values: object = {}) => target.dispatchEvent(Object.assign(new Event(type), values));
  return { document, window, navigator, connection, seen, unsubscribe, tell };
}

test("a page is hidden and shown", () => {
  const { document, seen, tell } = page();
  document.visibilityState = "hidden";
  tell(document, "visibilitychange");
  document.visibilityState = "visible";
  tell(document, "visibilitychange");
  assert.deepEqual(seen, [[false, true, "wifi"], [true, true, "wifi"]]);
});

test("a page that is left is hidden, and comes back out of the cache, also without notice", () => {
  const { window, seen, tell } = page();
  tell(window, "pagehide");
  tell(window, "pageshow", { persisted: false });
  tell(window, "pageshow", { persisted: true });
  assert.deepEqual(seen.map((it) => (it as boolean[])[0]), [false, true, false, true]);
});

test("a device loses its network, and gets another one", () => {
  const { window, navigator, connection, seen, tell } = page();
  navigator.onLine = false;
  tell(window, "offline");
  navigator.onLine = true;
  tell(window, "online");
  connection.type = "cellular";
  tell(connection, "change");
  assert.deepEqual(seen, [[true, false, "wifi"], [true, true, "wifi"], [true, true, "cellular"]]);
});

test("a listener that was removed is not called", () => {
  const { document, window, connection, seen, unsubscribe, tell } = page();
  unsubscribe();
  tell(document, "visibilitychange");
  for (const type of ["pagehide", "pageshow", "online", "offline"]) tell(window, type);
  tell(connection, "change");
  assert.deepEqual(seen, []);
});

test("a program has no surroundings", () => {
  const { isVisible, isOnline, network, subscribe } = ownSurroundings();
  subscribe(() => assert.fail())();
  assert.deepEqual([isVisible, isOnline, network], [true, true, ""]);
});
