// The surroundings of a table in a browser, and when its stream is closed or opened again because of them.
import type { Pacing } from "./retry.js";

/** A hidden page keeps its stream for so long: a person who looks elsewhere for a moment misses nothing. */
const HIDDEN_MILLISECONDS = 30_000;

/** What a table is to know of the page and the device that show it. */
export interface Surroundings {
  /** Whether the page can be seen. */
  readonly isVisible: boolean;
  /** Whether the device says that it has a network. */
  readonly isOnline: boolean;
  /** The kind of the network, such as "wifi", as far as the device tells; another one has lost the connections of before. */
  readonly network: string;
  /** Call a function after each change of these, until the returned function is called. */
  subscribe(changed: () => void): () => void;
}

/** Surroundings that never change, as those of a program. */
export const NO_SURROUNDINGS: Surroundings = { isVisible: true, isOnline: true, network: "", subscribe: () => () => {} };

/** Return the surroundings of this page; outside of a browser those of a program, which never change. */
export function ownSurroundings(): Surroundings {
  return typeof document === "undefined" ? NO_SURROUNDINGS : browserSurroundings();
}

function browserSurroundings(): Surroundings {
  // A page in the browser's cache of pages may count as visible: it is left by pagehide, and shown again by pageshow.
  let isLeft = false;
  const { connection } = navigator as { readonly connection?: EventTarget & { readonly type?: string } };
  return {
    get isVisible() {
      return !isLeft && document.visibilityState !== "hidden";
    },
    get isOnline() {
      return navigator.onLine;
    },
    get network() {
      return connection?.type ?? "";
    },
    subscribe(changed) {
      const over = new AbortController();
      const listen = (target: EventTarget | undefined, types: readonly string[], listener: (event: Event) => void) => {
        for (const type of types) target?.addEventListener(type, listener, { signal: over.signal });
      };
      const leave = (isLeaving: boolean) => {
        isLeft = isLeaving;
        changed();
      };
      listen(window, ["pagehide"], () => leave(true));
      listen(window, ["pageshow"], (event) => {
        // A page that comes out of the cache was left, also if it was not told.
        if ((event as PageTransitionEvent).persisted) leave(true);
        leave(false);
      });
      listen(document, ["visibilitychange"], changed);
      listen(window, ["online", "offline"], changed);
      listen(connection, ["change"], changed);
      return () => over.abort();
    },
  };
}

/** What a table does when its surroundings change. */
export interface PaceListener {
  /** The page was hidden. */
  hidden(): void;
  /** The page is shown again. */
  shown(): void;
  /** The device says that it has no network. */
  disconnected(): void;
}

/** The surroundings at a moment. */
type Sight = Pick<Surroundings, "isVisible" | "isOnline" | "network">;

/**
 * Paces the streams of a table by its surroundings: an open one ends, and the next one is opened at once, when the page is
 * shown again, the device has a network again, or another one; while the page is hidden for long there is none.
 */
export class Pace implements Pacing {
  /** Ends the stream or the pause of now. */
  private stop: () => void = () => {};
  private isHurried = false;
  private isLongHidden = false;
  private hiding: ReturnType<typeof setTimeout> | undefined;
  private before: Sight;
  private readonly unsubscribe: () => void;

  constructor(
    private readonly surroundings: Surroundings,
    private readonly listener: Partial<PaceListener> = {},
  ) {
    this.before = this.now();
    if (!this.before.isVisible) this.hide();
    this.unsubscribe = surroundings.subscribe(() => this.changed());
  }

  /** Whether the page is hidden for so long that no stream is to be open. */
  get isAway(): boolean {
    return this.isLongHidden;
  }

  /** Whether the last stream ended for the surroundings, not by a fault. */
  get isInterrupted(): boolean {
    return this.isHurried;
  }

  /** Wait before a stream: as long as the page is hidden for long, then so many milliseconds unless it is urgent. */
  async pause(milliseconds: number): Promise<void> {
    while (this.isLongHidden) await this.interruption();
    if (milliseconds > 0 && !this.isHurried) await this.interruption(milliseconds);
    this.isHurried = false;
  }

  begun(stop: () => void): void {
    this.stop = stop;
  }

  /** Listen no more, and end the stream or the pause of now. */
  end(): void {
    this.unsubscribe();
    clearTimeout(this.hiding);
    this.isLongHidden = false;
    this.interrupt();
  }

  private interrupt(): void {
    this.isHurried = true;
    this.stop();
  }

  /** Wait until the pause is ended, at most so many milliseconds. */
  private interruption(milliseconds?: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = milliseconds === undefined ? undefined : setTimeout(resolve, milliseconds);
      this.stop = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  private now(): Sight {
    const { isVisible, isOnline, network } = this.surroundings;
    return { isVisible, isOnline, network };
  }

  private changed(): void {
    const [before, now] = [this.before, this.now()];
    this.before = now;
    const isShown = now.isVisible && !before.isVisible;
    if (!now.isVisible && before.isVisible) this.hide();
    if (isShown) this.show();
    if (isShown || (now.isOnline && !before.isOnline) || now.network !== before.network) this.interrupt();
    if (!now.isOnline && before.isOnline) this.listener.disconnected?.();
  }

  private hide(): void {
    this.listener.hidden?.();
    this.hiding = setTimeout(() => {
      this.isLongHidden = true;
      this.interrupt();
    }, HIDDEN_MILLISECONDS);
  }

  private show(): void {
    clearTimeout(this.hiding);
    this.isLongHidden = false;
    this.listener.shown?.();
  }
}
