"""The gateway: Envoy, configured to serve gRPC, gRPC-Web and JSON over HTTP at one address."""
