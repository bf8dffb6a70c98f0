// Runs a job, the first argument, and prints a line of JSON for each result. bench.ts starts it under each Node.js.
import { runJob } from "./run.ts";

await runJob(
  JSON.parse(process.argv[2] as string),
  (report) => void process.stdout.write(`${JSON.stringify(report)}\n`),
);
