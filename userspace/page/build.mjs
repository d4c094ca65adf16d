// Bundles the pages into the folder that is given: a script, a style sheet and a document for that of a host and that of a fleet, and the icon.
import { copyFile, mkdir } from "node:fs/promises";
import { build } from "esbuild";

const out = process.argv[2];
if (!out) throw new Error("usage: node build.mjs FOLDER");
await mkdir(out, { recursive: true });
await build({
  entryPoints: { app: "src/main.tsx", fleet: "src/fleet/main.tsx" },
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
for (const file of ["index.html", "fleet.html", "icon.svg"]) await copyFile(`src/${file}`, `${out}/${file}`);
