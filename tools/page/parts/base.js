// --- what all tabs use ----------------------------------------------------

// Text goes into the page as text only, whoever wrote it: el and svg set attributes and append text nodes.
const $ = (id) => document.getElementById(id);

const count = (n) => n.toLocaleString('en-US');
const many = (n, thing) => `${count(n)} ${thing}${n === 1 ? '' : 's'}`;
const short = (n) => {
  for (const [unit, size] of [['G', 1e9], ['M', 1e6], ['k', 1e3]]) if (Math.abs(n) >= size) return +(n / size).toPrecision(3) + unit;
  return String(n);
};
const span = (us) => us < 1000 ? us + ' µs' : us < 1e6 ? +(us / 1e3).toPrecision(3) + ' ms' : us < 6e8 ? +(us / 1e6).toPrecision(3) + ' s' : Math.round(us / 6e7) + ' min';
const percent = (share) => (100 * share).toFixed(1) + '%';
const when = (ms) => new Date(ms).toISOString().replace('T', ' ').slice(0, 19);

// el makes an element; children are elements or text. The policy forbids the attribute style, but not its object.
const el = (name, attributes, ...children) => filled(document.createElement(name), attributes, children);
const svg = (name, attributes, ...children) => filled(document.createElementNS('http://www.w3.org/2000/svg', name), attributes, children);
function filled(e, attributes, children) {
  for (const [k, v] of Object.entries(attributes || {})) {
    if (k === 'style') e.style.cssText = v;
    else if (v !== undefined) e.setAttribute(k, v);
  }
  e.append(...children.filter((c) => c !== undefined));
  return e;
}
const cell = (text, kind) => el('td', { class: kind }, text);
function table(id, heads, lines) {
  if ($(id).classList.contains('cards')) { // where there is no room for columns
    for (const cells of lines) cells.forEach((c, i) => { c.dataset.head = heads[i].replace('#', ''); });
  }
  $(id).replaceChildren(
    el('thead', {}, el('tr', {}, ...heads.map((h) => el('th', { class: h.startsWith('#') ? 'num' : undefined, scope: 'col' }, h.replace('#', ''))))),
    el('tbody', {}, ...lines.map((cells) => el('tr', {}, ...cells))));
}

function tabs(id, names, current, pick) {
  $(id).replaceChildren(...names.map((name) => {
    const b = el('button', { type: 'button', 'aria-pressed': name === current() }, name);
    b.addEventListener('click', () => { pick(name); tabs(id, names, current, pick); });
    return b;
  }));
}

function pickable(g, pick) {
  g.addEventListener('click', pick);
  g.addEventListener('keydown', (e) => { if (e.key === 'Enter' || e.key === ' ') { e.preventDefault(); pick(); } });
}

