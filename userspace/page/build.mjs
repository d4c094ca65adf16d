// Bundles the page into the folder that is given: one script, one style sheet, the document and its icon.
import { copyFile, mkdir } from "node:fs/promises";
import { build } from "esbuild";

const out = process.argv[2];
if (!out) throw new Error("usage: node build.mjs FOLDER");
await mkdir(out, { recursive: true });
await build({
  entryPoints: { app: "src/main.tsx" },
  outdir: out,
  bundle: true,
  minify: true,
  // Other builds of the same sources must be equal byte for byte.
  sourcemap: false,
  legalComments: "inline",
  format: "iife",
  target: ["chrome110", "firefox110", "safari16.4"],
  charset: "utf8",
  logLevel: "warning",
});
for (const file of ["index.html", "icon.svg"]) await copyFile(`src/${file}`, `${out}/${file}`);
