// The screen of a table whose game has begun.
import { useMemo, useRef, useState } from "preact/hooks";

import { create } from "@bufbuild/protobuf";

import { DrawnActions, SETTLING_MILLISECONDS, type Selection, type Table, Words, ruleOf } from "@croupier/client";
import { type Action, type Card, type GameDescription, LegalActionsSchema, type Pile } from "@croupier/client/contract";

import { useChanges, useShared, useTicks } from "../connection.js";
import { refusalText, standstillOf } from "../errors.js";
import { IconButton } from "../icons.js";
import { type Say, useSay } from "../texts/page_texts.js";
import { Announcements } from "./announcements.js";
import { ConnectionState } from "./connection_state.js";
import { type HandCard, handCards } from "./hand.js";
import { LinkSheet } from "./link_sheet.js";
import { PileSheet } from "./pile_sheet.js";
import { PilesSheet } from "./piles_sheet.js";
import { ProposalBar } from "./proposal_bar.js";
import { ReactionSheet } from "./reaction_sheet.js";
import { Refusal, type Refused } from "./refusal.js";
import { ResultSheet } from "./result_sheet.js";
import { ScoreSheet } from "./score_sheet.js";
import { Spectators } from "./spectators.js";
import { TableArea } from "./table_view.js";
import { TableMenu } from "./table_menu.js";
import { buttonsOf, hintOf, isChoosing, nothingChosen, refusableAction, tapCard } from "./turn.js";
import { useReactions } from "./use_reactions.js";
import { useSignals } from "./use_signals.js";
import { useStage } from "./use_stage.js";

interface TableScreenProps {
  readonly table: Table;
  readonly game: GameDescription;
}

const NOTHING_LEGAL = create(LegalActionsSchema);

/** Which sheet covers the table. */
type Cover = { readonly sheet: "menu" | "reactions" | "scores" | "piles" | "link" } | { readonly sheet: "pile"; readonly pile: Pile };

