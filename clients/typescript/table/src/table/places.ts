// Where seats sit around the table, and where their cards lie in a trick.

/** A point in percent of the width and height of an area. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** The part of the circle, in degrees, over which the other seats are spread, by their number; with more it is the last. */
const SPANS = [0, 0, 110, 165, 176, 180, 186, 190];
const RADIANS = Math.PI / 180;

/**
 * Return where a seat sits: the viewer below, and the others clockwise from the left around the table. `viewer` is the
 * seat that is shown below, 0 for a spectator.
 */
export function placeOf(seat: number, seats: number, viewer: number): Point {
  const { x, y } = directionOf(seat, seats, viewer);
  return { x: 50 + 50 * x, y: seat === viewer ? 100 : 58 + 58 * y };
}

/** Return where a card of a seat lies in the trick: towards the seat, or in the middle if it came from no hand. */
export function trickPlaceOf(seat: number | undefined, seats: number, viewer: number): Point {
  if (seat === undefined) return { x: 50, y: 50 };
  const { x, y } = directionOf(seat, seats, viewer);
  return { x: 50 + 23 * x, y: 48 + 25 * y };
}

/** Return whether the cards of a trick lie in one row, in their order: then no card of a seat covers another of it. */
export function liesInRow(seats: readonly (number | undefined)[]): boolean {
  return new Set(seats).size < seats.length;
}

/** Return the direction from the middle of the table to a seat: x to the right, y downwards. */
function directionOf(seat: number, seats: number, viewer: number): Point {
  const others = seats - 1;
  const steps = (seat - viewer + seats) % seats;
  if (steps === 0) return { x: 0, y: 1 };
  const span = SPANS[Math.min(others, SPANS.length - 1)] ?? 0;
  const degrees = 90 + span / 2 - (others > 1 ? (span * (steps - 1)) / (others - 1) : 0);
  return { x: Math.cos(degrees * RADIANS), y: -Math.sin(degrees * RADIANS) };
}
