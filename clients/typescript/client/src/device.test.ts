// The secrets of a device, with a store in memory.
import assert from "node:assert/strict";
import { test } from "vitest";

import { Device, type Store } from "./device.js";

function storeOf(): Store {
  const values = new Map<string, string>();
  return {
    getItem: (key) => values.get(key) ?? null,
    setItem: (key, value) => void values.set(key, value),
    removeItem: (key) => void values.delete(key),
  };
}

test("each server gets a secret of its own, which stays until the player is deleted", () => {
  const store = storeOf();
  const [here, there] = [new Device(store, "https://here"), new Device(store, "https://there")];
  const secret = here.secretFor("");
  assert.equal(here.secret, undefined);
  here.keep(secret);
  assert.equal(new Device(store, "https://here").secretFor(""), secret);
  assert.notEqual(there.secretFor(""), secret);
  here.forget();
  assert.notEqual(here.secretFor(""), secret);
});

test("a code gets a new secret, and the one before stays until the new one is kept", () => {
  const device = new Device(storeOf(), "https://here");
  device.keep("a guest's");
  const secret = device.secretFor("ABCD");
  assert.notEqual(secret, "a guest's");
  assert.equal(device.secretFor(""), "a guest's");
  device.keep(secret);
  assert.equal(device.secretFor(""), secret);
});
