// The bar of actions between table and hand: a button for each action that no card of the hand stands for.

/** A button of the bar. */
export interface ActionButton {
  readonly key: string;
  readonly text: string;
  /** The one that a person most likely wants, such as the confirmation of a choice. */
  readonly isMain?: boolean;
  readonly isDisabled?: boolean;
  readonly isPressed?: boolean;
  readonly act: () => void;
}

/** More buttons than this are smaller, so that all of them are in sight on a phone. */
const MANY = 6;

interface ActionBarProps {
  /** Says what to do, or whose turn it is. */
  readonly hint: string;
  readonly isTurn: boolean;
  readonly seconds: string;
  readonly buttons: readonly ActionButton[];
}

export function ActionBar({ hint, isTurn, seconds, buttons }: ActionBarProps) {
  return (
    <div class="actions" data-turn={isTurn}>
      <p class="hint">
        <span>{hint}</span>
        {seconds !== "" && <span class="seconds" role="timer">{seconds}</span>}
      </p>
      {buttons.length > 0 && (
        <div class="buttons" data-many={buttons.length > MANY}>
          {buttons.map(({ key, text, isMain = false, isDisabled = false, isPressed, act }) => (
            <button key={key} type="button" class={isMain ? "main" : ""} disabled={isDisabled} aria-pressed={isPressed} onClick={act}>{text}</button>
          ))}
        </div>
      )}
    </div>
  );
}
