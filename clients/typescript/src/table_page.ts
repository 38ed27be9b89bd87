// The part of the page that shows a table: all that its player may know, for any game.
import { equals } from "@bufbuild/protobuf";

import { type Action, type LegalActions, LegalActionsSchema } from "./generated/croupier_api/v1/actions_pb";
import type { Card } from "./generated/croupier_api/v1/cards_pb";
import type { TableUpdate } from "./generated/croupier_api/v1/engine_pb";
import type { Pile, SeatView, TableView } from "./generated/croupier_api/v1/facts_pb";
import { choiceForm } from "./choice_form";
import { element, make, showLines, showStatus } from "./dom";
import { type Act, DrawnActions } from "./drawn_actions";
import { isOvertaken } from "./errors";
import { actionText, callText, placeText, updateTexts } from "./sentences";
import type { Table } from "./table";
import { type Words, texts } from "./words";

const MAX_LINES = 40;
const LOST = "the connection is lost: trying to come back to the table";
const OVERTAKEN = "too late: the table has moved on, and nothing was played";
const NOTICE_MILLISECONDS = 5_000;

/** What a person at the table can do. */
export interface Controls {
  /** Carry an action out. */
  readonly act: Act;
  /** Leave the seat to the engine. */
  leave(): void;
  /** Return to the seat. */
  return(): void;
}

/** Shows a table, and carries out what the person chooses. */
export class TablePage {
  private shownLegal: LegalActions | undefined;
  private shownView: TableView | undefined;
  private drawn: DrawnActions;
  private notice = "";
  private noticeEnds = 0;

  constructor(
    private readonly table: Table,
    private readonly controls: Controls,
    /** Returns milliseconds by a clock that always goes on evenly. */
    private readonly now = () => performance.now(),
  ) {
    this.drawn = new DrawnActions(controls.act, undefined, now);
    element("leave").onclick = () => controls.leave();
    element("return").onclick = () => controls.return();
    element("actions").replaceChildren();
    element("log").replaceChildren();
    element("at-table").hidden = false;
  }

  /** Show the table as it is now, with the update that led to it, if it was one. */
  show(words: Words, update: TableUpdate | undefined): void {
    const { view, seat } = this.table;
    element("round").textContent = texts(`${words.word("round")} ${view.round}`, words.word(view.phase));
    const lines = view.seats.map((shown, number) => this.seatText(shown, number, words));
    showLines("scores", lines).forEach((line, number) => (line.ariaCurrent = `${view.seatsToAct.includes(number)}`));
    const hand = seat === undefined ? [] : view.seats[seat]?.cards ?? [];
    showLines("hand", inOrder(hand, view.cardOrder).map((card) => words.card(card)));
    showLines("piles", view.piles.map((pile) => pileText(pile, words)));
    showLines("known", this.knownTexts(words));
    this.showActions(words);
    this.showAwayButtons();
    log(update === undefined ? [] : updateTexts(update, words));
    this.showTurn(words);
  }

  /** Show whose turn it is and the time that is left, or that the connection is lost; called once a second too. */
  showTurn(words: Words): void {
    const { interruption, secondsLeft } = this.table;
    // Not a part of the status, which is read aloud whenever it changes.
    element("time").textContent = secondsLeft === undefined ? "" : `${Math.floor(secondsLeft)} s left`;
    const notice = this.now() < this.noticeEnds && this.notice;
    const text = texts(notice, interruption === undefined ? this.turnText(words) : LOST);
    if (text !== element("status").textContent) showStatus("playing", text);
  }

  /** Show a refusal for a few seconds: the events that made an action late come at the same time. */
  showRefusal(error: unknown): void {
    this.notice = isOvertaken(error) ? OVERTAKEN : String(error);
    this.noticeEnds = this.now() + NOTICE_MILLISECONDS;
    showStatus("playing", this.notice);
  }

  private seatText(shown: SeatView, seat: number, words: Words): string {
    const { view, awaySeats, leftSeats, offlineSeats } = this.table;
    const isOpen = seat !== this.table.seat && shown.cards.length > 0;
    return texts(
      `${words.seat(seat)}: ${shown.score}`,
      shown.cardCount > 0 && words.cards(isOpen ? shown.cards : [], shown.cardCount),
      shown.knownCards.length > 0 && `known: ${words.cards(shown.knownCards)}`,
      shown.tricksTaken > 0 && `tricks ${shown.tricksTaken}`,
      view.dealer === seat && "dealer",
      shown.isOut && "out",
      placeText(shown.place),
      awaySeats.includes(seat) && (leftSeats.includes(seat) ? "left" : "away"),
      offlineSeats.includes(seat) && "offline",
    );
  }

