// A table of texts. A cell is a text, nothing (null), a list of short texts, or what it was and what it became.
export default {
  template: `
  <table class="grid">
    <thead><tr><th v-for="(c, i) in columns" :key="i" scope="col" :class="c.align" :data-tip="c.tip || null">{{ c.text }}</th></tr></thead>
    <tbody><tr v-for="(row, r) in rows" :key="r">
      <td v-for="(cell, i) in row" :key="i" :class="kind(cell, i)">
        <template v-if="cell === null">–</template>
        <template v-else-if="typeof cell === 'string'">{{ cell }}</template>
        <template v-else-if="Array.isArray(cell)"><span v-for="(text, n) in cell" :key="n" class="chip">{{ text }}</span></template>
        <template v-else><div class="was">{{ cell.was === null ? '–' : cell.was }}</div><div class="now">{{ cell.now === null ? '–' : cell.now }}</div></template>
      </td></tr></tbody>
  </table>`,
  props: { columns: Array, rows: Array },
  methods: {
    kind(cell, i) {
      const own = cell !== null && typeof cell === 'object' ? (Array.isArray(cell) ? 'chips' : 'changed') : '';
      return [this.columns[i] && this.columns[i].align, own];
    },
  },
};
