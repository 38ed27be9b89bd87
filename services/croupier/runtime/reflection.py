"""Server reflection, by which tools read the contract from a server."""

from collections.abc import Sequence

import grpc
from grpc_reflection.v1alpha import reflection, reflection_pb2

V1_SERVICE_NAME = "grpc.reflection.v1.ServerReflection"
"""Its messages are those of v1alpha, the only version of the library."""


def add_reflection(service_names: Sequence[str], server: grpc.aio.Server) -> None:
    """Serve reflection by v1 and v1alpha. Only v1alpha is listed: the library cannot describe v1."""
    servicer = reflection.aio.ReflectionServicer([*service_names, reflection.SERVICE_NAME])
    handler = grpc.stream_stream_rpc_method_handler(
        servicer.ServerReflectionInfo,
        reflection_pb2.ServerReflectionRequest.FromString,
        reflection_pb2.ServerReflectionResponse.SerializeToString,
    )
    for name in (V1_SERVICE_NAME, reflection.SERVICE_NAME):
        handlers = {"ServerReflectionInfo": handler}
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(name, handlers),))