  /** Return the lines on teams, contract, calls and marks. */
  private knownTexts(words: Words): string[] {
    const { view, teams } = this.table;
    const against = teams.map(({ seats }) => words.seats(seats)).join(" against ");
    const calls = view.calls.map((call) => callText(call, words));
    const marks = view.marks.map((mark) => words.mark(mark));
    return [against, view.contract === undefined ? "" : words.contract(view.contract), ...calls, ...marks];
  }

  private turnText(words: Words): string {
    const { legal, view, isAway } = this.table;
    const away = isAway && "the engine plays for you";
    if (legal !== undefined) return texts(away, "your turn");
    return texts(away, "waiting", words.seats(view.seatsToAct) && `${words.seats(view.seatsToAct)} to act`);
  }

  /** Show the buttons to leave and to return where they change something. */
  private showAwayButtons(): void {
    const { seat, isAway, hasLeft, ranking } = this.table;
    const isPlaying = seat !== undefined && ranking.length === 0;
    const [leaving, returning] = [element("leave"), element("return")];
    const hasFocus = [leaving, returning].some((button) => button === document.activeElement);
    leaving.hidden = hasLeft || !isPlaying;
    returning.hidden = !isAway || !isPlaying;
    if (hasFocus) (leaving.hidden ? returning : leaving).focus();
  }

  /** Show buttons and forms, unless they are the same: then a person may be choosing. Keep the focus among them. */
  private showActions(words: Words): void {
    const { legal, view, expectedSequence } = this.table;
    const hasSameGame = view === this.shownView;
    const hasSameActions =
      this.shownLegal === legal || (this.shownLegal && legal && equals(LegalActionsSchema, this.shownLegal, legal));
    // Without an expected sequence several seats act at once, and the action of another changes nothing for this one.
    if (hasSameActions && (legal === undefined || hasSameGame || this.drawn.expectedSequence === undefined)) {
      if (hasSameGame) this.drawn.expectedSequence = expectedSequence;
      return;
    }
    const drawn = new DrawnActions(this.controls.act, expectedSequence, this.now);
    [this.drawn, this.shownLegal, this.shownView] = [drawn, legal, view];
    const take = (action: Action) => void drawn.take(action).catch((error) => this.showRefusal(error));
    const buttons = (legal?.actions ?? []).map((action) => this.button(action, words, take));
    const forms = (legal?.choices ?? []).map((choice) => choiceForm(choice, words, take));
    const actions = element("actions");
    const hasFocus = actions.contains(document.activeElement);
    actions.replaceChildren(...buttons, ...forms);
    if (hasFocus) (actions.querySelector("button, input") as HTMLElement | null ?? actions).focus();
  }

  private button(action: Action, words: Words, take: (action: Action) => void): HTMLButtonElement {
    const button = make("button", {}, actionText(action, words));
    button.addEventListener("click", () => take(action));
    return button;
  }
}

/** Return the cards of a hand as its player sees them: those of the order first, the others ascending. */
function inOrder(cards: readonly Card[], order: readonly Card[]): Card[] {
  const positionOf = (card: Card) => (order.includes(card) ? order.indexOf(card) : order.length);
  return [...cards].sort((one, other) => positionOf(one) - positionOf(other) || one - other);
}

function pileText({ name, owner, count, cards, faceDown }: Pile, words: Words): string {
  const known = cards.map(({ card, seat }) => words.card(card) + (seat === undefined ? "" : ` (${words.seat(seat)})`));
  const isWhole = known.length === count;
  return texts(
    `${words.owned(name, owner)}: ${isWhole ? known.join(", ") : words.cards([], count)}`,
    !isWhole && known.length > 0 && `among them ${known.join(", ")}`,
    faceDown && "face down",
  );
}

function log(texts: readonly string[]): void {
  const lines = element("log");
  for (const text of texts) if (text !== "") lines.prepend(make("li", {}, text));
  while (lines.children.length > MAX_LINES) lines.lastChild?.remove();
}
