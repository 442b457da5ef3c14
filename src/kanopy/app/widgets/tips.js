// One box for all explanations: shown when one points at what has `data-tip`, or comes to it by keyboard. Text only.
(() => {
  const box = document.createElement('div');
  box.className = 'tip';
  box.setAttribute('role', 'tooltip');
  let now = null;
  const hide = () => { now = null; box.remove(); };
  const show = (event) => {
    const found = event.target.closest ? event.target.closest('[data-tip]') : null;
    if (found === now) return;
    hide();
    if (!found || !found.dataset.tip || (event.type === 'focusin' && !found.matches(':focus-visible'))) return;
    now = found;
    box.textContent = found.dataset.tip;
    document.body.append(box);
    const at = found.getBoundingClientRect(), below = at.bottom + 8 + box.offsetHeight < innerHeight;
    box.style.left = Math.max(6, Math.min(at.left, innerWidth - box.offsetWidth - 6)) + 'px';
    box.style.top = Math.max(6, below ? at.bottom + 8 : at.top - box.offsetHeight - 8) + 'px';
  };
  for (const kind of ['mouseover', 'focusin']) document.addEventListener(kind, show);
  for (const kind of ['focusout', 'mousedown', 'scroll']) document.addEventListener(kind, hide, true);
  document.addEventListener('keydown', (event) => { if (event.key === 'Escape') hide(); });
})();
