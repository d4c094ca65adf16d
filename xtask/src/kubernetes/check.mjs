// Reads each manifest that is named, and checks it against the schema of its kind: its values by the validators of the
// kind, and by its type that it has no field that the kind does not know. Says what is wrong, and ends with 1 then.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { parseAllDocuments } from "yaml";

const OPERATOR = "monitoring.coreos.com/v1";
// Kubernetes reads YAML 1.1: modes of files are octal there.
const options = { version: "1.1" };
const TYPED = "manifests.ts";

let checked = 0;
const wrong = [];
const typed = [];
for (const file of process.argv.slice(2)) {
  for (const document of parseAllDocuments(readFileSync(file, "utf8"), options)) {
    if (document.errors.length > 0) {
      wrong.push(`${file}: ${document.errors[0].message}`);
      continue;
    }
    const manifest = document.toJS();
    const { apiVersion, kind } = manifest;
    try {
      const from = apiVersion === OPERATOR ? "@kubernetes-models/prometheus-operator" : "kubernetes-models";
      const path = `${from}/${apiVersion}/${kind}`;
      const Model = (await import(path))[kind];
      new Model(manifest).validate();
      const name = `m${typed.length}`;
      typed.push(
        `// ${file}\nimport type { I${kind} as T${name} } from ${JSON.stringify(path)};\n` +
          `export const ${name}: T${name} = ${JSON.stringify(manifest, null, 1)};\n`,
      );
      checked += 1;
    } catch (error) {
      wrong.push(`${file}: ${kind} ${manifest?.metadata?.name}: ${error.message}`);
    }
  }
}
// Only where a literal is assigned does the compiler ask for every field.
writeFileSync(TYPED, typed.join("\n"));
const flags = ["--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "--target", "es2022", "--pretty", "false"];
const tsc = spawnSync("npx", ["--no-install", "tsc", ...flags, TYPED], { encoding: "utf8" });
if (tsc.status !== 0) wrong.push(`${tsc.stdout}${tsc.stderr}`.trim());
for (const line of wrong) console.error(line);
console.log(`${checked} manifests were checked: ${wrong.length === 0 ? "all fit their schemas" : "see above"}`);
process.exit(wrong.length > 0 || checked === 0 ? 1 : 0);
