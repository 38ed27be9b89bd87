"""Players by the hundred in one process, with asyncio and grpc.aio; a child of a Locust worker."""
