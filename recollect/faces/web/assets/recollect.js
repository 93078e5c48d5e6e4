// What the pages do beyond links and forms: keys, the palette, copying code. Without it everything still works.
(() => {
  "use strict";
  const find = (selector, within = document) => within.querySelector(selector);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const inField = (element) => element?.closest?.("input, textarea, select, [contenteditable]");
  const isShown = (element) => element && element.getClientRects().length > 0;

  // --- what this browser keeps: whether letters are keys, and what was searched lately
  const kept = {
    get(name, otherwise) {
      try { return JSON.parse(localStorage.getItem(`recollect.${name}`)) ?? otherwise; } catch { return otherwise; }
    },
    set(name, value) {
      try { localStorage.setItem(`recollect.${name}`, JSON.stringify(value)); } catch { /* a private window */ }
    },
  };
  const lettersAreKeys = () => kept.get("letters", true);

  // --- moving through results and messages
  const rows = () => all("[data-row]").filter(isShown);
  function move(step) {
    const them = rows();
    if (!them.length) return false;
    const at = them.indexOf(document.activeElement);
    const from = at >= 0 ? at : step > 0 ? -1 : 0;
    const next = them[Math.max(0, Math.min(them.length - 1, from + step))];
    next.focus({ preventScroll: true });
    next.scrollIntoView({ block: "nearest" });
    return true;
  }
  const follow = (selector) => {
    const link = all(selector).find(isShown);
    link?.click();
    return Boolean(link);
  };
  function branch(way) {
    const near = document.activeElement?.closest?.(".msg");
    const links = all(`[data-branch=${way}]`).filter(isShown);
    const own = near && find(`[data-branch=${way}]`, near);
    const seen = links.find((link) => link.getBoundingClientRect().top > 0);
    (own || seen || links.at(-1))?.click();
    return links.length > 0;
  }
  const box = () => all("[data-box]").find(isShown);
  function toBox() {
    const field = box();
    if (!field) return follow(".bar nav a[data-key=s]");
    field.focus();
    field.select();
    return true;
  }
  function back() {
    if (inField(document.activeElement)) return document.activeElement.blur();
    const link = find("[data-back]");
    if (!link) return undefined;
    const came = document.referrer && new URL(document.referrer);
    const fits = came && came.origin === location.origin && came.pathname === new URL(link.href).pathname;
    return fits && history.length > 1 ? history.back() : link.click();
  }

  // --- keys
  let leading = 0; // when `g` was pressed
  const letters = {
    "/": toBox,
    j: () => move(1),
    k: () => move(-1),
    n: () => follow("[data-step=next]"),
    N: () => follow("[data-step=previous]"),
    "[": () => branch("previous"),
    "]": () => branch("next"),
    "?": () => { find("#keys")?.togglePopover(); return true; },
  };
  document.addEventListener("keydown", (event) => {
    if (event.isComposing || event.altKey) return;
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
      event.preventDefault();
      openPalette();
      return;
    }
    if (event.ctrlKey || event.metaKey || find("dialog[open]")) return;
    if (event.key === "Escape") {
      if (!find(":popover-open")) back();
      return;
    }
    const field = inField(event.target);
    if (field?.matches?.("[data-box]") && event.key === "ArrowDown" && move(1)) return event.preventDefault();
    if (field || find("#keys:popover-open") && event.key !== "?") return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const onRow = document.activeElement?.matches?.("[data-row]");
      if (onRow && move(event.key === "ArrowDown" ? 1 : -1)) event.preventDefault();
      return;
    }
    if (!lettersAreKeys()) return;
    if (leading && Date.now() - leading < 1500) {
      leading = 0;
      const link = find(`.bar nav a[data-key="${CSS.escape(event.key)}"]`);
      if (link) { event.preventDefault(); link.click(); }
      return;
    }
    if (event.key === "g") { leading = Date.now(); return; }
    if (letters[event.key]?.()) event.preventDefault();
  });
  const setting = find("#letters");
  if (setting) {
    setting.checked = lettersAreKeys();
    setting.addEventListener("change", () => kept.set("letters", setting.checked));
  }

  // --- the palette: a combobox in a dialog, its options from the server
  const palette = find("#palette");
  const options = () => all("[role=option]", palette);
  function openPalette() {
    if (!palette || palette.open) return;
    palette.showModal();
    const field = find("input", palette);
    field.value = "";
    field.dispatchEvent(new Event("input", { bubbles: true }));
    field.focus();
  }
  function choose(option) {
    options().forEach((one) => one.setAttribute("aria-selected", String(one === option)));
    find("input", palette).setAttribute("aria-activedescendant", option?.id ?? "");
    option?.scrollIntoView({ block: "nearest" });
  }
  palette?.addEventListener("keydown", (event) => {
    const them = options();
    const at = them.findIndex((one) => one.getAttribute("aria-selected") === "true");
    if (event.key === "ArrowDown") choose(them[Math.min(at + 1, them.length - 1)]);
    else if (event.key === "ArrowUp") choose(them[Math.max(at - 1, 0)]);
    else if (event.key === "Enter") them[Math.max(at, 0)]?.click();
    else return;
    event.preventDefault();
  });
  palette?.addEventListener("click", (event) => {
    const option = event.target.closest("[role=option]");
    if (option) location.assign(option.dataset.href);
    else if (event.target === palette) palette.close();
  });
  document.addEventListener("htmx:after:swap", () => { if (palette?.open) choose(options()[0]); });
  all("[data-palette]").forEach((button) => button.addEventListener("click", openPalette));

  // --- the namespaces of the store, when they are asked for
  const scope = find("#scope-open");
  scope?.addEventListener("click", async (event) => {
    const sheet = find("#scope");
    if (!sheet?.showPopover || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const answer = await fetch(scope.href, { headers: { "HX-Request": "true", "HX-Request-Type": "partial" } });
    if (!answer.ok) { location.assign(scope.href); return; }
    sheet.innerHTML = await answer.text();
    sheet.showPopover();
    find("a", sheet)?.focus();
  });

  // --- copying what is in a box of code
  document.addEventListener("click", async (event) => {
    const button = event.target.closest?.("[data-copy]");
    if (!button) return;
    const from = button.dataset.copy ? find(button.dataset.copy) : find("pre", button.closest(".codebox"));
    try {
      await navigator.clipboard.writeText(from?.innerText ?? "");
      const was = button.textContent;
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = was; }, 1500);
    } catch { /* the browser does not allow it */ }
  });

  window.recollect = { kept, find, all, isShown };
})();
