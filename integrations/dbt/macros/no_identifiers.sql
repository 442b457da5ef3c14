{#
  A generic test: no column of the relation identifies people. Fails with one row per column and reason:

  - `forbidden`: a column that has one of these names, whatever their case;
  - `an address`: a value looks like an e-mail address;
  - `different in most rows`: a text column in which more than `most_unique` of the values occur once.

  models:
    - name: release
      data_tests:
        - kanopy.no_identifiers: { arguments: { forbidden: [name, born, patient_id], except: [remark] } }

  `except` names columns that are looked at by somebody else. The test knows texts and names, not meaning: `kanopy init`
  weighs more evidence.
#}
{% test no_identifiers(model, forbidden=[], except=[], most_unique=0.5) %}
{%- set names = forbidden | map("lower") | list -%}
{%- set excepted = except | map("lower") | list -%}
{%- set reasons = [] -%}
{%- if execute -%}
  {%- for column in adapter.get_columns_in_relation(model) -%}
    {%- set text = "'" ~ column.name | replace("'", "''") ~ "'" -%}
    {%- set quoted = adapter.quote(column.name) -%}
    {%- if column.name | lower in excepted -%}
    {%- elif column.name | lower in names -%}
      {%- do reasons.append("select " ~ text ~ " as found_in, 'forbidden' as reason") -%}
    {%- elif column.is_string() -%}
      {%- do reasons.append(
        "select " ~ text ~ ", 'an address' from " ~ model ~ " where " ~ quoted ~ " like '%_@_%._%' having count(*) > 0"
      ) -%}
      {%- do reasons.append(
        "select " ~ text ~ ", 'different in most rows' from (select count(*) as times from " ~ model ~ " where " ~ quoted
        ~ " is not null group by " ~ quoted ~ ") as counted"
        ~ " having sum(case when times = 1 then 1 else 0 end) > " ~ most_unique ~ " * sum(times)"
      ) -%}
    {%- endif -%}
  {%- endfor -%}
{%- endif -%}
{%- if reasons %}
{{ reasons | join("\nunion all\n") }}
{%- else %}
select 'nothing' as found_in, 'nothing' as reason where 1 = 0
{%- endif %}
{% endtest %}
