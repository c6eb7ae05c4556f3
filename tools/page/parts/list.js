// --- lists of any length -------------------------------------------------

// virtual makes a list that draws only the rows in sight. A row's cells come from draw; what only
// a screen reader needs beside them, from words.
function virtual(id, height, draw, pick, words) {
  const box = $(id), inner = el('div', { class: 'inner', role: 'presentation' });
  box.replaceChildren(inner);
  let items = [], chosen = -1, waiting = false;
  const rows = () => Math.max(1, Math.floor(box.clientHeight / height));

  function show() {
    waiting = false;
    inner.style.height = items.length * height + 'px';
    const first = Math.max(0, Math.floor(box.scrollTop / height) - 4), last = Math.min(items.length, first + rows() + 9), seen = [];
    for (let i = first; i < last; i++) {
      const row = el('div', { class: 'row', role: 'option', id: `${id}-${i}`, 'aria-selected': i === chosen, 'aria-setsize': items.length, 'aria-posinset': i + 1 }, ...draw(items[i], i), el('span', { class: 'aside' }, words ? words(items[i]) : ''));
      row.style.top = i * height + 'px';
      row.style.height = height + 'px';
      row.addEventListener('click', () => choose(i));
      seen.push(row);
    }
    inner.replaceChildren(...seen);
    if (chosen >= first && chosen < last) box.setAttribute('aria-activedescendant', `${id}-${chosen}`);
    else box.removeAttribute('aria-activedescendant');
  }
  const soon = () => { if (!waiting) { waiting = true; requestAnimationFrame(show); } };

  function choose(i) {
    if (!items.length) return;
    chosen = Math.min(Math.max(i, 0), items.length - 1);
    const top = chosen * height;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + height > box.scrollTop + box.clientHeight) box.scrollTop = top + height - box.clientHeight;
    show();
    pick(items[chosen], chosen);
  }

  box.addEventListener('scroll', soon, { passive: true });
  new ResizeObserver(soon).observe(box);
  box.addEventListener('keydown', (e) => {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: rows(), PageUp: -rows(), Home: -1e9, End: 1e9 }[e.key];
    if (step === undefined) return;
    e.preventDefault();
    choose(chosen < 0 && step < 1e9 ? 0 : chosen + step);
  });
  return {
    set(list, same) { // same finds the item that was chosen before
      items = list;
      chosen = same ? list.findIndex(same) : -1;
      if (!same) box.scrollTop = 0;
      box.classList.toggle('empty', !list.length);
      show();
    },
    choose,
    size: () => items.length,
  };
}
