import { mismatch } from "../errors.js";
import type { Connect } from "./protocol.js";
import { type Find, serve } from "./serve.js";

interface NodeProcess {
  getBuiltinModule?(name: "worker_threads"): {
    readonly parentPort: { on(event: "message", listener: (message: unknown) => void): void } | null;
  };
}

/** Waits for pages that connect. Other messages may be the app's own. */
export function listen(find: Find): void {
  const connect = (message: unknown) => {
    const { headscope, port } = (typeof message === "object" && message !== null ? message : {}) as Partial<Connect>;
    if (headscope === "connect" && port !== undefined) serve(port, find);
  };
  if (typeof addEventListener === "function") {
    addEventListener("message", (event) => connect((event as MessageEvent).data));
  } else {
    // Node's worker threads: no global events, and no import of Node's modules in what browsers get.
    const { process } = globalThis as { process?: NodeProcess };
    const parentPort = process?.getBuiltinModule?.("worker_threads").parentPort;
    // getBuiltinModule came with 20.16 and 22.3.
    if (!parentPort) {
      throw mismatch("unsupported", "worker", "a worker of a browser or of Node.js 20.16 or newer", "something else");
    }
    parentPort.on("message", connect);
  }
}
