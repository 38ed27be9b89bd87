// Addresses behind the #: each route has one, and anything else is the home.
import assert from "node:assert/strict";
import { test } from "vitest";

import { type Route, hashOf, routeOf } from "./route.js";

const ROUTES: readonly Route[] = [
  { screen: "home" },
  { screen: "new", game: "one_ten" },
  { screen: "join", code: "K7QX2M9P" },
  { screen: "table", id: "a b/c?d", link: "" },
  { screen: "table", id: "t", link: "L&=#1" },
  { screen: "replay", id: "t", link: "", step: undefined, eyes: "" },
  { screen: "replay", id: "t", link: "x", step: 12, eyes: "all" },
];

test("a route has an address that leads back to it", () => {
  for (const route of ROUTES) assert.deepEqual(routeOf(hashOf(route)), route);
});

test("anything else leads home", () => {
  for (const hash of ["", "#", "#/", "#/t", "#/t/", "#/x/1", "#/%E0%A4%A/1", "#/t/%"]) assert.deepEqual(routeOf(hash), { screen: "home" }, hash);
});
