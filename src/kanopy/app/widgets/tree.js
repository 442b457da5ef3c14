// A hierarchy as a tree: folded where it is large, zoomed, searched, and changed by dragging a node onto another group.
// All texts are text nodes: nothing of a label is ever markup.
const ROW = 27, STEP = 184, WIDE = 156, FIRST = 60;
export default {
  template: `
  <div class="ktree">
    <div class="ktools" v-if="tools">
      <input class="ksearch" type="search" :placeholder="'Search ' + nodes.length + ' nodes'" v-model="search"
             aria-label="Search the tree" @keydown.enter.prevent="next" />
      <span class="kfound" aria-live="polite">{{ search ? found.length + ' found' : '' }}</span>
      <button type="button" @click="zoom(1.25)" aria-label="Larger">+</button>
      <button type="button" @click="zoom(0.8)" aria-label="Smaller">−</button>
      <button type="button" @click="fit">Fit</button>
      <button type="button" @click="unfoldAll">Unfold</button>
      <button type="button" @click="foldAll">Fold</button>
    </div>
    <div class="kscroll" ref="scroll" @wheel="wheel" :style="{maxHeight: height + 'px'}">
      <svg :width="width * scale" :height="tall * scale" :viewBox="'0 0 ' + width + ' ' + tall" role="tree"
           :aria-label="label" @keydown="key" @pointermove="moved" @pointerup="dropped" @pointerleave="drag = null">
        <path v-for="e in edges" :key="'e' + e.id" :d="e.d" fill="none" :style="{stroke: e.colour}" :stroke-width="e.width">
          <title>{{ e.words }}</title></path>
        <g v-for="n in seen" :key="n.id" :transform="'translate(' + n.x + ',' + n.y + ')'" role="treeitem"
           :tabindex="n.id === focus ? 0 : -1" :data-node="n.id" :aria-level="n.depth + 1" :aria-selected="isChosen(n.id)"
           :aria-expanded="n.leaf ? null : !folded[n.id]" :aria-label="spoken(n)"
           :class="['knode', {leaf: n.leaf, chosen: isChosen(n.id), hit: hits[n.id], over: drag && drag.over === n.id, small: small(n), published: n.level === level}]"
           @pointerdown="pressed($event, n)" @click="clicked($event, n)" @dblclick="toggle(n)">
          <title>{{ spoken(n) }}</title>
          <rect :width="${WIDE}" height="22" rx="6" y="-11"></rect>
          <text x="8" y="4" class="klabel">{{ cut(n.label, n.rows == null ? 24 : 19 - n.rows.toLocaleString('en').length) }}</text>
          <text :x="${WIDE} - 11" y="4" text-anchor="end" class="krows">{{ n.rows == null ? '' : n.rows.toLocaleString('en') }}</text>
          <g v-if="!n.leaf && n.children" :transform="'translate(${WIDE},0)'" @click.stop="toggle(n)" class="kfold">
            <circle r="7.5"></circle><text y="3.6" text-anchor="middle">{{ folded[n.id] ? '+' : '–' }}</text></g>
        </g>
        <g v-for="m in more" :key="'m' + m.id" :transform="'translate(' + m.x + ',' + m.y + ')'"><text x="8" y="4" class="krows">… {{ m.number.toLocaleString('en') }} more</text></g>
        <g v-if="drag && drag.moving" :transform="'translate(' + (drag.x + 8) + ',' + drag.y + ')'" class="kghost">
          <rect :width="${WIDE}" height="22" rx="6" y="-11"></rect><text x="8" y="4">{{ cut(drag.node.label, 22) }}</text></g>
      </svg>
    </div>
  </div>`,
  props: { nodes: Array, label: String, counted: String, k: Number, level: Number, editable: Boolean, tools: Boolean, height: Number },
  data() {
    return { folded: {}, scale: 1, search: '', chosen: [], focus: null, drag: null, at: 0 };
  },
  created() { this.start(); },
  mounted() { this.narrow(); },
  watch: {
    nodes(now, before) { this.start(true); if (!before.length) this.$nextTick(this.narrow); },
    search() {
      this.at = 0;
      const up = this.byId;
      for (const id of this.found) for (let n = up[id]; n && n.parent >= 0; n = up[n.parent]) this.folded[n.parent] = false;
    },
  },
  computed: {
    byId() { return Object.fromEntries(this.nodes.map((n) => [n.id, n])); },
    under() {
      const found = {};
      for (const n of this.nodes) (found[n.parent] = found[n.parent] || []).push(n);
      return found;
    },
    laid() {
      const seen = [], more = [];
      let y = 0, deepest = 0;
      const put = (n, depth) => {
        deepest = Math.max(deepest, depth);
        const open = !n.leaf && !this.folded[n.id] && this.under[n.id];
        let own;
        if (open) {
          const ys = this.under[n.id].map((c) => put(c, depth + 1));
          own = (ys[0] + ys[ys.length - 1]) / 2;
          const hidden = n.children - this.under[n.id].length;
          if (hidden > 0) { more.push({ id: n.id, x: (depth + 1) * STEP + 12, y: y * ROW + 20, number: hidden }); y += 1; deepest = Math.max(deepest, depth + 1); }
        } else { own = y * ROW + 20; y += 1; }
        seen.push({ ...n, x: depth * STEP + 12, y: own, depth });
        return own;
      };
      for (const root of this.under[-1] || []) put(root, 0);
      seen.sort((a, b) => a.depth - b.depth || a.y - b.y);
      return { seen, more, width: (deepest + 1) * STEP + 20, tall: y * ROW + 24 };
    },
    seen() { return this.laid.seen; },
    more() { return this.laid.more; },
    width() { return this.laid.width; },
    tall() { return this.laid.tall; },
    edges() {
      const at = Object.fromEntries(this.seen.map((n) => [n.id, n]));
      const most = Math.max(1, ...this.seen.map((n) => n.rows || 0));
      return this.seen.filter((n) => at[n.parent]).map((n) => {
        const p = at[n.parent], x = p.x + WIDE, mid = (x + n.x) / 2;
        const step = Math.max(0, Math.min(1, (p.loss || 0) - (n.loss || 0)));
        return {
          id: n.id, d: `M${x} ${p.y} C${mid} ${p.y} ${mid} ${n.y} ${n.x} ${n.y}`,
          colour: `color-mix(in srgb, var(--before) ${Math.round(8 + 92 * Math.sqrt(step))}%, var(--line))`,
          width: 1 + 3 * Math.sqrt((n.rows || 0) / most),
          words: p.loss == null ? '' : `${n.label} → ${p.label}: loses ${(step).toFixed(3)} more`,
        };
      });
    },
    found() {
      const wanted = this.search.trim().toLowerCase();
      return wanted ? this.nodes.filter((n) => n.label.toLowerCase().includes(wanted)).map((n) => n.id) : [];
    },
    hits() { return Object.fromEntries(this.found.map((id) => [id, true])); },
  },
  methods: {
    start(again) {
      const folded = {};
      if (this.nodes.length > FIRST) {
        // Fold whole levels from below, until what is left can be taken in.
        let seen = this.nodes.length;
        const groups = this.nodes.filter((n) => !n.leaf && n.parent >= 0);
        for (const level of [...new Set(groups.map((n) => n.level))].sort((a, b) => a - b)) {
          if (seen <= FIRST) break;
          for (const n of groups) if (n.level === level) { folded[n.id] = true; seen -= (this.under[n.id] || []).length; }
        }
      }
      if (again) {
        const before = this.lastLabels || {};
        for (const n of this.nodes) if (!n.leaf && before[n.level + n.label] !== undefined) folded[n.id] = before[n.level + n.label];
      }
      this.folded = folded;
      this.chosen = [];
      this.focus = this.nodes.length ? this.nodes[0].id : null;
      this.remember();
    },
    remember() {
      this.lastLabels = {};
      for (const n of this.nodes) if (!n.leaf) this.lastLabels[n.level + n.label] = !!this.folded[n.id];
    },
    cut(text, most) { return text.length > most ? text.slice(0, most - 1) + '…' : text; },
    spoken(n) {
      return n.label + (n.rows == null ? '' : ', ' + n.rows.toLocaleString('en') + ' ' + (this.counted || 'rows')) + (n.loss == null ? '' : ', loss ' + n.loss.toFixed(3));
    },
    small(n) { return this.k && n.rows != null && n.rows < this.k; },
    isChosen(id) { return this.chosen.includes(id); },
    toggle(n) { if (!n.leaf) { this.folded[n.id] = !this.folded[n.id]; this.remember(); } },
    foldAll() { for (const n of this.nodes) if (!n.leaf && n.parent >= 0) this.folded[n.id] = true; this.remember(); },
    unfoldAll() { for (const n of this.nodes) this.folded[n.id] = false; this.remember(); },
    zoom(by) { this.scale = Math.max(0.25, Math.min(3, this.scale * by)); },
    fit() {
      const box = this.$refs.scroll;
      this.scale = Math.max(0.25, Math.min(1.2, (box.clientWidth - 8) / this.width, (this.height - 8) / this.tall));
    },
    narrow() { // as large as the width allows, but readable
      const box = this.$refs.scroll;
      if (box && this.nodes.length) this.scale = Math.max(0.72, Math.min(1, (box.clientWidth - 8) / this.width));
    },
    wheel(event) { if (event.ctrlKey) { event.preventDefault(); this.zoom(event.deltaY < 0 ? 1.1 : 0.9); } },
    next() {
      if (!this.found.length) return;
      this.go(this.found[this.at++ % this.found.length]);
    },
    choose(n, more) {
      this.chosen = more ? (this.isChosen(n.id) ? this.chosen.filter((id) => id !== n.id) : [...this.chosen, n.id]) : [n.id];
      this.focus = n.id;
      this.$emit('choose', { ids: this.chosen });
    },
    clicked(event, n) { if (!this.justDropped) this.choose(n, event.shiftKey || event.ctrlKey || event.metaKey); this.justDropped = false; },
    point(event) {
      const box = event.currentTarget.closest('svg').getBoundingClientRect();
      return { x: (event.clientX - box.left) / this.scale, y: (event.clientY - box.top) / this.scale };
    },
    pressed(event, n) {
      if (!this.editable || event.button !== 0) return;
      const at = this.point(event);
      this.drag = { node: n, x: at.x, y: at.y, fromX: at.x, fromY: at.y, moving: false, over: null };
    },
    moved(event) {
      if (!this.drag) return;
      const at = this.point(event);
      this.drag.moving = this.drag.moving || Math.hypot(at.x - this.drag.fromX, at.y - this.drag.fromY) > 6;
      this.drag.x = at.x; this.drag.y = at.y;
      const under = this.seen.find((n) => !n.leaf && n.id !== this.drag.node.id && at.x > n.x && at.x < n.x + WIDE && Math.abs(at.y - n.y) < 13);
      this.drag.over = under ? under.id : null;
    },
    dropped() {
      if (this.drag && this.drag.moving) {
        this.justDropped = true;
        if (this.drag.over != null) this.$emit('move', { id: this.drag.node.id, under: this.drag.over });
      }
      this.drag = null;
    },
    go(id) {
      this.focus = id;
      this.$nextTick(() => {
        const shown = this.$el.querySelector(`[data-node="${id}"]`);
        if (shown) { shown.focus({ preventScroll: false }); shown.scrollIntoView({ block: 'nearest', inline: 'nearest' }); }
      });
    },
    key(event) {
      const now = this.seen.find((n) => n.id === this.focus);
      if (!now) return;
      const order = [...this.seen].sort((a, b) => a.y - b.y || a.depth - b.depth), at = order.indexOf(now);
      const steps = {
        ArrowDown: () => order[at + 1] && this.go(order[at + 1].id),
        ArrowUp: () => order[at - 1] && this.go(order[at - 1].id),
        ArrowRight: () => (this.folded[now.id] ? this.toggle(now) : this.under[now.id] && this.go(this.under[now.id][0].id)),
        ArrowLeft: () => (!now.leaf && !this.folded[now.id] ? this.toggle(now) : now.parent >= 0 && this.go(now.parent)),
        Enter: () => this.choose(now, event.shiftKey),
        ' ': () => this.choose(now, true),
      };
      if (steps[event.key]) { event.preventDefault(); steps[event.key](); }
    },
  },
};
