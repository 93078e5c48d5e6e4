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
  const searched = `searched.${document.body.dataset.namespace}`;
  if (find("[data-forgets]")) kept.set(searched, []); // they may be words of what is forgotten
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
  const box = () => find(".find [data-box]") ?? all("[data-box]").find(isShown);
  function toBox() {
    const field = box();
    if (!field) return follow(".bar nav a[data-key=s]");
    field.focus({ preventScroll: Boolean(field.closest(".find")) }); // which is always in sight
    field.select();
    return true;
  }
  function back() {
    if (inField(document.activeElement)) return document.activeElement.blur();
    return find("[data-back]")?.click();
  }

  // --- the way back: a conversation leads to the page from which it was opened, and that to the row that was followed
  const session = {
    get came() { try { return JSON.parse(sessionStorage.getItem("recollect.came")); } catch { return null; } },
    set came(value) { try { sessionStorage.setItem("recollect.came", JSON.stringify(value)); } catch { /* a private window */ } },
  };
  const wayBack = find("[data-back]");
  let followed = null;
  document.addEventListener("click", (event) => {
    followed = event.target.closest?.("a[href]")?.getAttribute("href") ?? followed;
    if (!wayBack || event.target.closest?.("[data-back]") !== wayBack) return;
    if (event.ctrlKey || event.metaKey || event.shiftKey || document.referrer !== wayBack.href || history.length < 2) return;
    event.preventDefault();
    history.back(); // which finds the page as it was left
  });
  const isOpened = wayBack?.hasAttribute("data-came"); // this page is opened from others
  const isBeside = wayBack && new URL(wayBack.href).pathname.startsWith("/c/"); // and this one from a conversation
  addEventListener("pagehide", () => {
    if (!isOpened && !isBeside) session.came = { href: location.href, title: document.title, followed };
  });
  addEventListener("pageshow", () => {
    const came = (isOpened && history.state?.came) || session.came;
    if (isOpened && came) {
      history.replaceState({ ...history.state, came }, ""); // whoever comes back to this page has come from there
      wayBack.href = came.href;
      wayBack.textContent = `‹ ${came.title.replace(/ · Recollect$/, "")}`;
      session.came = { ...came, isLeft: true };
    } else if (came?.isLeft && came.followed && came.href === location.href) {
      const row = all("a[href]").find((link) => link.getAttribute("href") === came.followed);
      row?.focus({ preventScroll: performance.getEntriesByType("navigation")[0]?.type === "back_forward" });
      session.came = null;
    }
  });

  // --- what follows is put in place of the button: the first of it takes the focus
  let before = null;
  document.addEventListener("click", (event) => {
    if (event.target.closest?.("[data-further]")) before = new Set(rows());
  });
  document.addEventListener("htmx:after:swap", () => {
    if (before && document.activeElement === document.body) {
      rows().find((row) => !before.has(row))?.focus({ preventScroll: true });
    }
    before = null;
  });

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
    else if (event.key === "Escape") palette.close();
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

  document.addEventListener("click", async (event) => {
    const button = event.target.closest?.("[data-copy-link]");
    if (!button) return;
    try {
      await navigator.clipboard.writeText(location.href);
      button.textContent = "Copied";
    } catch { /* the browser does not allow it */ }
  });

  // --- the conversation: from match to match within the page, without loading it again
  const thread = find(".messages");
  const shownMatches = () => all(".msg[data-match]", thread).sort((a, b) => a.dataset.match - b.dataset.match);
  function become(message, address) {
    find(".msg.now", thread)?.classList.remove("now");
    message.classList.add("now");
    message.focus({ preventScroll: true });
    message.scrollIntoView();
    if (address) history.replaceState(history.state, "", address);
    const where = find("#where-now");
    if (where && message.dataset.match) {
      where.replaceChildren(Object.assign(document.createElement("b"), { textContent: message.dataset.match }),
        ` of ${where.dataset.total}`);
    }
    const them = shownMatches();
    const number = Number(message.dataset.match ?? 0);
    all(".ticks .match").forEach((tick, at) => {
      const y = tick.getAttribute("d").split(/[ h]/)[1];
      tick.classList.toggle("cur", at + 1 === number);
      tick.setAttribute("d", at + 1 === number ? `M6 ${y}h22` : `M13 ${y}h15`);
    });
    all(".outline [aria-current]").forEach((link) => link.removeAttribute("aria-current"));
    let asked = message;
    while (asked && !asked.classList.contains("you")) asked = asked.previousElementSibling;
    find(`.outline [data-jump="${CSS.escape(asked?.id ?? "")}"]`)?.setAttribute("aria-current", "true");
    inSight();
    return them;
  }
  const inSight = () => { // of a long list of questions the current one
    const list = find(".outline");
    const link = find(".outline [aria-current]");
    if (list && link) list.scrollTop = Math.max(0, link.offsetTop - list.clientHeight / 2);
  };
  const addressOf = (message) => {
    const address = new URL(location.href);
    address.searchParams.set("at", message.id.slice(2));
    address.searchParams.delete("span");
    address.searchParams.delete("mark");
    address.hash = message.id;
    return address;
  };
  thread && document.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    const step = event.target.closest?.("[data-step]");
    const jump = event.target.closest?.("[data-jump]");
    if (!step && !jump) return;
    let goal = null;
    if (jump) goal = document.getElementById(jump.dataset.jump);
    else {
      const total = Number(find("#where-now")?.dataset.total ?? 0);
      const now = find(".msg.now", thread);
      const by = step.dataset.step === "next" ? 1 : -1;
      let number = Number(now?.dataset.match ?? 0);
      if (!number && now) { // between two matches
        const before = shownMatches().filter((one) => now.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_PRECEDING);
        number = Number(before.at(-1)?.dataset.match ?? 0) + (by > 0 ? 0 : 1);
      }
      const wanted = ((number - 1 + by + total) % total + total) % total + 1;
      goal = find(`.msg[data-match="${wanted}"]`, thread);
    }
    if (!goal) return; // not drawn: the link loads the page around it
    event.preventDefault();
    find(".outline:popover-open")?.hidePopover();
    become(goal, addressOf(goal));
  });
  const opened = thread && find(".msg.now", thread);
  if (opened) {
    opened.focus({ preventScroll: true });
    if (!location.hash) opened.scrollIntoView();
    inSight();
  }

  // --- search: a request that fails says so in place of the results; what was searched is kept here, in this browser
  const searchForm = find("#ask-box");
  if (searchForm) {
    const field = find("#q", searchForm);
    const note = () => {
      const told = document.createElement("p");
      told.className = "note warn";
      told.setAttribute("role", "status");
      const words = Object.assign(document.createElement("span"), { innerHTML: "<b>Could not look.</b> The server does not answer. Your question is kept." });
      const again = Object.assign(document.createElement("button"), { type: "button", textContent: "Look again" });
      again.addEventListener("click", () => searchForm.requestSubmit());
      told.append(words, again);
      const place = document.createElement("section");
      place.className = "found";
      place.append(told);
      find("#results").replaceChildren(place);
    };
    document.addEventListener("htmx:error", (event) => {
      const error = event.detail?.error;
      if (error?.name === "AbortError" || event.detail?.ctx?.status === "aborted") return;
      if (event.target === searchForm || searchForm.contains(event.target)) note();
    });
    searchForm.addEventListener("htmx:before:request", (event) => {
      const words = field.value.trim();
      if (words.length === 1 && words < "\u2190") event.preventDefault();
    });
    find("[data-plain]", searchForm).addEventListener("click", (event) => {
      event.preventDefault();
      const address = new URL(event.target.formAction);
      if (field.value.trim()) address.searchParams.set("q", field.value.trim());
      location.assign(address);
    });
    const remember = () => {
      const words = field.value.trim();
      if (words.length < 2 || !find(".hit")) return;
      kept.set(searched, [words, ...kept.get(searched, []).filter((one) => one !== words)].slice(0, 6));
    };
    document.addEventListener("click", (event) => { if (event.target.closest?.(".hit a")) remember(); });
    searchForm.addEventListener("submit", remember);
    const lately = () => {
      const place = find("#searched");
      const them = kept.get(searched, []);
      if (!place || !them.length) return;
      find("ul", place).replaceChildren(...them.map((words) => {
        const address = new URL(searchForm.action);
        address.searchParams.set("q", words);
        const link = Object.assign(document.createElement("a"), { href: address.href, textContent: words });
        link.dataset.row = "";
        const row = document.createElement("li");
        row.append(link);
        return row;
      }));
      place.hidden = false;
      find("button", place).addEventListener("click", () => { kept.set(searched, []); place.hidden = true; });
    };
    lately();
    document.addEventListener("htmx:after:swap", () => {
      lately();
      document.title = `${field.value.trim() || "Search"} · Recollect`;
    });
  }
  // --- a question before something is done: the page that a link leads to, as a dialog
  document.addEventListener("click", async (event) => {
    const link = event.target.closest?.("a[data-dialog]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    let answer;
    try {
      answer = await fetch(link.href, { headers: { "HX-Request": "true", "HX-Request-Type": "partial" } });
    } catch { /* the page itself says what is wrong */ }
    if (!answer?.ok) { location.assign(link.href); return; }
    const dialog = document.createElement("dialog");
    dialog.className = "card";
    dialog.setAttribute("aria-labelledby", "dialog-title");
    dialog.innerHTML = await answer.text();
    document.body.append(dialog);
    dialog.addEventListener("close", () => { dialog.remove(); (isShown(link) ? link : find(`[popovertarget="${link.closest("[popover]")?.id}"]`))?.focus(); });
    dialog.addEventListener("click", (inside) => {
      if (!inside.target.closest("[data-close]")) return;
      inside.preventDefault();
      dialog.close();
    });
    dialog.showModal();
  });

  window.recollect = { kept, find, all, isShown };
})();
