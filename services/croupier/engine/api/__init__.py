"""The engine over gRPC: servicers, codecs, and the delivery of reports to scoring."""
