// What a page does beyond its HTML. Every module looks for its own elements and does nothing where there are none.
import "./theme-switch.js";
import "./copy.js";
import "./keys.js";
import "./yours-bar.js";

if (document.getElementById("question")) import("./calculator.js");
if (document.getElementById("filters")) import("./accuracy.js");
