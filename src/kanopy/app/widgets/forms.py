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
        first = [each for each in parameters if not each.get("advanced")]
        more = [each for each in parameters if each.get("advanced")]
        with fields():
            for each in first:
                self._field(each)
        if more:
            with ui.expansion("More").props("dense").classes("advanced"), fields():
                for each in more:
                    self._field(each)

    def given(self) -> dict[str, Any]:
        """What was entered, without what is left as it is by default; `JobError` if something is missing."""
        found = {}
        for each in self._parameters:
            value = self._read[each["name"]]()
            if value in UNSAID:
                if each["required"]:
                    raise JobError(f"Enter {each['label']}: {each['meaning']}.")
                continue
            if value != each["default"] or each["required"]:
                found[each["name"]] = value
        return found

    def complete(self) -> dict[str, Any] | None:
        """What was entered, or nothing while something is missing."""
        try:
            return self.given()
        except JobError:
            return None

    # ---- one field ------------------------------------------------------------------------------------------

    def _field(self, each: Field) -> None:
        name, label = str(each["name"]), str(each["label"])
        value = self._given.get(name, each["default"])
        self._read[name] = getattr(self, f"_of_{each['kind']}")(each, label[:1].upper() + label[1:], value)

    def _watched(self, shown: Any) -> Any:
        shown.on_value_change(lambda: self._changed())
        return shown

    def _of_number(self, each: Field, label: str, value: Any) -> Callable[[], Any]:
        step = 1 if each["whole"] else 0.1
        shown = number_field(label, value, low=each.get("low"), step=step, suffix=each.get("unit", ""),
                             hint=each["meaning"])  # fmt: skip
        self._watched(shown)

        def read() -> Any:
            if shown.value is None:
                return None
            return _whole(float(shown.value))

        return read

    def _of_share(self, each: Field, label: str, value: Any) -> Callable[[], Any]:
        percent = None if value is None else round(100 * float(value), 10)
        shown = self._watched(number_field(label, percent, low=0, step=0.5, suffix="%", hint=each["meaning"]))
        return lambda: None if shown.value is None else round(float(shown.value) / 100, 12)

    def _of_flag(self, each: Field, label: str, value: Any) -> Callable[[], Any]:
        shown = self._watched(tick_field(label, bool(value), hint=each["meaning"]))
        return lambda: bool(shown.value)

    def _of_one(self, each: Field, label: str, value: Any) -> Callable[[], Any]:
        options = {**({"": "as usual"} if each.get("empty") else {}), **{name: name for name in each["options"]}}
        shown = self._watched(choice_field(label, options, value or "" if "" in options else value,
                                           hint=each["meaning"]))  # fmt: skip
        return lambda: shown.value

    def _of_several(self, each: Field, label: str, value: Any) -> Callable[[], Any]:
        shown = self._watched(
            choice_field(label, each["options"], list(value or []), several=True, hint=each["meaning"])
        )
        return lambda: [name for name in each["options"] if name in (shown.value or [])]

    def _of_column(self, each: Field, label: str, value: Any) -> Callable[[], Any]:
        known = value if value in self._columns else self._columns[0] if each["required"] and self._columns else ""
        options = self._columns if each["required"] else {"": "none", **{name: name for name in self._columns}}
        shown = self._watched(choice_field(label, options, known or None, hint=each["meaning"]))
        return lambda: shown.value or None

    def _of_columns(self, each: Field, label: str, value: Any) -> Callable[[], Any]:
        shown = self._watched(
            choice_field(label, self._columns, [name for name in value or [] if name in self._columns], several=True,
                         hint=each["meaning"])
        )  # fmt: skip
        return lambda: list(shown.value or [])

    def _of_text(self, each: Field, label: str, value: Any) -> Callable[[], Any]:
        shown = self._watched(text_field(label, str(value or ""), hint=each["meaning"]))
        return lambda: str(shown.value or "")

    def _of_texts(self, each: Field, label: str, value: Any) -> Callable[[], Any]:
        if not self._values:
            return self._tags(each, label, [str(one) for one in value or []], str)
        shown = choice_field(label, self._values, [one for one in value or [] if one in self._values], several=True,
                             hint=f"{each['meaning']}, in the order in which they are chosen")  # fmt: skip
        self._watched(shown)
        return lambda: list(shown.value or [])

    def _of_list(self, each: Field, label: str, value: Any) -> Callable[[], Any]:
        return self._tags(each, label, [f"{one:g}" if isinstance(one, float) else str(one) for one in value or []],
                          _number_of)  # fmt: skip

    def _tags(self, each: Field, label: str, given: list[str], read: Callable[[str], Any]) -> Callable[[], Any]:
        """Several values, each added with Enter."""
        shown = ui.select(list(given), label=f"{label}, each with Enter", value=given, multiple=True,
                          new_value_mode="add-unique").props("outlined dense use-chips").classes("field")  # fmt: skip
        shown.props["data-tip"] = each["meaning"]
        self._watched(shown)
        return lambda: [read(str(one)) for one in shown.value or []]

    def _of_pairs(self, each: Field, label: str, value: Any) -> Callable[[], Any]:
        return self._lines(label, each, dict(value or {}), "Name", bool(each.get("number")))

    def _of_groups(self, each: Field, label: str, value: Any) -> Callable[[], Any]:
        """Names with the values below each of them."""
        lines: list[tuple[Any, Any]] = []
        with ui.element("div").classes("stack tight field"):
            ui.label(f"{label}: {each['meaning']}").classes("muted small")
            box = ui.element("div").classes("stack tight")

            def add(key: str = "", own: Sequence[str] = ()) -> None:
                with box, fields():
                    one = self._watched(text_field("Name of the group", key))
                    other = self._watched(choice_field("Values", self._values, list(own), several=True))
                lines.append((one, other))

            for key, own in (dict(value) or {"": ()}).items():
                add(str(key), [each for each in own if each in self._values])
            button("Add a group", lambda: add(), icon="add")
        return lambda: {
            str(one.value).strip(): list(other.value)
            for one, other in lines
            if str(one.value or "").strip() and other.value
        }

    def _of_sizes(self, each: Field, label: str, value: Any) -> Callable[[], Any]:
        pairs = [part.split(":") for part in value.split(",")] if isinstance(value, str) else value
        given = dict(pairs) if pairs else {2: 5}
        read = self._lines("Columns and rows", each, given, "Columns together", number=True)
        return lambda: {str(name): int(number) for name, number in read().items()}

    def _lines(
        self, label: str, each: Field, given: dict[Any, Any], name: str, number: bool
    ) -> Callable[[], dict[str, Any]]:
        """Pairs of a name and a value, a line each."""
        lines: list[tuple[Any, Any]] = []
        with ui.element("div").classes("stack tight field"):
            ui.label(f"{label}: {each['meaning']}").classes("muted small")
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
