"""A proposal and its votes over a connection, until the hand is dealt again."""

from croupier_api.v1 import engine_pb2 as pb
from tests.contract.deployment import EngineClient, person

PLAYERS = ("anna", "ben", "cleo", "dan")


async def test_a_hand_begins_again_when_all_agree(client: EngineClient) -> None:
    table = await client.new_table(*map(person, PLAYERS), game="solo")
    before = await client.view(table, "anna")
    proposal = pb.CreateProposalRequest(table_id=table, request_id="p", proposal="restart_same")
    for _ in range(2):
        assert (await client.players.CreateProposal(proposal, metadata=client.engine.player("cleo"))).sequence == 2
    snapshot = await client.view(table, "eve")
    assert (snapshot.proposal.sequence, snapshot.proposal.name, snapshot.proposal.proposer) == (2, "restart_same", 2)
    vote = pb.CastVoteRequest(table_id=table, request_id="v", proposal_sequence=2, vote=pb.VOTE_AGREE)
    for sequence, player in enumerate(("anna", "ben", "dan"), start=3):
        assert (await client.players.CastVote(vote, metadata=client.engine.player(player))).sequence == sequence
    after = await client.view(table, "anna")
    assert (after.sequence, after.view, after.HasField("proposal")) == (6, before.view, False)
