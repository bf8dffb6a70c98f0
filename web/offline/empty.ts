/**
 * Stands for the core's relaxed build in the page's bundle. The page pins the baseline build, so that a link shows the
 * same digits on every machine, and would only carry the other one along.
 */
export {};
