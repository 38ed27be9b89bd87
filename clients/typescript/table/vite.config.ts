import { defineConfig } from "vite";

/** Where `npm run dev` finds the services: the gateway of `croupier up`. */
const GATEWAY = "http://127.0.0.1:7700";

/**
 * The page, whose files are all files, because the gateway's content security policy allows nothing inline; or with
 * `--mode tests` what tests import into a browser.
 */
export default defineConfig(({ mode }) =>
  mode === "tests"
    ? { publicDir: false, build: { outDir: "dist/tests", lib: { entry: "src/many_tables.ts", formats: ["es"], fileName: "many_tables" } } }
    : {
        base: "./",
        build: { outDir: "dist/page", assetsInlineLimit: 0, modulePreload: { polyfill: false } },
        server: { proxy: { "/croupier_api.v1": GATEWAY, "/v1": { target: GATEWAY, ws: true } } },
      },
);
