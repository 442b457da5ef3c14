{#
  A generic test: every published combination of the quasi-identifiers is shared by at least k rows, or by k different
  units (people, households) where `unit` names a column. Fails with the combinations that too few share.

  models:
    - name: release
      data_tests:
        - kanopy.k_anonymous: { arguments: { quasi: [age, sex, region], k: 5, unit: patient } }

  Rows with `*` in every quasi-identifier are suppressed and belong to no combination.
#}
{% test k_anonymous(model, quasi, k, unit=none) %}
select
{%- for column in quasi %}
  {{ adapter.quote(column) }},
{%- endfor %}
  {% if unit is none %}count(*){% else %}count(distinct {{ adapter.quote(unit) }}){% endif %} as shared_by
from {{ model }}
where not (
{%- for column in quasi %}
  coalesce(cast({{ adapter.quote(column) }} as {{ dbt.type_string() }}), '') = '*'{{ " and" if not loop.last }}
{%- endfor %}
)
group by {{ range(1, quasi | length + 1) | join(", ") }}
having {% if unit is none %}count(*){% else %}count(distinct {{ adapter.quote(unit) }}){% endif %} < {{ k }}
{% endtest %}
