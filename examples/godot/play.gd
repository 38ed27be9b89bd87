# Plays a whole game against a bot: JSON over HTTP, then text frames of a WebSocket. For Godot 3.
#
#     croupier up
#     godot3-server -s play.gd --address=http://127.0.0.1:7700
extends SceneTree

signal never

const GAME = "thulla"
const CALL_SECONDS = 10
const GAME_SECONDS = 600.0

var address = "http://127.0.0.1:7700"
var token = ""
var socket = WebSocketClient.new()
var sequence = ""
var seats = []
var ranking = []
var actions = 0
var passed = 0.0


func _init():
	for argument in OS.get_cmdline_args():
		if argument.begins_with("--address="):
			address = argument.trim_prefix("--address=")
	randomize()
	play()


func play():
	# A real app makes the secret once, by Crypto.new().generate_random_bytes(16), and keeps it: it is the player.
	yield(self, "idle_frame")
	var secret = Crypto.new().generate_random_bytes(16).hex_encode()
	var signed_in = yield(ask("/sign-in", {"device_secret": secret, "name": "Ada"}), "completed")
	token = signed_in.tokens.access_token
	var request = {"game": GAME, "seat_count": 2, "bots": [""], "is_ready": true, "request_id": "1"}
	var created = yield(ask("/tables", request), "completed")
	socket.connect("connection_established", self, "_opened")
	socket.connect("data_received", self, "_received")
	socket.connect("connection_closed", self, "_closed")
	socket.connect("connection_error", self, "_failed", ["no WebSocket"])
	socket.connect_to_url(address.replace("http", "ws") + "/v1/tables/%s/play" % created.table.table_id)


# Make a call of the contract as JSON, and return its answer; a refusal ends the program.
func ask(path, body):
	var http = HTTPRequest.new()
	http.timeout = CALL_SECONDS
	root.add_child(http)
	var headers = ["content-type: application/json"]
	if token:
		headers.append("authorization: Bearer " + token)
	http.request(address + "/v1" + path, headers, true, HTTPClient.METHOD_POST, to_json(body))
	var done = yield(http, "request_completed")
	http.queue_free()
	var text = done[3].get_string_from_utf8()
	if done[0] != HTTPRequest.RESULT_SUCCESS or done[1] != 200:
		_failed("%s: %s %s" % [path, done[1], text])
		return yield(self, "never")
	return parse_json(text)


func _idle(delta):
	passed += delta
	if passed > GAME_SECONDS:
		_failed("the game takes too long")
	socket.poll()


func _opened(_protocol):
	socket.get_peer(1).set_write_mode(WebSocketPeer.WRITE_MODE_TEXT)
	send({"access_token": token, "watch": {}})


func send(message):
	socket.get_peer(1).put_packet(to_json(message).to_utf8())


func _received():
	var message = parse_json(socket.get_peer(1).get_packet().get_string_from_utf8())
	if "error" in message:
		printerr(message.error.message)
	if "answer" in message and "refusal" in message.answer:
		printerr(message.answer.refusal.message)
	var event = message.get("table_event", {})
	var shown = event.get("snapshot", event.get("update", event.get("turn_state", {})))
	if "snapshot" in event:
		seats = shown.table.seats
	for fact in shown.get("facts", []):
		if "game_ended" in fact:
			ranking = fact.game_ended.ranking
	var legal = shown.get("legal_actions", {"actions": []}).actions
	if legal:
		actions += 1
		send({"action": {"request_id": "action %d" % actions, "action": legal[0]}})


# An app opens the table again after 1001, 1006 and 4014 with the `after_sequence` of the last entry.
func _closed(_was_clean):
	for place in ranking.size():
		for seat in ranking[place].seats:
			print("place %d: %s" % [place + 1, seats[seat].name])
	quit(0 if ranking else 1)


func _failed(fault):
	printerr(fault)
	quit(1)
