import { defineConfig } from "vite";

/** The page; or with `--mode tests` what tests import into a browser. */
export default defineConfig(({ mode }) =>
  mode === "tests"
    ? { build: { outDir: "dist/tests", lib: { entry: "src/many_tables.ts", formats: ["es"], fileName: "many_tables" } } }
    : { base: "./", build: { outDir: "dist/page" } },
);
