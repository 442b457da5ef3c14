{#
  A generic test: no cell of a published table of counts is small. A cell of 0 may be published.

  models:
    - name: cases_by_region
      data_tests:
        - kanopy.small_cells: { arguments: { count: cases, least: 5 } }            # a column of counts
    - name: release
      data_tests:
        - kanopy.small_cells: { arguments: { by: [region, diagnosis], least: 5 } } # rows, counted here

  Fails with the cells that are smaller. Small cells can also be computed from totals: `kanopy cells` audits this.
#}
{% test small_cells(model, least, count=none, by=none) %}
{%- if (count is none) == (by is none) -%}
  {{ exceptions.raise_compiler_error("small_cells needs either count (a column of counts) or by (columns to count by).") }}
{%- endif -%}
{%- if count is not none %}
select *
from {{ model }}
where {{ adapter.quote(count) }} <> 0 and {{ adapter.quote(count) }} < {{ least }}
{%- else %}
select
{%- for column in by %}
  {{ adapter.quote(column) }},
{%- endfor %}
  count(*) as cell
from {{ model }}
group by {{ range(1, by | length + 1) | join(", ") }}
having count(*) < {{ least }}
{%- endif %}
{% endtest %}
