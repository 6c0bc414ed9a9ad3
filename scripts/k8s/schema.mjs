// Holds manifests against the Kubernetes API's own schemas, as the package kubernetes-models has them: its validators
// look at the values, and its types, through the compiler, at keys that the API does not have.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [packages, ...files] = process.argv.slice(2);
const at = (...path) => join(packages, "node_modules", ...path);
const load = (...path) => import(pathToFileURL(at(...path)));
const { parseAllDocuments } = (await load("yaml", "dist", "index.js")).default;

const typed = [];
for (const file of files) {
  for (const document of parseAllDocuments(readFileSync(file, "utf8"))) {
    if (document.errors.length > 0) throw document.errors[0];
    const manifest = document.toJS();
    const model = `${manifest.apiVersion}/${manifest.kind}`;
    const models = await load("kubernetes-models", `${model}.js`);
    new models[manifest.kind](manifest).validate();
    typed.push(`{
      type Model = import("kubernetes-models/${model}").I${manifest.kind};
      const manifest: Model = ${JSON.stringify(manifest)};
    }`);
    console.log(`k8s: ${manifest.kind} ${manifest.metadata.name}`);
  }
}
writeFileSync(join(packages, "manifests.ts"), typed.join("\n"));
const strictly = ["--noEmit", "--strict", "--skipLibCheck", "--module", "preserve", "--target", "esnext"];
try {
  execFileSync(process.execPath, [at("typescript", "bin", "tsc"), ...strictly, "manifests.ts"], { cwd: packages });
} catch (refused) {
  console.error(String(refused.stdout));
  process.exit(1);
}
console.log("k8s: every key and value is one of the API's");
