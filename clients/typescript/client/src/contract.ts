// The messages and services of the contract, with its generated code.
export * from "./generated/croupier_api/v1/actions_pb.js";
export * from "./generated/croupier_api/v1/cards_pb.js";
export * from "./generated/croupier_api/v1/engine_pb.js";
export * from "./generated/croupier_api/v1/errors_pb.js";
export * from "./generated/croupier_api/v1/facts_pb.js";
export * from "./generated/croupier_api/v1/games_pb.js";
export * from "./generated/croupier_api/v1/lobby_pb.js";
export * from "./generated/croupier_api/v1/scoring_pb.js";
export * from "./generated/croupier_api/v1/tables_pb.js";
export {
  type BadRequest,
  type BadRequest_FieldViolation,
  BadRequestSchema,
  type ErrorInfo,
  ErrorInfoSchema,
  type RetryInfo,
  RetryInfoSchema,
} from "./generated/google/rpc/error_details_pb.js";
export { type Status, StatusSchema } from "./generated/google/rpc/status_pb.js";
