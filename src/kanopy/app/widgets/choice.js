// One of a few words. It answers at once, and follows what the server says later.
export default {
  template: `
  <div class="kchoice" role="group">
    <button v-for="o in options" :key="o.value" type="button" :aria-pressed="o.value === now ? 'true' : 'false'"
            :tabindex="stop ? 0 : -1" :class="{here: o.value === now}" @click="choose(o.value)">{{ o.text }}</button>
  </div>`,
  props: { modelValue: String, options: Array, stop: { type: Boolean, default: true } },
  emits: ['update:modelValue'],
  data() { return { now: this.modelValue }; },
  watch: { modelValue(value) { this.now = value; } },
  methods: { choose(value) { if (value !== this.now) { this.now = value; this.$emit('update:modelValue', value); } } },
};
