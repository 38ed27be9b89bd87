"""The lobby's gRPC: servicer, codec, and the channel to the engine."""
