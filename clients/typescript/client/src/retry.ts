// Retries of calls and streams after lost connections and limits, with delays.
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";

import { ErrorReason } from "./generated/croupier_api/v1/errors_pb.js";
import { faultOf, isPassingLimit, reasonOf, retryDelay } from "./errors.js";

const MAX_ATTEMPTS = 5;
const FIRST_DELAY_MILLISECONDS = 100;
const MAX_DELAY_MILLISECONDS = 3_000;
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
}

/**
 * Yield the messages of a stream until `isOver`; `open` returns a stream that ends with its signal. A stream that ended or was lost is opened again, until the caller stops:
 * an outage may be of any length. Throws a final refusal, and the reason of `signal`.
 */
export async function* reopen<T>(
  open: (signal: AbortSignal) => AsyncIterable<T>,
  isOver: () => boolean,
  { signal, interrupted }: Following = {},
): AsyncGenerator<T> {
  let isLost = false;
  for (let failures = 0, retryAfter = 0; !isOver(); failures++) {
    if (failures > 0) await delay(retryAfter + maxDelay(failures) * (1 + Math.random()) / 2, signal);
    signal?.throwIfAborted();
    retryAfter = 0;
    try {
      for await (const message of whileRead(open, signal)) {
        if (isLost) interrupted?.();
        isLost = false;
        failures = -1;
        yield message;
      }
    } catch (error) {
      signal?.throwIfAborted();
      const fault = faultOf(error);
      const isRetried = isUnanswered(fault) || isPassingLimit(fault) || NOT_EXECUTED.has(reasonOf(fault));
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

/** Yield the messages of a stream. It ends with the iteration: a stream that nobody reads would hold its connection. */
async function* whileRead<T>(open: (signal: AbortSignal) => AsyncIterable<T>, signal?: AbortSignal): AsyncIterable<T> {
  const reading = new AbortController();
  const stop = () => reading.abort();
  signal?.addEventListener("abort", stop);
  try {
    for await (const message of open(reading.signal)) yield message;
  } finally {
    signal?.removeEventListener("abort", stop);
    reading.abort();
  }
}

function maxDelay(failures: number): number {
  return Math.min(MAX_DELAY_MILLISECONDS, FIRST_DELAY_MILLISECONDS * 2 ** Math.min(failures, 30));
}

/** Wait; throws the reason of a signal as soon as it is aborted. */
export function delay(milliseconds: number, signal?: AbortSignal): Promise<void> {
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
