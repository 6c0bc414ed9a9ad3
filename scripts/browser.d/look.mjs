// Opens reports in Chromium as a person would: by day and by night, on a desk and on a phone. Prints what is wrong.
//
// usage: look.mjs CHROMIUM PICTURES REPORT...

import { mkdir } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { chromium } from "playwright-core";

const [executablePath, pictures, ...reports] = process.argv.slice(2);
const quiet = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync"];
const views = [
  { name: "light", width: 1200, colorScheme: "light" },
  { name: "dark", width: 1200, colorScheme: "dark" },
  { name: "phone", width: 390, colorScheme: "light" },
];
const faults = [];

const measure = () => {
  const shown = [...document.querySelectorAll("svg")].filter((svg) => svg.getBoundingClientRect().width > 0);
  const smallest = shown.flatMap((svg) => [...svg.querySelectorAll("text")])
    .map((text) => text.getBoundingClientRect().height);
  return {
    wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    charts: shown.length,
    smallest: Math.min(...smallest),
    background: getComputedStyle(document.body).backgroundColor,
  };
};

async function look(browser, report, view) {
  const fault = (text) => faults.push(`${report}, ${view.name}: ${text}`);
  const context = await browser.newContext({ colorScheme: view.colorScheme, viewport: { width: view.width, height: 900 } });
  const page = await context.newPage();
  page.on("request", (request) => request.url().startsWith("file:") || fault(`asks for ${request.url()}`));
  page.on("console", (message) => message.type() === "error" && fault(message.text()));
  page.on("pageerror", (error) => fault(error.message));
  await page.goto(`file://${resolve(report)}`);
  const seen = await page.evaluate(measure);
  if (seen.wide > 0) fault(`is ${seen.wide} px wider than the window`);
  if (seen.charts === 0) fault("shows no chart");
  if (seen.smallest < 9) fault(`has text ${seen.smallest} px high in a chart`);
  const run = basename(dirname(resolve(report)));
  await page.screenshot({ path: join(pictures, `${run}-${view.name}.png`), fullPage: true });
  await context.close();
  return seen.background;
}

await mkdir(pictures, { recursive: true });
const browser = await chromium.launch({ executablePath, args: quiet });
for (const report of reports) {
  const [light, dark] = [await look(browser, report, views[0]), await look(browser, report, views[1])];
  if (light === dark) faults.push(`${report}: is as bright by night as by day`);
  await look(browser, report, views[2]);
}
await browser.close();
for (const fault of faults) console.error(`browser: ${fault}`);
console.log(`browser: ${reports.length} reports seen in ${views.length} views, ${faults.length} faults; pictures in ${pictures}`);
process.exit(faults.length === 0 ? 0 : 1);
