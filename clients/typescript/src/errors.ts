// Refusals: the reasons that the contract lists, in the details of an error.
import { durationMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";

import { ErrorReason } from "./generated/croupier_api/v1/errors_pb";
import { ErrorInfoSchema, RetryInfoSchema } from "./generated/google/rpc/error_details_pb";

/** Return why a call was refused: UNSPECIFIED for a reason newer than this client, undefined if no service refused it. */
export function reasonOf(error: unknown): ErrorReason | undefined {
  const [info] = ConnectError.from(error).findDetails(ErrorInfoSchema);
  return info && (ErrorReason[info.reason as keyof typeof ErrorReason] ?? ErrorReason.UNSPECIFIED);
}

/** Return whether a limit passes: the service says when, or it is one of the connection, without a reason. */
export function isPassingLimit(error: ConnectError): boolean {
  const isTimed = error.findDetails(RetryInfoSchema).length > 0;
  return error.code === Code.ResourceExhausted && (isTimed || reasonOf(error) === undefined);
}

/** Return the milliseconds that a refusal asks to wait before a retry; 0 if it does not. */
export function retryDelay(error: unknown): number {
  const [retry] = ConnectError.from(error).findDetails(RetryInfoSchema);
  return retry?.retryDelay === undefined ? 0 : durationMs(retry.retryDelay);
}
