// Random ids and secrets. Pages over plain HTTP have no crypto.randomUUID, except on loopback: it needs a secure context.

/** Return 128 random bits in hexadecimal. */
export function randomId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
