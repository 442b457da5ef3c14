// Points in a plane, to look at, to walk over with the keyboard, and to choose from. Texts are text nodes.
const L = 58, R = 14, T = 12, B = 42;
export default {
  template: `
  <div class="kpoints" ref="box">
    <svg :width="w" :height="height" :aria-label="label" role="group" @keydown="key">
      <g v-for="t in xticks" :key="'x' + t.at"><line :x1="t.at" :x2="t.at" y1="${T}" :y2="height - ${B}" class="kgrid"/>
        <text :x="t.at" :y="height - ${B} + 16" text-anchor="middle" class="ktick">{{ t.text }}</text></g>
      <g v-for="t in yticks" :key="'y' + t.at"><line x1="${L}" :x2="w - ${R}" :y1="t.at" :y2="t.at" class="kgrid"/>
        <text x="${L - 8}" :y="t.at + 4" text-anchor="end" class="ktick">{{ t.text }}</text></g>
      <text :x="(w + ${L}) / 2" :y="height - 6" text-anchor="middle" class="kaxis">{{ xname }}</text>
      <text :transform="'translate(13,' + (height - ${B}) / 2 + ') rotate(-90)'" text-anchor="middle" class="kaxis">{{ yname }}</text>
      <line v-if="mark != null" :x1="px(mark)" :x2="px(mark)" y1="${T}" :y2="height - ${B}" class="kmark"><title>limit</title></line>
      <polyline v-if="front.length > 1" :points="front" class="kfront"/>
      <g v-for="p in order" :key="p.n" role="button" :tabindex="p.n === focus ? 0 : -1" :data-point="p.n" :aria-label="p.words"
         :class="['kpoint', 's' + (p.series || 0), {best: p.best, own: p.own, chosen: p.n === chosen}]" @click="choose(p)">
        <circle :cx="px(p.x)" :cy="py(p.y)" :r="p.own ? 8 : p.best ? 5.5 : points.length > 400 ? 2.6 : 4.5"/><title>{{ p.words }}</title></g>
    </svg>
    <div class="legend" v-if="series && series.length"><span v-for="(s, i) in series" :key="i"><b :class="['kdot', points.some((p) => p.own && (p.series || 0) === i) ? 'own' : 's' + i]"></b>{{ s }}</span></div>
  </div>`,
  props: { points: Array, label: String, xname: String, yname: String, log: Boolean, percent: Boolean, mark: Number, height: Number, series: Array },
  data() { return { w: 640, focus: 0, chosen: null }; },
  mounted() {
    this.watcher = new ResizeObserver(() => { this.w = Math.max(320, this.$refs.box.clientWidth); });
    this.watcher.observe(this.$refs.box);
  },
  unmounted() { this.watcher.disconnect(); },
  watch: { points() { this.chosen = null; this.focus = 0; } },
  computed: {
    numbered() { return this.points.map((p, n) => ({ ...p, n })); },
    order() { return [...this.numbered].sort((a, b) => (a.own ? 2 : a.best ? 1 : 0) - (b.own ? 2 : b.best ? 1 : 0)); },
    xs() { return this.range(this.points.map((p) => p.x), this.log); },
    ys() { return this.range(this.points.map((p) => p.y), false); },
    front() {
      const found = this.numbered.filter((p) => p.best).sort((a, b) => a.x - b.x || b.y - a.y);
      return found.map((p) => this.px(p.x) + ',' + this.py(p.y)).join(' ');
    },
    xticks() {
      const some = this.log ? [...new Set(this.points.map((p) => p.x))].sort((a, b) => a - b) : this.even(this.xs);
      const step = Math.ceil(some.length / 8);
      let last = -99;
      return some.filter((_, i) => i % step === 0).map((v) => ({ at: this.px(v), text: this.percent ? this.short(100 * v) + ' %' : this.short(v) }))
        .filter((t) => { const keep = t.at - last > 46; if (keep) last = t.at; return keep; });
    },
    yticks() { return this.even(this.ys).map((v) => ({ at: this.py(v), text: this.short(v) })); },
  },
  methods: {
    range(values, log) {
      let low = Math.min(...values), high = Math.max(...values);
      if (!values.length) return [0, 1];
      if (low === high) { low = log ? low / 2 : low - 0.05; high = log ? high * 2 : high + 0.05; }
      const pad = log ? 1.15 : (high - low) * 0.06;
      return log ? [low / pad, high * pad] : [low >= 0 ? Math.max(0, low - pad) : low - pad, high + pad];
    },
    even([low, high]) {
      const rough = (high - low) / 5, ten = 10 ** Math.floor(Math.log10(rough)), step = ten * ([1, 2, 5, 10].find((m) => m * ten >= rough) || 10);
      const found = [];
      for (let v = Math.ceil(low / step) * step; v <= high; v += step) found.push(+v.toPrecision(12));
      return found;
    },
    short(v) { return Math.abs(v) >= 100 ? v.toFixed(0) : String(+v.toPrecision(2)); },
    px(v) {
      const [a, b] = this.xs, t = this.log ? (Math.log(v) - Math.log(a)) / (Math.log(b) - Math.log(a)) : (v - a) / (b - a);
      return L + t * (this.w - L - R);
    },
    py(v) { const [a, b] = this.ys; return this.height - B - ((v - a) / (b - a)) * (this.height - T - B); },
    choose(p) { this.chosen = p.n; this.focus = p.n; this.$emit('choose', { number: p.n }); },
    key(event) {
      const by = [...this.numbered].sort((a, b) => a.x - b.x || a.y - b.y), at = by.findIndex((p) => p.n === this.focus);
      const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: by.length - 1 }[event.key];
      if (to !== undefined && by[to]) {
        event.preventDefault();
        this.focus = by[to].n;
        this.$nextTick(() => this.$el.querySelector(`[data-point="${this.focus}"]`).focus());
      } else if ((event.key === 'Enter' || event.key === ' ') && by[at]) { event.preventDefault(); this.choose(by[at]); }
    },
  },
};
