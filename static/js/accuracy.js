// The record of accuracy: the address and the links that follow a filter, what it left, and the way when no answer comes.
import "./charts.js";
import { say } from "./status.js";

const form = document.getElementById("filters");

form.addEventListener("htmx:after:swap", () => {
  const shown = document.querySelector(".record-shown");
  if (shown.dataset.here === location.pathname + location.search) return; // nothing came: the page is on its way
  history.replaceState(null, "", shown.dataset.here);
  for (const link of document.querySelectorAll("[data-units]")) link.href = shown.dataset[link.dataset.units];
  say(shown.querySelector("span").textContent);
});
form.addEventListener("htmx:error", () => form.submit());
form.addEventListener("htmx:response:error", () => form.submit());
