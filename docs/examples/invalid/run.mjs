// Gives the corpus of invalid Arrow to Apache Arrow JavaScript: `node run.mjs FOLDER [GLOB]`, where FOLDER is the
// unpacked archive, and GLOB the beginning of the ids to run. Each input is decoded in a worker, which is ended after
// 20 seconds. Needs the package apache-arrow.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Worker, isMainThread, parentPort } from "node:worker_threads";

const SECONDS = 20;

async function serve() {
  const { tableFromIPC } = await import("apache-arrow");
  parentPort.on("message", (data) => {
    try {
      const table = tableFromIPC(data);
      for (const column of table.schema.fields.keys()) for (const value of table.getChildAt(column)) void value;
      parentPort.postMessage({ outcome: "rows", text: `${table.numRows} rows` });
    } catch (error) {
      parentPort.postMessage({ outcome: "error", text: String(error) });
    }
  });
  parentPort.postMessage({ outcome: "ready" });
}

async function start() {
  const worker = new Worker(new URL(import.meta.url), { resourceLimits: { maxOldGenerationSizeMb: 512 } });
  const answer = (data) =>
    new Promise((resolve) => {
      worker.settle = resolve;
      worker.timer = setTimeout(() => resolve({ outcome: "hang" }), 1000 * SECONDS);
      if (data) worker.postMessage(data);
    }).finally(() => clearTimeout(worker.timer));
  worker.on("message", (got) => worker.settle(got));
  worker.on("error", (error) => worker.settle({ outcome: "crash", text: String(error) }));
  await answer();
  return { answer, end: () => worker.terminate() };
}

async function main(folder, prefix = "") {
  const index = JSON.parse(readFileSync(join(folder, "index.json"), "utf8"));
  const counts = { right: 0, wrong: 0 };
  let worker = await start();
  for (const input of index.inputs.filter((one) => one.kind !== "tensor" && one.id.startsWith(prefix))) {
    const got = await worker.answer(readFileSync(join(folder, input.file)));
    const right = input.outcomes.some((one) => one.replace("true-", "") === got.outcome); // rows are not compared
    counts[right ? "right" : "wrong"] += 1;
    if (!right) console.log(`${input.id} [${input.level}, ${input.rule ?? "legal"}]: ${got.outcome} ${got.text ?? ""}`);
    if (got.outcome === "hang" || got.outcome === "crash") worker = (await worker.end(), await start());
  }
  await worker.end();
  console.log(`${index.version}: ${counts.right} right, ${counts.wrong} wrong`);
}

await (isMainThread ? main(...process.argv.slice(2)) : serve());
