/** A line of text, and more lines that are shown on demand. */
export interface Expandable {
  /** Names it among others of its list. */
  readonly key: string;
  readonly text: string;
  readonly more: readonly string[];
}
