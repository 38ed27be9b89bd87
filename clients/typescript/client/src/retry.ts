// Retries of calls and streams after lost connections and limits, with delays.
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";

import { ErrorReason } from "./generated/croupier_api/v1/errors_pb.js";
import { faultOf, isPassing, reasonOf, retryDelay } from "./errors.js";

const MAX_ATTEMPTS = 5;
const FIRST_DELAY_MILLISECONDS = 100;
const MAX_DELAY_MILLISECONDS = 3_000;
const REPEAT_MILLISECONDS = 300;
/** Each stream has a message every 15 seconds: a connection without one for this long has failed silently. */
const SILENCE_MILLISECONDS = 40_000;
const NO_ANSWER = new Set([Code.Unavailable, Code.DeadlineExceeded]);

/** Reasons of refusals before the execution. */
const NOT_EXECUTED = new Set<ErrorReason | undefined>([ErrorReason.SERVER_STOPPING, ErrorReason.TOO_MANY_REQUESTS]);

/** Retry unary calls that were not executed. Streams are retried by `reopen`. */
export const retryNotExecuted: Interceptor = (next) => async (request) => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await next(request);
    } catch (error) {
      if (request.stream || attempt === MAX_ATTEMPTS || !NOT_EXECUTED.has(reasonOf(error))) throw error;
      await delay(retryDelay(error) * (1 + Math.random()));
    }
  }
};

/** Return whether there was no answer: the service is unavailable, or the connection broke. */
export function isUnanswered(error: unknown): boolean {
  return NO_ANSWER.has(faultOf(error).code);
}

/** How a stream is followed. */
export interface Following {
  /** Ends the stream, and the attempts to open it again; AbortSignal.timeout(...) limits them. */
  readonly signal?: AbortSignal | undefined;
  /** Called with the error of a stream that is opened again, and without one when messages arrive again. */
  readonly interrupted?: (error?: ConnectError) => void;
  /** A stream without a message for so many milliseconds is opened again; 40,000 by default. */
  readonly silenceMilliseconds?: number | undefined;
  /** When streams are opened, and end; by default as the delays say. */
  readonly pacing?: Pacing | undefined;
}

/** Says when streams are opened, and may end the one that is open. */
export interface Pacing {
  /** Wait before a stream is opened, 0 ms before the first one and after one with messages. */
  pause(milliseconds: number, signal?: AbortSignal): Promise<void>;
  /** Note that a stream is opened, which a function ends; then the next one follows. */
  begun(stop: () => void): void;
}

const NO_PACING: Pacing = { pause: delay, begun: () => {} };

/**
 * Yield the messages of a stream until `isOver`; `open` returns a stream that ends with its signal. A stream that ended or
 * was lost is opened again, until the caller stops: an outage may be of any length. So is one that was refused for a time
 * that the service names. Throws a final refusal, and the reason of `signal`.
 */
export async function* reopen<T>(
  open: (signal: AbortSignal) => AsyncIterable<T>,
  isOver: () => boolean,
  { signal, interrupted, silenceMilliseconds = SILENCE_MILLISECONDS, pacing = NO_PACING }: Following = {},
): AsyncGenerator<T> {
  let isLost = false;
  for (let failures = 0, retryAfter = 0; !isOver(); failures++) {
    await pacing.pause(failures > 0 ? retryAfter + (maxDelay(failures) * (1 + Math.random())) / 2 : 0, signal);
    signal?.throwIfAborted();
    retryAfter = 0;
    try {
      for await (const message of whileRead(open, pacing, silenceMilliseconds, signal)) {
        if (isLost) interrupted?.();
        isLost = false;
        failures = -1;
        yield message;
      }
    } catch (error) {
      signal?.throwIfAborted();
      const fault = faultOf(error);
      const isRetried = isUnanswered(fault) || isPassing(fault) || NOT_EXECUTED.has(reasonOf(fault));
      // A stream with a message was not refused: it broke, and its error may come from a cut message.
      const isRefused = failures >= 0 && !isRetried;
      // A newer stream of the same player replaces this one: to open it again would end the newer one.
      const isReplaced = reasonOf(fault) === ErrorReason.SUPERSEDED;
      if (isRefused || isReplaced) throw fault;
      isLost = true;
      interrupted?.(fault);
      retryAfter = retryDelay(fault);
    }
  }
}

/**
 * Yield the messages of a stream. It ends with the iteration, since a stream that nobody reads would hold its connection,
 * and when it has been silent for too long.
 */
async function* whileRead<T>(
  open: (signal: AbortSignal) => AsyncIterable<T>,
  pacing: Pacing,
  silenceMilliseconds: number,
  signal?: AbortSignal,
): AsyncIterable<T> {
  const reading = new AbortController();
  const stop = () => reading.abort();
  const restart = () => setTimeout(stop, silenceMilliseconds);
  signal?.addEventListener("abort", stop);
  pacing.begun(stop);
  let timer = restart();
  try {
    for await (const message of open(reading.signal)) {
      clearTimeout(timer);
      timer = restart();
      yield message;
    }
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
    stop();
  }
}

function maxDelay(failures: number): number {
  return Math.min(MAX_DELAY_MILLISECONDS, FIRST_DELAY_MILLISECONDS * 2 ** Math.min(failures, 30));
}

/**
 * Repeat a call until it has an answer, and return it; the request has an id, so that it counts once. Throws a refusal,
 * and the reason of `signal` once it is aborted.
 */
export async function repeat<T>(call: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!isUnanswered(error)) throw error;
      await delay(Math.max(REPEAT_MILLISECONDS, retryDelay(error)), signal);
    }
  }
}

/** Wait, 0 ms without a timer; throws the reason of a signal as soon as it is aborted. */
export function delay(milliseconds: number, signal?: AbortSignal): Promise<void> {
  if (milliseconds === 0) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
}
