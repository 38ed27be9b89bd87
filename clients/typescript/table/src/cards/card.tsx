// Cards, drawn as SVG: a corner that can be read while another card covers the rest, and pips or an emblem.
import type { ComponentChildren } from "preact";

import { type Face, SUITS, type SuitName } from "./face.js";

const SUIT_PATHS: Record<SuitName, string> = {
  hearts: "M16 29C9 22 3 17 3 10.5 3 6.4 6.1 3.5 9.8 3.5c2.5 0 4.9 1.3 6.2 3.6 1.3-2.3 3.7-3.6 6.2-3.6 3.700 0 6.800 2.900 6.800 7C29 17 23 22 16 29z",
  diamonds: "M16 1.500C18.800 6.600 23 12 27.500 16 23 20 18.800 25.400 16 30.500 13.200 25.400 9 20 4.500 16 9 12 13.200 6.600 16 1.500z",
  spades: "M16 2C22 9 29 13.500 29 20c0 4-3 6.600-6.300 6.600-2 0-3.900-.900-5-2.500.200 2.700 1 4.700 2.800 6.400h-9c1.800-1.700 2.600-3.700 2.800-6.400-1.100 1.600-3 2.500-5 2.500C6 26.600 3 24 3 20 3 13.500 10 9 16 2z",
  clubs: "M16 2.500a6.500 6.500 0 0 1 5.300 10.300 6.600 6.600 0 1 1-3.600 11.500c.200 2.500 1 4.400 2.800 6.200h-9c1.800-1.800 2.600-3.700 2.800-6.200a6.600 6.600 0 1 1-3.600-11.500A6.500 6.500 0 0 1 16 2.500z",
};

/** The emblems of court cards, around the origin. */
const EMBLEMS: Readonly<Record<string, string>> = {
  K: "M-21 11-25-11-12-1 0-18 12-1 25-11 21 11ZM-21 15H21V20H-21ZM-28-13a3 3 0 1 1 6 0 3 3 0 1 1-6 0M22-13a3 3 0 1 1 6 0 3 3 0 1 1-6 0M-3-21a3 3 0 1 1 6 0 3 3 0 1 1-6 0",
  Q: "M-20 11C-24 1-25-6-23-12-17-5-12-5-9-15-5-5 5-5 9-15 12-5 17-5 23-12 25-6 24 1 20 11ZM-20 15H20V19H-20ZM-12-18a3 3 0 1 1 6 0 3 3 0 1 1-6 0M6-18a3 3 0 1 1 6 0 3 3 0 1 1-6 0",
  J: "M-17-17H17V1C17 12 7 18 0 22-7 18-17 12-17 1Z",
};

/** The places of the pips on the standard cards, in a grid of three columns. */
const PIPS: Readonly<Record<string, readonly (readonly [x: number, y: number])[]>> = {
  "2": [[1, 0], [1, 6]],
  "3": [[1, 0], [1, 3], [1, 6]],
  "4": [[0, 0], [2, 0], [0, 6], [2, 6]],
  "5": [[0, 0], [2, 0], [1, 3], [0, 6], [2, 6]],
  "6": [[0, 0], [2, 0], [0, 3], [2, 3], [0, 6], [2, 6]],
  "7": [[0, 0], [2, 0], [1, 1.5], [0, 3], [2, 3], [0, 6], [2, 6]],
  "8": [[0, 0], [2, 0], [1, 1.5], [0, 3], [2, 3], [1, 4.5], [0, 6], [2, 6]],
  "9": [[0, 0], [2, 0], [0, 2], [2, 2], [1, 3], [0, 4], [2, 4], [0, 6], [2, 6]],
  "10": [[0, 0], [2, 0], [1, 1], [0, 2], [2, 2], [0, 4], [2, 4], [1, 5], [0, 6], [2, 6]],
};

/** The symbols that cards use, once in a page. */
export function CardSymbols() {
  return (
    <svg class="symbols" aria-hidden="true">
      {SUITS.map((suit) => (
        <symbol id={`suit-${suit}`} viewBox="0 0 32 32" key={suit}><path d={SUIT_PATHS[suit]} /></symbol>
      ))}
    </svg>
  );
}

/** A suit as a sign in a text. */
export function SuitSign({ suit }: { readonly suit: SuitName }) {
  return <svg class={`suit-sign ${suit}`} viewBox="0 0 32 32" aria-hidden="true"><use href={`#suit-${suit}`} /></svg>;
}

/** A card that lies open; what it is for people is in the label of what contains it. */
export function CardFront({ face }: { readonly face: Face }) {
  const { corner, suit, colour, label } = face;
  return (
    <span class={`card front ${suit ?? "own"}`} data-colour={colour}>
      <svg viewBox="0 0 100 140" aria-hidden="true">
        <Corner face={face} />
        <g transform="rotate(180 50 70)"><Corner face={face} /></g>
        {suit !== undefined ? <Middle corner={corner} suit={suit} /> : <OwnMiddle text={label ?? corner} />}
      </svg>
    </span>
  );
}

/** A card that lies face down, or that the viewer does not know. */
export function CardBack() {
  return <span class="card back" aria-hidden="true" />;
}

function Corner({ face: { corner, suit } }: { readonly face: Face }) {
  return (
    <g>
      <text class="corner" x="15" y="26" textLength={corner.length > 1 ? "24" : undefined} lengthAdjust="spacingAndGlyphs">{corner}</text>
      {suit && <Pip suit={suit} x={15} y={41} size={20} />}
    </g>
  );
}

function Middle({ corner, suit }: { readonly corner: string; readonly suit: SuitName }): ComponentChildren {
  if (corner === "A") return <Pip suit={suit} x={50} y={70} size={52} />;
  const pips = PIPS[corner];
  if (pips !== undefined) {
    return pips.map(([x, y]) => <Pip key={`${x} ${y}`} suit={suit} x={34 + 16 * x} y={29 + y * (82 / 6)} size={18} isTurned={y > 3} />);
  }
  return <Court rank={corner} suit={suit} />;
}

function Court({ rank, suit }: { readonly rank: string; readonly suit: SuitName }) {
  return (
    <g>
      <rect class="court-frame" x="27" y="16" width="46" height="108" rx="5" />
      <path class="court-half" d="M28 94 72 46V119a4 4 0 0 1-4 4H32a4 4 0 0 1-4-4Z" />
      {[0, 180].map((turn) => (
        <g key={turn} transform={`rotate(${turn} 50 70)`}>
          <path class="emblem" transform="translate(50 44) scale(0.72)" d={EMBLEMS[rank]} />
          {rank === "J" && <g class="on-emblem"><Pip suit={suit} x={50} y={44} size={15} /></g>}
        </g>
      ))}
    </g>
  );
}

function OwnMiddle({ text }: { readonly text: string }) {
  const words = text.split(" ");
  return words.map((word, line) => (
    <text key={line} class="own-text" x="50" y={75 + (line - (words.length - 1) / 2) * 17} textLength={word.length > 7 ? "70" : undefined} lengthAdjust="spacingAndGlyphs">{word}</text>
  ));
}

interface PipPlace {
  readonly suit: SuitName;
  readonly x: number;
  readonly y: number;
  readonly size: number;
  readonly isTurned?: boolean;
}

function Pip({ suit, x, y, size, isTurned = false }: PipPlace) {
  const turn = isTurned ? `rotate(180 ${x} ${y})` : undefined;
  return <use href={`#suit-${suit}`} x={x - size / 2} y={y - size / 2} width={size} height={size} transform={turn} />;
}
