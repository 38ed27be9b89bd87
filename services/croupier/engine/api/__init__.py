"""The engine over gRPC and WebSocket: servicers, codecs, and the delivery of reports to scoring."""
