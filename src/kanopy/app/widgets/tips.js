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
// Columns of the table are one stop of the keyboard: arrows go from line to line, digits press a button of the line.
document.addEventListener('keydown', (event) => {
  const box = event.target;
  if (!box.matches || !box.matches('.columns')) return;
  const lines = [...box.querySelectorAll('.column-line:not(.column-head)')];
  let at = Math.max(0, lines.findIndex((line) => line.classList.contains('current')));
  const digit = /^[1-9]$/.test(event.key) && !event.altKey && !event.ctrlKey && !event.metaKey ? Number(event.key) : 0;
  if (digit) {
    const button = lines[at] && lines[at].querySelectorAll('.kchoice button')[digit - 1];
    if (!button) return;
    button.click();
    at = Math.min(at + 1, lines.length - 1);
  } else if (event.key === 'ArrowDown') at = Math.min(at + 1, lines.length - 1);
  else if (event.key === 'ArrowUp') at = Math.max(at - 1, 0);
  else return;
  event.preventDefault();
  lines.forEach((line, i) => line.classList.toggle('current', i === at));
  if (lines[at]) lines[at].scrollIntoView({ block: 'nearest' });
});
// The buttons of a pager are one stop: arrows go from button to button.
document.addEventListener('keydown', (event) => {
  const box = event.target.closest ? event.target.closest('.pager') : null, step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!box || !step) return;
  const buttons = [...box.querySelectorAll('button:not([disabled])')], to = buttons[buttons.indexOf(event.target.closest('button')) + step];
  if (to) { event.preventDefault(); to.focus(); }
});
