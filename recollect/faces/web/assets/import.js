// Dropping files and folders, and telling how far they have been sent. Without this the form sends them.
(() => {
  "use strict";
  const form = document.getElementById("drop");
  if (!form) return;
  const by = (id) => document.getElementById(id);
  const input = by("file");
  by("send").hidden = true;

  const size = (bytes) => bytes >= 1e9 ? `${(bytes / 1e9).toFixed(1)} GB` : bytes >= 1e6 ? `${Math.round(bytes / 1e6)} MB` : `${Math.ceil(bytes / 1e3)} kB`;

  function refuse(words) {
    by("sending").hidden = true;
    by("refused").hidden = false;
    by("refused").firstElementChild.textContent = words;
  }

  function send(files) {
    if (!files.length) return;
    const data = new FormData();
    for (const { file, path } of files) data.append("file", file, path);
    if (form.elements.again.checked) data.append("again", "yes");
    const request = new XMLHttpRequest();
    const began = Date.now();
    by("refused").hidden = true;
    by("sending").hidden = false;
    by("sending-name").textContent = files.length > 1 ? `${files[0].path.split("/")[0]} and more: ${files.length} files` : files[0].path;
    by("sending-stop").onclick = () => { request.abort(); by("sending").hidden = true; };
    request.upload.onprogress = (event) => {
      if (!event.lengthComputable) return;
      by("sending-bar").value = event.loaded / event.total;
      const rate = event.loaded / Math.max(1, Date.now() - began) * 1000;
      const left = (event.total - event.loaded) / rate;
      by("sending-told").textContent = `${size(event.loaded)} of ${size(event.total)}${left > 2 ? ` · ${Math.ceil(left)} s left` : ""}`;
    };
    request.onload = () => {
      if (request.status < 400) { location.assign(request.responseURL); return; }
      let told = null;
      try { told = JSON.parse(request.responseText); } catch { /* a page, not a problem */ }
      refuse(told ? `${told.detail} ${told.hint ?? ""}` : `It was not taken (${request.status}).`);
    };
    request.onerror = () => refuse("The connection broke off, and nothing was read. Is recollect serve still running?");
    request.open("POST", form.action);
    request.setRequestHeader("Accept", "application/json");
    request.send(data);
  }

  // What is dropped may be folders: everything in them, with its path.
  async function within(entry, path = "") {
    const named = path + entry.name;
    if (entry.isFile) {
      const file = await new Promise((done, failed) => entry.file(done, failed));
      return [{ file, path: named }];
    }
    const reader = entry.createReader();
    const found = [];
    for (;;) {
      const some = await new Promise((done, failed) => reader.readEntries(done, failed));
      if (!some.length) return found;
      for (const one of some) found.push(...await within(one, `${named}/`));
    }
  }

  input.addEventListener("change", () => send([...input.files].map((file) => ({ file, path: file.webkitRelativePath || file.name }))));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send([...input.files].map((file) => ({ file, path: file.name })));
  });
  const over = (is) => form.classList.toggle("over", is);
  for (const kind of ["dragenter", "dragover"]) document.addEventListener(kind, (event) => {
    if (![...event.dataTransfer.types].includes("Files")) return;
    event.preventDefault();
    over(true);
  });
  document.addEventListener("dragleave", (event) => { if (!event.relatedTarget) over(false); });
  document.addEventListener("drop", async (event) => {
    if (!event.dataTransfer.files.length) return;
    event.preventDefault();
    over(false);
    const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
    if (!entries.length) { send([...event.dataTransfer.files].map((file) => ({ file, path: file.name }))); return; }
    try {
      send((await Promise.all(entries.map((entry) => within(entry)))).flat());
    } catch { refuse("The browser could not read all of that."); }
  });
})();
