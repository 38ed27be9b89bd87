// The table as it is drawn: seats around the felt, the actions, and the hand.
import type { ComponentChildren } from "preact";

import { type Words, callText } from "@croupier/client";
import type { Pile } from "@croupier/client/contract";

import { ActionBar, type ActionButton } from "./actions.js";
import { callAt } from "./calls.js";
import { Felt } from "./felt.js";
import type { Frame } from "./frame.js";
import { Hand, type HandCard } from "./hand.js";
import { Known } from "./known.js";
import { OwnState } from "./own_state.js";
import { placeOf } from "./places.js";
import { RoundEnd } from "./round_end.js";
import { SeatBadge } from "./seat_badge.js";
import { seatMarks } from "./seat_marks.js";

interface TableViewProps {
  readonly frame: Frame;
  readonly words: Words;
  readonly hand: readonly HandCard[];
  readonly isChoosing: boolean;
  readonly hint: string;
  readonly seconds: string;
  readonly timeLeft: number | undefined;
  readonly buttons: readonly ActionButton[];
  readonly reactions: ReadonlyMap<number, string>;
  readonly tapCard: (card: HandCard) => void;
  readonly openPile: (pile: Pile) => void;
  readonly openSeat: (seat: number) => void;
  /** The line above the table. */
  readonly heading: ComponentChildren;
}

export function TableArea({ frame, words, hand, isChoosing, hint, seconds, timeLeft, buttons, reactions, tapCard, openPile, openSeat, heading }: TableViewProps) {
  const { view, seats, seat } = frame;
  const isTurn = frame.legal !== undefined;
  return (
    <main class="table" data-seats={seats.length} data-seated={seat !== undefined}>
      {heading}
      <Known view={view} words={words} />
      <div class="around">
        <Felt frame={frame} words={words} openPile={openPile} />
        {seat !== undefined && <OwnState view={view} seat={seat} words={words} open={() => openSeat(seat)} />}
        {seats.map((_, number) => (
          <SeatAt key={number} number={number} frame={frame} words={words} reaction={reactions.get(number)} timeLeft={timeLeft} open={openSeat} />
        ))}
        {frame.roundEnd !== undefined && <RoundEnd score={frame.roundEnd} words={words} />}
      </div>
      <ActionBar hint={hint} isTurn={isTurn} seconds={seconds} buttons={buttons} />
      {seat !== undefined && <Hand seat={seat} cards={hand} isTurn={isTurn} isChoosing={isChoosing} label={words.seat(seat)} words={words} tap={tapCard} />}
    </main>
  );
}

interface SeatAtProps {
  readonly number: number;
  readonly frame: Frame;
  readonly words: Words;
  readonly reaction: string | undefined;
  readonly timeLeft: number | undefined;
  readonly open: (seat: number) => void;
}

function SeatAt({ number, frame, words, reaction, timeLeft, open }: SeatAtProps) {
  const { view, seats, seat: viewer } = frame;
  const [state, player] = [view.seats[number], seats[number]];
  if (state === undefined || player === undefined) return null;
  const { x, y } = placeOf(number, seats.length, viewer ?? 0);
  const isToAct = view.seatsToAct.includes(number);
  return (
    <div class="at-seat" data-own={number === viewer} style={{ "--x": `${x}%`, "--y": `${y}%` }}>
      <SeatBadge
        number={number}
        name={words.seat(number)}
        isBot={player.bot !== ""}
        state={state}
        marks={seatMarks(view, number, words)}
        isDealer={view.dealer === number}
        isToAct={isToAct}
        isDeclarer={view.contract?.declarer === number}
        absence={absenceOf(number, frame, words)}
        bubble={reaction ?? callTextAt(number, frame, words)}
        words={words}
        timeLeft={isToAct ? timeLeft : undefined}
        open={() => open(number)}
      />
    </div>
  );
}

function absenceOf(seat: number, { leftSeats, awaySeats, presence, seats }: Frame, words: Words): string {
  if (leftSeats.includes(seat)) return words.say("hasLeft");
  if (awaySeats.includes(seat)) return words.say("isAway");
  const isOffline = seats[seat]?.bot === "" && presence?.connectedSeats.includes(seat) === false;
  return isOffline ? words.say("isOffline") : "";
}

function callTextAt(seat: number, { view }: Frame, words: Words): string {
  const call = callAt(seat, view);
  return call === undefined ? "" : callText(call, words).slice(words.seat(seat).length + 2);
}
