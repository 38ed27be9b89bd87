"""A proposal and its votes by real calls, from the first word to the hand that begins again."""

from croupier_api.v1 import engine_pb2 as pb
from tests.contract.house import House, person

PLAYERS = ("anna", "ben", "cleo", "dan")


async def test_all_agree_and_the_hand_begins_again(house: House) -> None:
    table = await house.new_table(*map(person, PLAYERS), game="solo")
    before = await house.view(table, "anna")
    proposal = pb.ProposeRequest(table_id=table, request_id="p", proposal="restart_same")
    for _ in range(2):
        assert (await house.players.Propose(proposal, metadata=house.engine.player("cleo"))).sequence == 2
    snapshot = await house.view(table, "eve")
    assert (snapshot.proposal.sequence, snapshot.proposal.name, snapshot.proposal.proposer) == (2, "restart_same", 2)
    vote = pb.VoteRequest(table_id=table, request_id="v", proposal_sequence=2, agree=True)
    for sequence, player in enumerate(("anna", "ben", "dan"), start=3):
        assert (await house.players.Vote(vote, metadata=house.engine.player(player))).sequence == sequence
    after = await house.view(table, "anna")
    assert (after.sequence, after.view, after.HasField("proposal")) == (6, before.view, False)
