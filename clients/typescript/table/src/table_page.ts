// The part of the page that shows a table: all that its player may know, for any game.
import { equals } from "@bufbuild/protobuf";

import {
  type Action,
  type Card,
  type LegalActions,
  LegalActionsSchema,
  type RoundScore,
  type TableUpdate,
  type TableView,
  WordKind,
} from "@croupier/client/contract";
import { choiceForm } from "./choice_form.js";
import { element, make, showExpandable, showLines, showStatus } from "./dom.js";
import {
  type Act,
  DrawnActions,
  type Table,
  type Words,
  actionText,
  isOvertaken,
  knownTexts,
  ruleOf,
  seatParts,
  shownPiles,
  shownRound,
  texts,
  updateTexts,
} from "@croupier/client";

const MAX_LINES = 40;
const NOTICE_MILLISECONDS = 5_000;

/** What a person at the table can do. */
export interface Controls {
  /** Carry an action out. */
  readonly act: Act;
  /** Leave the seat to the engine. */
  leave(): void;
  /** Return to the seat. */
  return(): void;
  /** Show the rules page at a rule. */
  showRule(rule: string): void;
}

/** Shows a table, and carries out what the person chooses. */
export class TablePage {
  private shownLegal: LegalActions | undefined;
  private shownView: TableView | undefined;
  private drawn: DrawnActions;
  private words: Words | undefined;
  private readonly rounds = new Map<number, RoundScore>();
  private readonly openedPiles = new Set<string>();
  private readonly openedRounds = new Set<string>();
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
    element("rounds").replaceChildren();
    element("rule").hidden = true;
    element("at-table").hidden = false;
  }

  /** Show the table as it is now, with the update that led to it, if it was one. */
  show(words: Words, update: TableUpdate | undefined): void {
    const { view, seat, teams } = this.table;
    this.words = words;
    element("at-table").lang = words.language;
    element("round").textContent = texts(words.round(view.round), words.word(WordKind.PHASE, view.phase));
    const lines = view.seats.map((_, number) => this.seatText(number, words));
    showLines("scores", lines).forEach((line, number) => (line.ariaCurrent = `${view.seatsToAct.includes(number)}`));
    const hand = seat === undefined ? [] : view.seats[seat]?.cards ?? [];
    showLines("hand", inOrder(hand, view.cardOrder).map((card) => words.card(card)));
    showExpandable("piles", shownPiles(view.piles, words), this.openedPiles);
    showLines("known", knownTexts(view, teams, words));
    this.showActions(words);
    this.showAwayButtons();
    log(update === undefined ? [] : updateTexts(update, words));
    this.addRounds(update?.facts.flatMap(({ fact }) => (fact.case === "roundEnded" ? (fact.value.score ?? []) : [])) ?? []);
    this.showTurn(words);
  }

  /** Show whose turn it is and the time that is left, or that the connection is lost; called once a second too. */
  showTurn(words: Words): void {
    const { interruption, secondsLeft } = this.table;
    // Not a part of the status, which is read aloud whenever it changes.
    element("time").textContent = secondsLeft === undefined ? "" : words.say("timeLeft", { seconds: Math.floor(secondsLeft) });
    const notice = this.now() < this.noticeEnds && this.notice;
    const text = texts(notice, interruption === undefined ? this.turnText(words) : words.say("connectionLost"));
    if (text !== element("status").textContent) showStatus("playing", text);
  }

  /** Add the scores of rounds to the list of rounds, and show it. */
  addRounds(scores: readonly RoundScore[]): void {
    if (scores.length === 0 || this.words === undefined) return;
    for (const score of scores) this.rounds.set(score.round, score);
    const inOrder = [...this.rounds.values()].sort((one, other) => one.round - other.round);
    const { words } = this;
    showExpandable("rounds", inOrder.map((score) => shownRound(score, words)), this.openedRounds);
  }

  /** Show a reaction of a player among the events. */
  showReaction(seat: number, emoji: string): void {
    if (this.words !== undefined) log([`${this.words.seat(seat)}: ${emoji}`]);
  }

  /**
   * Show a refusal for a few seconds: the events that made an action late come at the same time. One by a rule has a link
   * to the rule, which stays until the next action.
   */
  showRefusal(error: unknown): void {
    const [rule, link] = [ruleOf(error), element("rule")];
    link.hidden = rule === undefined;
    if (rule !== undefined) {
      link.textContent = this.words?.say("rule", { rule }) ?? rule;
      link.onclick = () => this.controls.showRule(rule);
    }
    this.notice = this.refusalText(error, rule);
    this.noticeEnds = this.now() + NOTICE_MILLISECONDS;
    showStatus("playing", this.notice);
  }

  private refusalText(error: unknown, rule: string | undefined): string {
    const ruleText = rule === undefined ? undefined : this.words?.rule(rule);
    if (ruleText !== undefined) return ruleText;
    return (isOvertaken(error) && this.words?.say("overtaken")) || String(error);
  }

  private seatText(seat: number, words: Words): string {
    const { view, awaySeats, leftSeats, offlineSeats } = this.table;
    return texts(
      ...seatParts(view, seat, seat === this.table.seat, words),
      awaySeats.includes(seat) && words.say(leftSeats.includes(seat) ? "hasLeft" : "isAway"),
      offlineSeats.includes(seat) && words.say("isOffline"),
    );
  }

  private turnText(words: Words): string {
    const { legal, view, isAway } = this.table;
    const away = isAway && words.say("enginePlays");
    if (legal !== undefined) return texts(away, words.say("yourTurn"));
    const toAct = view.seatsToAct.length > 0 && words.say("toAct", { seats: words.seats(view.seatsToAct) });
    return texts(away, words.say("waiting"), toAct);
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
    const take = (action: Action) => {
      element("rule").hidden = true;
      void drawn.take(action).catch((error) => this.showRefusal(error));
    };
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

function log(texts: readonly string[]): void {
  const lines = element("log");
  for (const text of texts) if (text !== "") lines.prepend(make("li", {}, text));
  while (lines.children.length > MAX_LINES) lines.lastChild?.remove();
}
