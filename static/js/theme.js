// Runs before the first paint: the chosen colours, and the class that hides what only a page without scripts needs.
(function (html) {
  html.classList.add("js");
  try {
    var theme = localStorage.getItem("stowage.theme");
    if (theme) html.dataset.theme = theme;
  } catch (error) {} // storage may be forbidden; the system's colours hold then
})(document.documentElement);
