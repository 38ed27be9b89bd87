/** A line of text, and more lines that are shown on demand. */
export interface Expandable {
  /** Names it among others of its list. */
  readonly key: string;
  /** The line. */
  readonly text: string;
  /** The further lines; empty if there are none. */
  readonly more: readonly string[];
}
