// Plays a whole game against a bot without a library: JSON over HTTP, then text frames of a WebSocket. It needs Node 22
// or newer and nothing else, and is meant to be read by those who write the same in another language.
//
//     croupier up
//     node play.mjs http://127.0.0.1:7700

const GAME = "thulla";
const CALL_MILLISECONDS = 10_000;
const GAME_MILLISECONDS = 10 * 60_000;
const CONTINUES = new Set([1001, 1006, 4004, 4008, 4014]);
const FURTHER_STREAMS = 5;
const PAUSE_MILLISECONDS = 1_000;

const address = process.argv[2] ?? "http://127.0.0.1:7700";

/** Make a call of the contract as JSON; throws the reason of a refusal. */
async function call(path, body, token = "") {
  const headers = { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) };
  const signal = AbortSignal.timeout(CALL_MILLISECONDS);
  const response = await fetch(`${address}/v1${path}`, { method: "POST", headers, body: JSON.stringify(body), signal });
  const answer = await response.json();
  if (!response.ok) throw new Error(`${path}: ${reasonOf(answer)}`);
  return answer;
}

/** Return the reason of a `google.rpc.Status`. */
function reasonOf({ message, details = [] }) {
  return details.find(({ reason }) => reason)?.reason ?? message;
}

/** Follow a table over one WebSocket, and act on each turn; returns the close code. */
function follow(token, tableId, state) {
  const socket = new WebSocket(`${address.replace(/^http/, "ws")}/v1/tables/${tableId}/play`);
  // The number of the last known entry resumes a stream: the server sends what came after it.
  const watch = state.sequence === undefined ? {} : { after_sequence: state.sequence };
  return new Promise((resolve) => {
    socket.onopen = () => socket.send(JSON.stringify({ access_token: token, watch }));
    socket.onmessage = ({ data }) => receive(socket, state, JSON.parse(data));
    socket.onclose = ({ code }) => resolve(code);
  });
}

/** Take over what a message says, and act if it is the player's turn. */
function receive(socket, state, { table_event: event, answer, error }) {
  if (error) console.error(reasonOf(error));
  // A turn that has passed is no fault: the next event has the actions of the next one.
  if (answer?.refusal) console.error(reasonOf(answer.refusal));
  const { snapshot, update, turn_state: turn } = event ?? {};
  const entry = snapshot ?? update;
  if (entry) state.sequence = entry.sequence;
  state.seats = snapshot?.table.seats ?? state.seats;
  state.ranking = rankingOf(snapshot, update) ?? state.ranking;
  const [action] = (entry ?? turn)?.legal_actions?.actions ?? [];
  // Sent again after a lost connection with the same request_id, an action would count once.
  if (action) socket.send(JSON.stringify({ action: { request_id: crypto.randomUUID(), action } }));
}

/** Return the places of a finished game, best first. */
function rankingOf(snapshot, update) {
  const ended = (update?.facts ?? []).find(({ game_ended: end }) => end)?.game_ended;
  const ranking = ended?.ranking ?? snapshot?.view?.ranking ?? [];
  return ranking.length ? ranking : undefined;
}

const late = setTimeout(() => {
  console.error("the game takes too long");
  process.exit(1);
}, GAME_MILLISECONDS);
const signIn = { device_secret: crypto.randomUUID(), name: "Ada" };
const { tokens } = await call("/sign-in", signIn);
const token = tokens.access_token;
const request = { game: GAME, seat_count: 2, bots: [""], is_ready: true, request_id: crypto.randomUUID() };
const { table } = await call("/tables", request, token);
const state = { seats: [], ranking: [] };
let code = await follow(token, table.table_id, state);
for (let again = 0; CONTINUES.has(code) && again < FURTHER_STREAMS; again += 1) {
  await new Promise((resolve) => setTimeout(resolve, PAUSE_MILLISECONDS));
  code = await follow(token, table.table_id, state);
}
clearTimeout(late);
for (const [place, { seats }] of state.ranking.entries()) {
  console.log(`place ${place + 1}: ${seats.map((seat) => state.seats[seat].name).join(", ")}`);
}
process.exitCode = code === 1000 && state.ranking.length > 0 ? 0 : 1;
