// The address of a screen, behind the # of the page's address: no server sees it.

export type Route =
  | { readonly screen: "home" }
  | { readonly screen: "new"; readonly game: string }
  | { readonly screen: "join"; readonly code: string }
  | { readonly screen: "table"; readonly id: string; readonly link: string }
  | ReplayRoute;

/** A moment of a finished table. */
export interface ReplayRoute {
  readonly screen: "replay";
  readonly id: string;
  readonly link: string;
  readonly step: number | undefined;
  readonly eyes: string;
}

/** Return the route of a hash such as "#/t/ID"; home for one that is none. */
export function routeOf(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?");
  const [kind, value = ""] = path.split("/").map(decoded);
  const parameters = new URLSearchParams(query);
  const link = parameters.get("link") ?? "";
  if (value === "") return { screen: "home" };
  if (kind === "new") return { screen: "new", game: value };
  if (kind === "j") return { screen: "join", code: value };
  if (kind === "t") return { screen: "table", id: value, link };
  if (kind !== "r") return { screen: "home" };
  const step = Number.parseInt(parameters.get("step") ?? "", 10);
  return { screen: "replay", id: value, link, step: Number.isNaN(step) ? undefined : step, eyes: parameters.get("eyes") ?? "" };
}

/** Return the hash of a route. */
export function hashOf(route: Route): string {
  switch (route.screen) {
    case "home":
      return "#/";
    case "new":
      return `#/new/${encodeURIComponent(route.game)}`;
    case "join":
      return `#/j/${encodeURIComponent(route.code)}`;
    case "table":
      return `#/t/${encodeURIComponent(route.id)}${queryOf({ link: route.link })}`;
    case "replay":
      return `#/r/${encodeURIComponent(route.id)}${queryOf({ link: route.link, step: route.step?.toString() ?? "", eyes: route.eyes })}`;
  }
}

function queryOf(values: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams(Object.entries(values).filter(([, value]) => value !== "")).toString();
  return query === "" ? "" : `?${query}`;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return "";
  }
}
