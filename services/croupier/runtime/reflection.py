"""Server reflection, for tools that learn the contract from a server."""

from collections.abc import Sequence

import grpc
from grpc_reflection.v1alpha import reflection, reflection_pb2

V1_SERVICE_NAME = "grpc.reflection.v1.ServerReflection"
"""Its messages are those of v1alpha, which is all that the library knows."""


def add_reflection(service_names: Sequence[str], server: grpc.aio.Server) -> None:
    """Let a server describe these services, under the names that tools try first and second.

    Only v1alpha is listed, since the library cannot describe the other one.
    """
    servicer = reflection.aio.ReflectionServicer([*service_names, reflection.SERVICE_NAME])
    handler = grpc.stream_stream_rpc_method_handler(
        servicer.ServerReflectionInfo,
        reflection_pb2.ServerReflectionRequest.FromString,
        reflection_pb2.ServerReflectionResponse.SerializeToString,
    )
    for name in (V1_SERVICE_NAME, reflection.SERVICE_NAME):
        handlers = {"ServerReflectionInfo": handler}
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(name, handlers),))
