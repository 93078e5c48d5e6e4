// A run as it goes: its parts are sent again when they change. Without this the page loads itself again.
(() => {
  "use strict";
  const live = document.querySelector("[data-live]");
  const spoken = document.getElementById("announced");
  let told = 0;

  // New sentences are announced one by one, not every word.
  function announce() {
    const from = document.querySelector("[data-announce]");
    if (!from || !spoken) return;
    const text = from.textContent.replace(/\s+/g, " ");
    const end = Math.max(text.lastIndexOf(". "), text.lastIndexOf("? "), text.lastIndexOf("! "));
    if (end < told) return;
    spoken.textContent = text.slice(told, end + 1);
    told = end + 1;
  }

  function show(parts) {
    for (const [id, html] of Object.entries(parts)) {
      const element = document.getElementById(id);
      if (!element) continue;
      const open = [...element.querySelectorAll("details[open]")].map((one) => one.id).filter(Boolean);
      const focused = element.contains(document.activeElement) ? document.activeElement.id : "";
      element.innerHTML = html;
      for (const one of open) document.getElementById(one)?.setAttribute("open", "");
      if (focused) document.getElementById(focused)?.focus();
    }
    announce();
  }

  if (live) {
    const events = new EventSource(live.dataset.live);
    events.addEventListener("parts", (event) => show(JSON.parse(event.data)));
    events.addEventListener("error", () => {  // it reconnects by itself, unless the server knows the run no more
      if (events.readyState === EventSource.CLOSED) location.reload();
    });
    events.addEventListener("end", (event) => {
      events.close();
      live.removeAttribute("aria-busy");
      document.documentElement.dataset.live = "over";
      const rest = document.querySelector("[data-announce]")?.textContent.replace(/\s+/g, " ").slice(told);
      if (spoken && rest?.trim()) spoken.textContent = rest.trim();
      const there = new URL(JSON.parse(event.data).address, location.href);
      if (there.pathname !== location.pathname) location.replace(there);
    });
  }

  // A number that is hovered or focused lifts its source.
  const lift = (event) => {
    const number = event.target.closest?.("a.cite")?.dataset.source;
    for (const one of document.querySelectorAll(".source.lit")) one.classList.remove("lit");
    if (number) document.getElementById(`s${number}`)?.classList.add("lit");
  };
  for (const kind of ["mouseover", "focusin"]) document.addEventListener(kind, lift);
})();
