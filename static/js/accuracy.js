// The record of accuracy: says what a filter left, and loads the page when the fragment does not come.
import "./charts.js";
import { say } from "./status.js";

const form = document.getElementById("filters");
const shown = () => document.querySelector(".record-shown > span").textContent;

form.addEventListener("htmx:after:swap", () => say(shown()));
form.addEventListener("htmx:error", () => form.submit());
form.addEventListener("htmx:response:error", () => form.submit());
