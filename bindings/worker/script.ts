// The script of the worker, whole in one file without imports: a bundler takes it as it is, and it runs as a module and
// as a classic script. It does something when it is loaded, and is the only file of the package that does.
import { mismatch } from "../errors.js";
import type { Connect } from "./protocol.js";
import { serve } from "./serve.js";

function connect(message: unknown): void {
  const { headscope, port } = (typeof message === "object" && message !== null ? message : {}) as Partial<Connect>;
  if (headscope === "connect" && port !== undefined) serve(port);
}

interface NodeProcess {
  getBuiltinModule?(name: "worker_threads"): {
    readonly parentPort: { on(event: "message", listener: typeof connect): void } | null;
  };
}

if (typeof addEventListener === "function") {
  addEventListener("message", (event) => connect((event as MessageEvent).data));
} else {
  // Node's worker threads: no global events, and no import of Node's modules in what browsers get.
  const { process } = globalThis as { process?: NodeProcess };
  const parentPort = process?.getBuiltinModule?.("worker_threads").parentPort;
  if (!parentPort) throw mismatch("unsupported", "worker", "a worker of a browser or of Node.js 22", "something else");
  parentPort.on("message", connect);
}
