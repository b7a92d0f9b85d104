// The one live region of the page: a short sentence, said when it has something new to say.
const region = document.getElementById("status");

export function say(sentence) {
  if (region && region.textContent !== sentence) region.textContent = sentence;
}
