"""ID tokens of a fake identity provider, whose keys a test changes."""

import json
from collections.abc import Mapping
from typing import Any

import jwt
import structlog
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePrivateKey
from cryptography.hazmat.primitives.asymmetric.ec import generate_private_key as new_ec_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

from croupier.lobby.accounts.provider_keys import Keys, ProviderKeys, signing_keys
from croupier.runtime.observation.outage_log import OutageLog
from tests.lobby.fakes import START

ISSUER = "https://login.example"
AUDIENCES = ("web", "phone")
SETTINGS: Mapping[str, Any] = {"oidc_issuer": ISSUER, "oidc_audience": ", ".join(AUDIENCES), "oidc_jwks": "unused.json"}
PrivateKey = Ed25519PrivateKey | EllipticCurvePrivateKey | RSAPrivateKey


class FakeProvider:
    """A provider that signs by `key`, and counts how often its keys are read; with `failure` they cannot be."""

    def __init__(self) -> None:
        self.key: PrivateKey = Ed25519PrivateKey.generate()
        self.key_id = "first"
        self.algorithm = "EdDSA"
        self.reads = 0
        self.failure: Exception | None = None
        self.keys = ProviderKeys(self.read, OutageLog("the identity provider", structlog.get_logger(), lambda: 0))

    def rotate(self, algorithm: str = "EdDSA") -> None:
        """Sign by a new key, in place of the one before."""
        self.algorithm, self.key_id = algorithm, f"next {algorithm}"
        match algorithm:
            case "EdDSA":
                self.key = Ed25519PrivateKey.generate()
            case "ES256":
                self.key = new_ec_key(SECP256R1())
            case _:
                self.key = generate_private_key(65537, 2048)

    def read(self) -> Keys:
        self.reads += 1
        if self.failure:
            raise self.failure
        return signing_keys(json.dumps({"keys": [self.jwk()]}))

    def jwk(self) -> dict[str, Any]:
        public = self.key.public_key()
        kinds: Any = {"EdDSA": OKPAlgorithm, "ES256": ECAlgorithm}
        jwk = kinds.get(self.algorithm, RSAAlgorithm).to_jwk(public, as_dict=True)
        return {**jwk, "kid": self.key_id, "use": "sig", "alg": self.algorithm}

    def token(self, user: str = "Ada", headers: Mapping[str, Any] | None = None, **changed: Any) -> str:
        """Return a token that is valid for an hour; a changed claim that is None is left out."""
        now = START // 1000
        claims = {"iss": ISSUER, "aud": "web", "sub": user, "iat": now, "exp": now + 3600, **changed}
        kept = {name: value for name, value in claims.items() if value is not None}
        return jwt.encode(kept, self.key, self.algorithm, {"kid": self.key_id, **(headers or {})})
