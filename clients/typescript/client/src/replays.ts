// Finished tables: to show them step by step, and to prove their deals. A page loads this only for them.
export { type Moment, type Replay, type ReplayOptions, openReplay, replayOf } from "./replay.js";
export { ReplayFault } from "./replay_file.js";
export { type DealProof, type Proof, verifyReplay } from "./verify.js";
