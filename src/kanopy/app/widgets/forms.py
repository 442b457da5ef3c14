"""A form made from declared parameters: one field per parameter, and what was entered as plain data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nicegui import ui

from kanopy._errors import JobError
from kanopy.app.widgets.elements import button
from kanopy.app.widgets.fields import choice_field, fields, number_field, text_field, tick_field

Field = Mapping[str, Any]
UNSAID: tuple[Any, ...] = ("", None, [], {})


class Form:
    """Fields for parameters (`tasks.catalogue.fields_of`); `changed` is called when one of them was changed.

    `columns` are offered where a parameter names columns, `values` gives the values of a column where one names those.
    """

    def __init__(
        self,
        parameters: Sequence[Field],
        *,
        columns: Sequence[str] = (),
        values: Sequence[str] = (),
        given: Mapping[str, Any] | None = None,
        changed: Callable[[], Any] = lambda: None,
    ) -> None:
        self._parameters, self._columns, self._changed = parameters, list(columns), changed
        self._values = list(values)
        self._given = given or {}
        self._read: dict[str, Callable[[], Any]] = {}
        first = [parameter for parameter in parameters if not parameter.get("advanced")]
        more = [parameter for parameter in parameters if parameter.get("advanced")]
        with fields():
            for parameter in first:
                self._field(parameter)
        if more:
            with ui.expansion("More").props("dense").classes("advanced"), fields():
                for parameter in more:
                    self._field(parameter)

    def given(self) -> dict[str, Any]:
        """What was entered, without what is left as it is by default; `JobError` if something is missing."""
        values_given = {}
        for parameter in self._parameters:
            value = self._read[parameter["name"]]()
            if value in UNSAID:
                if parameter["required"]:
                    raise JobError(f"Enter {parameter['label']}: {parameter['meaning']}.")
                continue
            if value != parameter["default"] or parameter["required"]:
                values_given[parameter["name"]] = value
        return values_given

    def complete(self) -> dict[str, Any] | None:
        """What was entered, or nothing while something is missing."""
        try:
            return self.given()
        except JobError:
            return None

    # ---- one field ------------------------------------------------------------------------------------------

    def _field(self, parameter: Field) -> None:
        name, label = str(parameter["name"]), str(parameter["label"])
        value = self._given.get(name, parameter["default"])
        self._read[name] = getattr(self, f"_of_{parameter['kind']}")(parameter, label[:1].upper() + label[1:], value)

    def _watched(self, element: Any) -> Any:
        element.on_value_change(lambda: self._changed())
        return element

    def _of_number(self, parameter: Field, label: str, value: Any) -> Callable[[], Any]:
        step = 1 if parameter["whole"] else 0.1
        element = number_field(label, value, low=parameter.get("low"), step=step, suffix=parameter.get("unit", ""),
                             hint=parameter["meaning"])  # fmt: skip
        self._watched(element)

        def read() -> Any:
            if element.value is None:
                return None
            return _whole(float(element.value))

        return read

    def _of_share(self, parameter: Field, label: str, value: Any) -> Callable[[], Any]:
        percent = None if value is None else round(100 * float(value), 10)
        element = self._watched(number_field(label, percent, low=0, step=0.5, suffix="%", hint=parameter["meaning"]))
        return lambda: None if element.value is None else round(float(element.value) / 100, 12)

    def _of_flag(self, parameter: Field, label: str, value: Any) -> Callable[[], Any]:
        element = self._watched(tick_field(label, bool(value), hint=parameter["meaning"]))
        return lambda: bool(element.value)

    def _of_one(self, parameter: Field, label: str, value: Any) -> Callable[[], Any]:
        options = {
            **({"": "as usual"} if parameter.get("empty") else {}),
            **{name: name for name in parameter["options"]},
        }
        element = self._watched(choice_field(label, options, value or "" if "" in options else value,
                                           hint=parameter["meaning"]))  # fmt: skip
        return lambda: element.value

    def _of_several(self, parameter: Field, label: str, value: Any) -> Callable[[], Any]:
        element = self._watched(
            choice_field(label, parameter["options"], list(value or []), several=True, hint=parameter["meaning"])
        )
        return lambda: [name for name in parameter["options"] if name in (element.value or [])]

    def _of_column(self, parameter: Field, label: str, value: Any) -> Callable[[], Any]:
        chosen_column = (
            value if value in self._columns else self._columns[0] if parameter["required"] and self._columns else ""
        )
        options = self._columns if parameter["required"] else {"": "none", **{name: name for name in self._columns}}
        element = self._watched(choice_field(label, options, chosen_column or None, hint=parameter["meaning"]))
        return lambda: element.value or None

    def _of_columns(self, parameter: Field, label: str, value: Any) -> Callable[[], Any]:
        element = self._watched(
            choice_field(label, self._columns, [name for name in value or [] if name in self._columns], several=True,
                         hint=parameter["meaning"])
        )  # fmt: skip
        return lambda: list(element.value or [])

    def _of_text(self, parameter: Field, label: str, value: Any) -> Callable[[], Any]:
        element = self._watched(text_field(label, str(value or ""), hint=parameter["meaning"]))
        return lambda: str(element.value or "")

    def _of_texts(self, parameter: Field, label: str, value: Any) -> Callable[[], Any]:
        if not self._values:
            return self._tags(parameter, label, [str(one) for one in value or []], str)
        element = choice_field(label, self._values, [one for one in value or [] if one in self._values], several=True,
                             hint=f"{parameter['meaning']}, in the order in which they are chosen")  # fmt: skip
        self._watched(element)
        return lambda: list(element.value or [])

    def _of_list(self, parameter: Field, label: str, value: Any) -> Callable[[], Any]:
        return self._tags(parameter, label, [f"{one:g}" if isinstance(one, float) else str(one) for one in value or []],
                          _number_of)  # fmt: skip

    def _tags(self, parameter: Field, label: str, given: list[str], read: Callable[[str], Any]) -> Callable[[], Any]:
        """Several values, each added with Enter."""
        element = ui.select(list(given), label=f"{label}, each with Enter", value=given, multiple=True,
                          new_value_mode="add-unique").props("outlined dense use-chips").classes("field")  # fmt: skip
        element.props["data-tip"] = parameter["meaning"]
        self._watched(element)
        return lambda: [read(str(one)) for one in element.value or []]

    def _of_pairs(self, parameter: Field, label: str, value: Any) -> Callable[[], Any]:
        return self._lines(label, parameter, dict(value or {}), "Name", bool(parameter.get("number")))

    def _of_groups(self, parameter: Field, label: str, value: Any) -> Callable[[], Any]:
        """Names with the values below each of them."""
        lines: list[tuple[Any, Any]] = []
        with ui.element("div").classes("stack tight field"):
            ui.label(f"{label}: {parameter['meaning']}").classes("muted small")
            box = ui.element("div").classes("stack tight")

            def add(key: str = "", values_of_group: Sequence[str] = ()) -> None:
                with box, fields():
                    one = self._watched(text_field("Name of the group", key))
                    other = self._watched(choice_field("Values", self._values, list(values_of_group), several=True))
                lines.append((one, other))

            for key, values_of_group in (dict(value) or {"": ()}).items():
                add(str(key), [value_of_group for value_of_group in values_of_group if value_of_group in self._values])
            button("Add a group", lambda: add(), icon="add")
        return lambda: {
            str(one.value).strip(): list(other.value)
            for one, other in lines
            if str(one.value or "").strip() and other.value
        }

    def _of_sizes(self, parameter: Field, label: str, value: Any) -> Callable[[], Any]:
        pairs = [text.split(":") for text in value.split(",")] if isinstance(value, str) else value
        given = dict(pairs) if pairs else {2: 5}
        read = self._lines("Columns and rows", parameter, given, "Columns together", number=True)
        return lambda: {str(name): int(number) for name, number in read().items()}

    def _lines(
        self, label: str, parameter: Field, given: dict[Any, Any], name: str, number: bool
    ) -> Callable[[], dict[str, Any]]:
        """Pairs of a name and a value, a line each."""
        lines: list[tuple[Any, Any]] = []
        with ui.element("div").classes("stack tight field"):
            ui.label(f"{label}: {parameter['meaning']}").classes("muted small")
            box = ui.element("div").classes("stack tight")

            def add(key: Any = "", value: Any = None) -> None:
                with box, fields():
                    one = self._watched(text_field(name, str(key)))
                    other = self._watched(
                        number_field("Value", None if value is None else float(value))
                        if number
                        else text_field("Value", str(value or ""))
                    )
                lines.append((one, other))

            for key, value in given.items():
                add(key, value if number or isinstance(value, str) else ", ".join(map(str, value)))
            button("Add a line", lambda: add(), icon="add")
        return lambda: {
            str(one.value).strip(): _whole(other.value) if number else str(other.value)
            for one, other in lines if str(one.value or "").strip() and other.value not in (None, "")
        }  # fmt: skip


def _number_of(text: str) -> Any:
    try:
        return _whole(float(text))
    except ValueError:
        return text.strip()


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value
