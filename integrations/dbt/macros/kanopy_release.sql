{#
  A materialization: the model is a statement of `kanopy anonymize … --emit-sql`, and the table is what it selects.

  `python as_model.py release.sql models/release.sql --ref people` makes such a model. The new table takes the place of
  the old one only when it is complete.
#}
{% materialization kanopy_release, default %}
  {%- set cut = modules.re.match("(?is)(?:\\s|--[^\\n]*\\n)*create\\s+table\\s.+?\\sas\\s+(with\\s.*)", sql) -%}
  {%- if cut is none -%}
    {{ exceptions.raise_compiler_error("This model is no statement of `kanopy anonymize --emit-sql`.") }}
  {%- endif -%}
  {%- set query = cut.group(1).strip().rstrip(";") -%}
  {%- set target = this.incorporate(type="table") -%}
  {%- set fresh = make_intermediate_relation(target) -%}
  {%- set old = load_cached_relation(this) -%}
  {{ run_hooks(pre_hooks) }}
  {% do adapter.drop_relation(fresh) %}
  {% call statement("main") -%}
    {{ get_create_table_as_sql(False, fresh, query) }}
  {%- endcall %}
  {% if old is not none %}{% do adapter.drop_relation(old) %}{% endif %}
  {% do adapter.rename_relation(fresh, target) %}
  {{ run_hooks(post_hooks) }}
  {% do adapter.commit() %}
  {{ return({"relations": [target]}) }}
{% endmaterialization %}