export function TableScreen({ table, game }: TableScreenProps) {
  const { connection, settings, go, reactions } = useShared();
  const say = useSay();
  useChanges(table);
  useTicks(500, table.secondsLeft !== undefined);
  const root = useRef<HTMLDivElement>(null);
  const { view, isNewest, roundEnd, lastTrick } = useStage(table, game, root);
  const words = useMemo(() => new Words(game, connection.language, table.seats.map(({ name }) => name)), [game, table.seats]);
  const drawn = useDrawn(table, isNewest);
  const standstill = standstillOf(table, words, say);
  const decision = standstill === undefined ? drawn?.decision : undefined;
  const [selection, choose] = useChosen(drawn);
  const [refused, setRefused] = useState<Refused>();
  const [cover, setCover] = useState<Cover>();
  const shownReactions = useReactions(table, reactions);
  useSignals(table, settings);
  const close = () => setCover(undefined);
  const fail = (error: unknown) => setRefused({ text: refusalText(error, words, say), rule: ruleOf(error) });
  const isSettled = useSettled(drawn);
  const act = (action: Action) => {
    if (drawn?.isReady !== true) return;
    setRefused(undefined);
    choose(nothingChosen(drawn.decision.legal));
    void drawn.take(action).catch(fail);
  };
  const hand = handCards(view.seats[table.seat ?? -1]?.cards ?? [], view.cardOrder, (card) => decision !== undefined && selection.isSelectable(card), selection.selected);
  const tap = ({ card }: HandCard) => {
    setRefused(undefined);
    if (decision === undefined) return;
    if (selection.isSelectable(card)) tapCard(selection, card, settings.playsByOneTap, { choose, act });
    else explain(card);
  };
  /** The rules are the engine's: it refuses the card, and names the rule. */
  const explain = (card: Card) => {
    const refusable = refusableAction(selection.legal, card);
    if (refusable !== undefined) act(refusable);
  };
  const frame = { view, roundEnd, seats: table.seats, teams: table.teams, seat: table.seat, legal: decision?.legal, presence: table.presence, proposal: table.proposal, awaySeats: table.awaySeats, leftSeats: table.leftSeats };
  const seconds = standstill === undefined ? table.secondsLeft : undefined;
  return (
    <div ref={root} class="table-screen" data-newest={isNewest}>
      <TableArea
        frame={frame}
        words={words}
        hand={hand}
        isChoosing={decision !== undefined && isChoosing(decision.legal)}
        hint={standstill ?? (decision === undefined ? idleHint(table, view.seatsToAct, words, say) : hintOf(decision, selection, say))}
        seconds={seconds === undefined || seconds > 60 && decision === undefined ? "" : clockText(seconds)}
        timeLeft={seconds === undefined ? undefined : Math.min(1, seconds / 30)}
        buttons={decision === undefined ? [] : buttonsOf(decision, selection, words, say, { choose, act })}
        reactions={shownReactions}
        tapCard={tap}
        openPile={(pile) => isSettled() && setCover({ sheet: "pile", pile })}
        openSeat={() => isSettled() && setCover({ sheet: "scores" })}
        heading={
          <header class="heading">
            <IconButton name="back" label={say("home")} onClick={() => go({ screen: "home" })} />
            <h1>{game.name}<small>{view.round > 0 && words.round(view.round)}</small></h1>
            <Spectators table={table} />
            <ConnectionState table={table} />
            {table.seat !== undefined && <IconButton name="smile" label={say("react")} onClick={() => setCover({ sheet: "reactions" })} />}
            <IconButton name="menu" label={say("menu")} onClick={() => setCover({ sheet: "menu" })} />
          </header>
        }
      />
      {refused !== undefined && <Refusal refused={refused} game={game} rulesVersion={table.rulesVersion} close={() => setRefused(undefined)} />}
      {cover?.sheet === "pile" && <PileSheet pile={cover.pile} words={words} close={close} />}
      {cover?.sheet === "reactions" && <ReactionSheet table={table} close={close} fail={fail} />}
      {cover?.sheet === "piles" && <PilesSheet piles={view.piles} lastTrick={lastTrick} words={words} close={close} />}
      {cover?.sheet === "link" && <LinkSheet table={table} words={words} close={close} />}
      {cover?.sheet === "scores" && <ScoreSheet table={table} words={words} close={close} />}
      {cover?.sheet === "menu" && <TableMenu table={table} words={words} close={close} fail={fail} open={(sheet) => setCover({ sheet })} />}
      {table.isOver && isNewest && cover === undefined && <ResultSheet table={table} words={words} />}
      <ProposalBar table={table} words={words} fail={fail} />
      <Announcements table={table} words={words} />
    </div>
  );
}

/**
 * Return the actions as they are drawn: those of a new turn once the newest state is shown, and the same ones while others
 * at the table change nothing of them.
 */
function useDrawn(table: Table, isNewest: boolean): DrawnActions | undefined {
  const kept = useRef<DrawnActions | undefined>(undefined);
  const decision = table.decision();
  const isSame = decision !== undefined && kept.current?.update(decision) === true;
  if (!isSame) kept.current = decision && isNewest ? new DrawnActions((action, seen) => table.act(action, seen), decision) : undefined;
  return kept.current;
}

/** Return what is chosen of drawn actions, and a function that changes it; other ones begin with nothing. */
function useChosen(drawn: DrawnActions | undefined): [Selection, (selection: Selection) => void] {
  const nothing = nothingChosen(drawn?.decision.legal ?? NOTHING_LEGAL);
  const [kept, keep] = useState({ drawn, selection: nothing });
  const selection = kept.drawn === drawn ? kept.selection : nothing;
  return [selection, (next) => keep({ drawn, selection: next })];
}

/** Return a function that returns whether a tap beside the buttons was meant for what it hit: buttons may just have gone. */
function useSettled(drawn: DrawnActions | undefined): () => boolean {
  const changedAt = useMemo(() => performance.now(), [drawn]);
  return () => performance.now() - changedAt >= SETTLING_MILLISECONDS;
}

/** Return the line of a person who cannot act now. */
function idleHint({ seat, isAway, isOver }: Table, toAct: readonly number[], words: Words, say: Say): string {
  if (isOver) return say("gameOver");
  if (isAway) return say("computerPlays");
  if (toAct.length === 0) return "";
  if (seat !== undefined && toAct.includes(seat)) return say("yourTurn");
  return say("turnOf", { seats: words.seats(toAct) });
}

function clockText(seconds: number): string {
  const whole = Math.ceil(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}
