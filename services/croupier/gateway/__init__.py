"""The gateway: one address for gRPC, gRPC-Web and JSON over HTTP, which Envoy serves as it is configured here."""
