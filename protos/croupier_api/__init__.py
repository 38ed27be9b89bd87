"""The contract of croupier: generated code beside the .proto files."""
