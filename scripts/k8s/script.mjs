// Prints the shell lines that a manifest's job runs, so that they can be run without a cluster.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const [packages, file] = process.argv.slice(2);
const { parseAllDocuments } = createRequire(join(packages, "package.json"))("yaml");
const manifests = parseAllDocuments(readFileSync(file, "utf8")).map((document) => document.toJS());
const job = manifests.find((manifest) => manifest.kind === "Job");
process.stdout.write(job.spec.template.spec.containers[0].args[0]);
