// The script of the worker, whole in one file without imports: a bundler takes it as it is, and it runs as a module and
// as a classic script. It does something when it is loaded, and is the only file of the package that does.
import { listen } from "./listen.js";
import { MEASURES } from "./measure-operations.js";
import { MODELS } from "./model-operations.js";
import { LAYERS } from "./operations.js";

const OPERATIONS = { ...LAYERS, ...MODELS, ...MEASURES };

listen((operation) => OPERATIONS[operation]);
