"""`croupier health`: the health of one service, for containers without a prober of gRPC."""

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from croupier.cli.faults import CommandFault, misused
from croupier.runtime.server.addresses import check_address
from croupier.runtime.server.channels import NO_PROXY

ANSWER_SECONDS = 5.0


def check_health(address: str, service: str) -> None:
    """Return if the service at host:port serves; raises CommandFault if it does not, or does not answer in time."""
    try:
        check_address(address)
    except ValueError:
        raise misused(f"invalid address {address!r}: expected HOST:PORT, IPv6 as [HOST]:PORT") from None
    with grpc.insecure_channel(address, options=(NO_PROXY,)) as channel:
        ask = health_pb2_grpc.HealthStub(channel).Check
        try:
            answer = ask(health_pb2.HealthCheckRequest(service=service), timeout=ANSWER_SECONDS)
        except grpc.RpcError as fault:
            raise CommandFault(f"{address} does not report its health: {fault.code().name}") from None
    status = health_pb2.HealthCheckResponse.ServingStatus.Name(answer.status)
    if status != "SERVING":
        raise CommandFault(f"{address} reports {status}")
