{#
  A generic test: every published combination of the quasi-identifiers has at least l different values of a sensitive
  column (distinct l-diversity). Fails with the combinations that have fewer.

  models:
    - name: release
      data_tests:
        - kanopy.l_diverse: { arguments: { quasi: [age, sex, region], sensitive: diagnosis, l: 3 } }

  A missing value is no value. Suppressed rows (`*` in every quasi-identifier) are judged like any other combination,
  because they show sensitive values too.
#}
{% test l_diverse(model, quasi, sensitive, l) %}
select
{%- for column in quasi %}
  {{ adapter.quote(column) }},
{%- endfor %}
  count(distinct {{ adapter.quote(sensitive) }}) as different_values
from {{ model }}
group by {{ range(1, quasi | length + 1) | join(", ") }}
having count(distinct {{ adapter.quote(sensitive) }}) < {{ l }}
{% endtest %}
