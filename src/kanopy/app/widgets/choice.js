// One of a few words. It answers at once, and follows what the server says later.
export default {
  template: `
  <div class="kchoice" role="group" @keydown="key">
    <button v-for="o in options" :key="o.value" type="button" :aria-pressed="o.value === now ? 'true' : 'false'"
            :tabindex="stop && o.value === (focus || now) ? 0 : -1" :class="{here: o.value === now}" @click="choose(o.value)">{{ o.text }}</button>
  </div>`,
  props: { modelValue: String, options: Array, stop: { type: Boolean, default: true } },
  emits: ['update:modelValue'],
  data() { return { now: this.modelValue, focus: '' }; },
  watch: { modelValue(value) { this.now = value; } },
  methods: {
    // One stop of the keyboard: the arrow keys go from word to word.
    key(event) {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key], words = [...this.$el.querySelectorAll('button')];
      const to = this.stop && step && words[words.indexOf(event.target) + step];
      if (to) { event.preventDefault(); this.focus = this.options[words.indexOf(to)].value; to.focus(); }
    },
    choose(value) { if (value !== this.now) { this.now = value; this.$emit('update:modelValue', value); } },
  },
};
