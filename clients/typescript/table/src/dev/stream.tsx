// The messages of one page, newest first.
import type { Entry } from "./recording.js";

interface StreamProps {
  readonly pages: readonly number[];
  readonly shown: number;
  readonly show: (page: number) => void;
  readonly entries: readonly Entry[];
}

export function Stream({ pages, shown, show, entries }: StreamProps) {
  return (
    <>
      <div class="dev-row" role="group" aria-label="The stream of seat">
        {pages.map((page) => <button key={page} type="button" aria-pressed={page === shown} onClick={() => show(page)}>{page}</button>)}
      </div>
      <ol class="dev-stream">
        {entries.map(({ number, time, title, text }) => (
          <li key={number}>
            <details>
              <summary><time>{time.toLocaleTimeString("en-GB")}</time> {title}</summary>
              <pre>{text}</pre>
            </details>
          </li>
        ))}
      </ol>
    </>
  );
}
