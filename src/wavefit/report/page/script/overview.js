// A page that stands as markup: only its language is switched.

async function start() {
  const found = unpacked(await inflated(document.getElementById("data").textContent));
  words.chinese = new Map(found.said.map((each) => [each.en, each.zh]));
  const choice = document.getElementById("language");
  choice.value = preferred();
  const speak = () => { words.language = choice.value; retell(); };
  choice.addEventListener("change", speak);
  document.getElementById("switch").hidden = false;
  speak();
  document.documentElement.dataset.ready = "";
}

start();
