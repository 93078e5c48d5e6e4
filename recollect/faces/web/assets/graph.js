// The graph, drawn by sigma in place of the drawing: to be moved, come closer to, and grown by a click.
// Places come from the server. Without WebGL the drawing stays, and its links do the same.
(() => {
  "use strict";
  const stage = document.querySelector("#canvas");
  const drawing = document.querySelector("#drawing");
  if (!stage || !drawing || !window.Sigma || !hasWebGL()) return;

  const { Sigma, graphology } = window;
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const small = matchMedia("(max-width: 54rem)");
  let graph, renderer, center, lit = null;

  function hasWebGL() {
    try { return Boolean(document.createElement("canvas").getContext("webgl2")); } catch { return false; }
  }

  // --- colours are those of the page, light or dark
  const probe = document.createElement("span");
  stage.append(probe);
  function colour(name) {
    probe.className = "";
    probe.style.color = `var(${name})`;
    const [r, g, b] = getComputedStyle(probe).color.match(/[\d.]+/g).map(Number);
    return `#${[r, g, b].map((part) => Math.round(part).toString(16).padStart(2, "0")).join("")}`;
  }
  let ink;
  function readColours() {
    ink = {
      paper: colour("--paper"), text: colour("--text"), soft: colour("--soft"), edge: colour("--edge"),
      ink: colour("--ink"), leaf: colour("--leaf"), rust: colour("--rust"), line: colour("--line"),
    };
    ink.of = { person: ink.ink, place: ink.leaf, project: ink.text, thing: ink.soft, other: ink.edge };
  }
  const mixed = (one, other, share) => {
    const parts = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
    const [a, b] = [parts(one), parts(other)];
    return `#${a.map((p, i) => Math.round(p * share + b[i] * (1 - share)).toString(16).padStart(2, "0")).join("")}`;
  };

  // --- a shape for each kind, as in the legend
  const DISTANCE = {
    person: "length(v_diffVector) - v_radius",
    project: "max(length(v_diffVector) - v_radius, v_radius * 0.5 - length(v_diffVector))",
    place: "(abs(v_diffVector.x) + abs(v_diffVector.y)) * 0.8 - v_radius * 0.8",
    thing: "max(abs(v_diffVector.x), abs(v_diffVector.y)) - v_radius * 0.72",
    other: "max(max(abs(v_diffVector.x), abs(v_diffVector.y)) - v_radius * 0.72, v_radius * 0.72 - line - max(abs(v_diffVector.x), abs(v_diffVector.y)))",
  };
  function shape(kind) {
    const [r, g, b] = [1, 3, 5].map((at) => (parseInt(ink.paper.slice(at, at + 2), 16) / 255).toFixed(4));
    const source = `
      precision highp float;
      varying vec4 v_color;
      varying vec2 v_diffVector;
      varying float v_radius;
      uniform float u_correctionRatio;
      void main(void) {
        float border = u_correctionRatio * 2.0;
        float line = u_correctionRatio * 3.4;
        vec4 nothing = vec4(0.0);
        #ifdef PICKING_MODE
        gl_FragColor = length(v_diffVector) > v_radius ? nothing : v_color;
        #else
        float away = ${DISTANCE[kind]} + border;
        float inside = step(max(abs(v_diffVector.x), abs(v_diffVector.y)), v_radius * 0.7) * ${kind === "other" || kind === "project" ? "1.0" : "0.0"};
        vec4 hole = vec4(${r}, ${g}, ${b}, 1.0) * inside;
        gl_FragColor = mix(v_color, hole, clamp(away / border, 0.0, 1.0));
        #endif
      }`;
    return class extends Sigma.rendering.NodeCircleProgram {
      getDefinition() {
        return { ...super.getDefinition(), FRAGMENT_SHADER_SOURCE: source };
      }
    };
  }

  // --- labels: outward from the middle, with the paper round them, as in the drawing
  function drawLabel(context, data, settings) {
    if (!data.label) return;
    const big = data.big;
    const size = big ? 19 : settings.labelSize;
    context.font = big ? `700 ${size}px ${fonts.said}` : `${settings.labelWeight} ${size}px ${fonts.ui}`;
    let where = data.side || "start";
    context.textAlign = where === "middle" ? "center" : where;
    const gap = data.size + 6;
    const room = context.canvas.width / context.getTransform().a;
    const wide = context.measureText(data.label).width;
    let below = data.below;
    if (where === "start" ? data.x + gap + wide > room : where === "end" && data.x - gap - wide < 0) {
      where = "middle"; // beside its mark it would be cut off at the edge
      below = true;
      context.textAlign = "center";
    }
    let x = data.x + (where === "start" ? gap : where === "end" ? -gap : 0);
    const y = data.y + (where !== "middle" ? size / 3 : below ? gap + size * 0.7 : -gap);
    if (where === "middle") x = Math.max(wide / 2 + 2, Math.min(room - wide / 2 - 2, x));
    context.lineJoin = "round";
    context.lineWidth = 4;
    context.strokeStyle = ink.paper;
    context.strokeText(data.label, x, y);
    context.fillStyle = data.faint ? ink.soft : ink.text;
    context.fillText(data.label, x, y);
  }
  function drawHover(context, data, settings) {
    context.beginPath();
    context.arc(data.x, data.y, data.size + 4, 0, Math.PI * 2);
    context.lineWidth = 2;
    context.strokeStyle = ink.ink;
    context.stroke();
    drawLabel(context, { ...data, label: data.label || data.name, faint: false }, settings);
  }
  const fonts = {};
  function readFonts() {
    const root = getComputedStyle(document.documentElement);
    fonts.ui = root.getPropertyValue("--ui");
    fonts.said = root.getPropertyValue("--said");
  }

  // --- what the server says, as a graph
  function take(found) {
    graph = new graphology.MultiDirectedGraph();
    center = found.entity.id;
    for (const one of found.entities) {
      graph.addNode(one.id, {
        x: one.x * (small.matches ? 0.6 : 1), y: -one.y, size: one.radius, name: one.name, kind: one.kind, type: one.kind,
        side: one.side, below: one.y >= 0, labelled: one.labelled, leading: one.leading, big: one.id === center,
      });
    }
    for (const one of found.relations) {
      const key = `${one.source_id} ${one.relation} ${one.target_id}`;
      if (graph.hasEdge(key) || !graph.hasNode(one.source_id) || !graph.hasNode(one.target_id)) continue;
      graph.addEdgeWithKey(key, one.source_id, one.target_id, {
        words: one.words, weight: one.weight, source: one.source, target: one.target, denies: one.relation === "REJECTED",
        size: Math.min(4.5, 0.9 + 0.5 * Math.sqrt(one.weight)), curvature: 0.12,
      });
    }
    paint();
  }
  function paint() {
    const shade = new Map();
    for (const [kind, of] of Object.entries(ink.of)) shade.set(kind, of);
    graph.updateEachNodeAttributes((id, data) => ({
      ...data,
      color: shade.get(data.kind),
      label: data.name,
      forceLabel: (small.matches ? data.leading : data.labelled),
      zIndex: data.big ? 2 : 1,
    }));
    graph.updateEachEdgeAttributes((key, data, source, target) => {
      const near = source === center || target === center;
      return {
        ...data,
        color: data.denies ? ink.rust : near ? mixed(ink.ink, ink.paper, 0.5) : mixed(ink.edge, ink.paper, 0.38),
        label: near && data.words !== "with" ? data.words : "",
        forceLabel: near && data.words !== "with",
        zIndex: near ? 1 : 0,
      };
    });
  }

  // --- what is pointed at stands out from the rest
  function nodeReducer(id, data) {
    if (!lit || lit.has(id)) return lit ? { ...data, zIndex: 3, forceLabel: data.forceLabel || lit.size < 40 } : data;
    return { ...data, color: mixed(data.color, ink.paper, 0.25), label: "", forceLabel: false, zIndex: 0 };
  }
  function edgeReducer(key, data) {
    if (!lit) return data;
    const [source, target] = graph.extremities(key);
    if (source === lit.of || target === lit.of) return { ...data, color: data.denies ? ink.rust : ink.ink, zIndex: 2 };
    return { ...data, color: mixed(data.color, ink.paper, 0.25), label: "", forceLabel: false };
  }
  function light(id) {
    const few = graph.size <= 4000; // to shade so many anew at each move of the hand would make it stick
    lit = id && few ? new Set([id, ...graph.neighbors(id)]) : null;
    if (lit) lit.of = id;
    for (const row of document.querySelectorAll("#twin tbody tr")) {
      row.classList.toggle("lit", Boolean(id) && row.querySelector("th")?.textContent.trim() === graph.getNodeAttribute(id, "name"));
    }
    if (few) renderer.refresh({ skipIndexation: true, schedule: true });
  }

  function draw(state) {
    renderer?.kill();
    const styles = Object.fromEntries(Object.keys(DISTANCE).map((kind) => [kind, shape(kind)]));
    renderer = new Sigma(graph, stage, {
      nodeProgramClasses: styles,
      nodeHoverProgramClasses: styles,
      edgeProgramClasses: { curve: Sigma.rendering.EdgeCurveProgram, line: Sigma.rendering.EdgeLineProgram },
      defaultEdgeType: graph.size > 1500 ? "line" : "curve",
      defaultDrawNodeLabel: drawLabel,
      defaultDrawNodeHover: drawHover,
      renderEdgeLabels: graph.size <= 1500,
      enableEdgeEvents: graph.size <= 1500,
      hideEdgesOnMove: graph.size > 4000,
      hideLabelsOnMove: graph.size > 4000,
      labelFont: fonts.ui, labelSize: 13, labelWeight: "400", labelColor: { color: ink.text },
      edgeLabelFont: fonts.ui, edgeLabelSize: 11, edgeLabelColor: { color: ink.soft },
      labelRenderedSizeThreshold: 9, labelDensity: 0.6, labelGridCellSize: 90,
      minCameraRatio: 0.05, maxCameraRatio: 3, stagePadding: small.matches ? 56 : 70, zIndex: true,
      nodeReducer, edgeReducer,
      allowInvalidContainer: true, // out of sight, it has no size for a while, and the next resize draws it
    });
    if (state) renderer.getCamera().setState(state);
    renderer.on("enterNode", ({ node }) => { stage.classList.add("over"); light(node); });
    renderer.on("leaveNode", () => { stage.classList.remove("over"); light(null); });
    renderer.on("enterEdge", () => stage.classList.add("over"));
    renderer.on("leaveEdge", () => stage.classList.remove("over"));
    renderer.on("clickNode", ({ node }) => grow(node));
    renderer.on("clickEdge", ({ edge }) => {
      const at = new URL(stage.dataset.between, location.href);
      const { source, target } = graph.getEdgeAttributes(edge);
      at.searchParams.set("a", source);
      at.searchParams.set("b", target);
      location.assign(at);
    });
    window.recollectGraph = renderer; // what measures it asks this
  }

  // --- growing: the address says what was opened, so that going back takes it away
  const part = (url) => fetch(url, { headers: { "HX-Request": "true", "HX-Request-Type": "partial", Accept: "text/html" } });
  const data = (url) => fetch(url, { headers: { Accept: "application/json" } });
  async function grow(id) {
    const name = graph.getNodeAttribute(id, "name");
    const url = new URL(location.href);
    const opened = url.searchParams.getAll("grow");
    url.searchParams.delete("grow");
    const start = url.searchParams.get("from") || stage.dataset.from;
    url.searchParams.set("from", start);
    for (const one of [...opened.filter((other) => other !== name), ...(name === stage.dataset.from ? [] : [name])]) {
      url.searchParams.append("grow", one);
    }
    await show(url, true);
  }
  async function show(url, push) {
    stage.setAttribute("aria-busy", "true");
    try {
      const [told, twin] = await Promise.all([data(url), part(url)]);
      if (!told.ok || !twin.ok) return location.assign(url);
      const found = await told.json();
      const html = await twin.text();
      if (push) history.pushState({}, "", url);
      const many = graph.size > 1500;
      lit = null;
      take(found);
      if (many === graph.size > 1500) renderer.setGraph(graph);
      else draw(renderer.getCamera().getState());
      document.querySelector("#twin").outerHTML = html;
      count();
      const focus = found.focus;
      if (!calm.matches && graph.hasNode(focus)) lookAt(focus);
    } catch { location.assign(url); } finally { stage.removeAttribute("aria-busy"); }
    return undefined;
  }
  function count() {
    const [names, links] = document.querySelectorAll("#graph-count span");
    if (!names || !links) return;
    names.textContent = names.textContent.replace(/^[\d,]+/, graph.order.toLocaleString("en"));
    links.textContent = `${graph.size.toLocaleString("en")} links`;
  }
  function lookAt(id) {
    const at = renderer.getNodeDisplayData(id);
    const camera = renderer.getCamera();
    if (at && id !== center) camera.animate({ x: at.x, y: at.y, ratio: Math.min(camera.ratio, 0.8) }, { duration: 300 });
  }

  document.querySelector("#zoom").addEventListener("click", (event) => {
    const camera = renderer.getCamera();
    const how = event.target.closest("[data-zoom]")?.dataset.zoom;
    const options = { duration: calm.matches ? 0 : 200 };
    if (how === "in") camera.animatedZoom(options);
    if (how === "out") camera.animatedUnzoom(options);
    if (how === "fit") camera.animatedReset(options);
  });
  document.addEventListener("mouseover", (event) => {
    const row = event.target.closest?.("#twin tbody tr");
    if (!row || !graph) return;
    const name = row.querySelector("th").textContent.trim();
    const id = graph.findNode((_, one) => one.name === name);
    if (id) light(id);
  });
  document.addEventListener("mouseout", (event) => {
    if (lit && event.target.closest?.("#twin tbody tr")) light(null);
  });
  addEventListener("popstate", () => show(new URL(location.href), false));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    readColours();
    paint();
    draw(renderer.getCamera().getState());
  });

  (async () => {
    const answer = await data(location.href);
    if (!answer.ok) return;
    const found = await answer.json();
    readColours();
    readFonts();
    take(found);
    stage.hidden = false;
    drawing.setAttribute("hidden", "");
    document.querySelector("#zoom").hidden = false;
    draw();
    stage.dataset.ready = "true";
  })();
})();
