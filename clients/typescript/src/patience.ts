// What a player's program does when it has called too often: wait for as long as it is asked to, and call again.
import { durationMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";

import { ErrorInfoSchema, RetryInfoSchema } from "./generated/google/rpc/error_details_pb";

const TOO_MANY_CALLS = "TOO_MANY_CALLS";
const MOST_ATTEMPTS = 5;

/** How long a limit asks to wait, in milliseconds; 0 where it does not say, or something else went wrong. */
export function askedToWait(error: unknown): number {
  const fault = ConnectError.from(error);
  if (fault.code !== Code.ResourceExhausted) return 0;
  const [retry] = fault.findDetails(RetryInfoSchema);
  return retry?.retryDelay === undefined ? 0 : durationMs(retry.retryDelay);
}

/** Calls that came too soon are made again: nothing was done, whatever they are. Streams see to it themselves. */
export const patient: Interceptor = (next) => async (request) => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await next(request);
    } catch (error) {
      if (request.stream || attempt === MOST_ATTEMPTS || !cameTooSoon(error)) throw error;
      await pause(askedToWait(error) * (1 + Math.random()));
    }
  }
};

function cameTooSoon(error: unknown): boolean {
  return ConnectError.from(error).findDetails(ErrorInfoSchema).some(({ reason }) => reason === TOO_MANY_CALLS);
}

/** Let time pass. */
export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
