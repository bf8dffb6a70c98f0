import { startOffline } from "../offline/register.js";
import { Playground } from "./playground.js";

new Playground().start();
startOffline();
