"""Certificates and mutual TLS between services."""
