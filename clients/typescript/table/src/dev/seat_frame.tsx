// The page of one seat, with the switches of its line.
import { useLayoutEffect, useRef } from "preact/hooks";

import { hashOf } from "../route.js";
import type { Lines } from "./lines.js";

/** The width of the phone that a frame shows, in a column that may be narrower. */
const PAGE_PIXELS = 360;
const DELAYS = [[0, "no delay"], [300, "300 ms"], [2_000, "2 s"]] as const;

interface SeatFrameProps {
  readonly page: number;
  readonly tableId: string;
  readonly lines: Lines;
}

export function SeatFrame({ page, tableId, lines }: SeatFrameProps) {
  const frame = useRef<HTMLIFrameElement>(null);
  const { isCut, delayMilliseconds } = lines.of(page);
  useScale(frame);
  return (
    <section class="dev-seat" aria-label={`Seat ${page}`} data-cut={isCut}>
      <header>
        <b>{page}</b>
        <button type="button" aria-pressed={isCut} onClick={() => lines.set(page, { isCut: !isCut })}>{isCut ? "Heal" : "Cut"}</button>
        <select aria-label="Delay in each direction" value={delayMilliseconds} onChange={({ currentTarget }) => lines.set(page, { delayMilliseconds: Number(currentTarget.value) })}>
          {DELAYS.map(([milliseconds, text]) => <option key={milliseconds} value={milliseconds}>{text}</option>)}
        </select>
        <button type="button" onClick={() => frame.current?.contentWindow?.location.reload()}>Kill</button>
      </header>
      <div class="dev-page"><iframe ref={frame} title={`The page of seat ${page}`} src={`./?seat=${page}${hashOf({ screen: "table", id: tableId, link: "" })}`} /></div>
    </section>
  );
}

/** Draw a frame as small as its column. */
function useScale(frame: { readonly current: HTMLIFrameElement | null }): void {
  useLayoutEffect(() => {
    const column = frame.current?.parentElement;
    if (!column) return undefined;
    const observer = new ResizeObserver(() => frame.current?.style.setProperty("--scale", `${Math.min(1, column.clientWidth / PAGE_PIXELS)}`));
    observer.observe(column);
    return () => observer.disconnect();
  }, []);
}
