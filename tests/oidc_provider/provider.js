// An OpenID Connect provider on loopback: any login is a user. Arguments: port (0 for a free one), file of its keys.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";

import Provider from "oidc-provider";

const [port, keys] = process.argv.slice(2);
const server = createServer();
server.listen(Number(port), "127.0.0.1", () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const client = (client_id) => ({
    client_id,
    application_type: "native",
    token_endpoint_auth_method: "none",
    redirect_uris: ["http://127.0.0.1/signed-in"],
  });
  const provider = new Provider(issuer, {
    clients: [client("web"), client("phone"), client("another-app")],
    jwks: JSON.parse(readFileSync(keys, "utf8")),
    cookies: { keys: ["a key of the tests"] },
    findAccount: (_context, sub) => ({ accountId: sub, claims: () => ({ sub }) }),
  });
  server.on("request", provider.callback());
  console.log(issuer);
});
