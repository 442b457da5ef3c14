# mypy: disable-error-code="no-untyped-call, untyped-decorator, attr-defined, override, misc"
"""The front end: Numba, told how to read pointers to arrays (with its documented extension interface).

Numba knows arrays as seven values each and counts references to them. Passing twenty of them through layers of small
functions is what compiling used to spend its time on. Here a function gets one pointer per `Arrays` or array: a
description of three whole numbers that never change, from which address and lengths are loaded where they are needed.
"""

from __future__ import annotations

import hashlib
import io
import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numba
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.caching import IndexDataCacheFile
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_global, signature
from numba.extending import (
    NativeValue,
    infer_getattr,
    lower_builtin,
    lower_getattr_generic,
    models,
    overload,
    register_model,
    typeof_impl,
    unbox,
)

from kanopy._compiler import PARTS
from kanopy._compiler.arrays import KINDS, SLOTS, Arrays, Kind, members
from kanopy._compiler.machine_code import sealed, unsealed

LONG = ir.IntType(64)
ELEMENTS = {
    "bool": ir.IntType(8), "uint8": ir.IntType(8), "int16": ir.IntType(16), "int32": ir.IntType(32), "int64": LONG,
    "uint64": LONG, "float64": ir.DoubleType(),
}  # fmt: skip


class Bundle(types.Type):
    """An object of a class of `Arrays`."""

    def __init__(self, of: type[Arrays]) -> None:
        self.members = members(of)
        # Names become part of those of all functions compiled: short, but not the same for other fields.
        layout = hashlib.sha256(f"{of.__module__}{self.members}".encode()).hexdigest()[:6]
        super().__init__(name=of.__name__ + layout)


class Pointed(types.Type):
    """An array that is only read and written element by element; whole numbers come out as 64 bits."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        self.scalar = {"float64": types.float64, "bool": types.boolean, "uint64": types.uint64}.get(
            kind.element, types.int64
        )
        super().__init__(name=kind.element + "x" * kind.axes)


class Stretch(types.Type):
    """A part of an array, itself with one axis: address and length."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind._replace(axes=1)
        self.scalar = Pointed(kind).scalar
        super().__init__(name=kind.element + "s")


@register_model(Stretch)
class _StretchModel(models.StructModel):
    def __init__(self, manager: Any, stretch: Stretch) -> None:
        super().__init__(manager, stretch, [("data", types.voidptr), ("length", types.int64)])


register_model(Bundle)(models.OpaqueModel)
register_model(Pointed)(models.OpaqueModel)


@typeof_impl.register(Arrays)
def _typeof(value: Arrays, _context: Any) -> Bundle:
    return Bundle(type(value))


@unbox(Bundle)
def _unbox(_bundle: Bundle, value: Any, c: Any) -> Any:
    address = c.pyapi.object_getattr_string(value, "address")
    pointer = c.pyapi.long_as_voidptr(address)
    c.pyapi.decref(address)
    return NativeValue(pointer, is_error=cgutils.is_not_null(c.builder, c.pyapi.err_occurred()))


@infer_getattr
class _BundleFields(AttributeTemplate):
    key = Bundle

    def generic_resolve(self, bundle: Bundle, name: str) -> Pointed | None:
        kind = dict(bundle.members).get(name)
        return None if kind is None else Pointed(kind)


@lower_getattr_generic(Bundle)
def _field(_context: Any, builder: Any, bundle: Bundle, value: Any, name: str) -> Any:
    at = [field for field, _ in bundle.members].index(name)
    return builder.gep(value, [ir.Constant(LONG, 8 * SLOTS * at)], inbounds=True)


def _slot(builder: Any, description: Any, slot: int, kind: Any) -> Any:
    """An entry of a description. It never changes, which lets the optimizer load it once, before any loop."""
    at = builder.gep(builder.bitcast(description, kind.as_pointer()), [ir.Constant(LONG, slot)], inbounds=True)
    loaded = builder.load(at)
    loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
    return loaded


@infer_getattr
class _PointedFields(AttributeTemplate):
    key = Pointed

    def resolve_shape(self, array: Pointed) -> types.UniTuple:
        return types.UniTuple(types.int64, array.kind.axes)


@lower_getattr_generic(Pointed)
def _shape(context: Any, builder: Any, array: Pointed, value: Any, _name: str) -> Any:
    lengths = [_slot(builder, value, 1 + axis, LONG) for axis in range(array.kind.axes)]
    return context.make_tuple(builder, types.UniTuple(types.int64, array.kind.axes), lengths)


@infer_global(len)
class _Length(AbstractTemplate):
    def generic(self, args: Any, _kws: Any) -> Any:
        return signature(types.int64, args[0]) if isinstance(args[0], (Pointed, Stretch)) else None


@lower_builtin(len, Pointed)
@lower_builtin(len, Stretch)
def _length(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    if isinstance(sig.args[0], Stretch):
        return context.make_helper(builder, sig.args[0], args[0]).length
    return _slot(builder, args[0], 1, LONG)


def _index(array: Any, index: Any) -> Any:
    """The type that an index is turned into, or `None` if it is no business of ours."""
    if not isinstance(array, (Pointed, Stretch)):
        return None
    if array.kind.axes == 1:
        return types.int64 if isinstance(index, types.Integer) else None
    if isinstance(index, types.BaseTuple) and len(index) == 2 and all(isinstance(i, types.Integer) for i in index):
        return types.UniTuple(types.int64, 2)
    return None


@infer_global(operator.getitem)
class _Get(AbstractTemplate):
    def generic(self, args: Any, _kws: Any) -> Any:
        array, index = args
        if (index_type := _index(array, index)) is not None:
            return signature(array.scalar, array, index_type)
        if not isinstance(array, (Pointed, Stretch)):
            return None
        rows = array.kind.axes == 2 and isinstance(index, types.Integer)
        is_slice = array.kind.axes == 1 and index == types.slice2_type
        return signature(Stretch(array.kind), array, types.int64 if rows else index) if rows or is_slice else None


@infer_global(operator.setitem)
class _Set(AbstractTemplate):
    def generic(self, args: Any, _kws: Any) -> Any:
        index = _index(*args[:2])
        return None if index is None else signature(types.none, args[0], index, args[0].scalar)


def _place(context: Any, builder: Any, array: Any, value: Any, index: Any) -> Any:
    """Where an element is; the first of a row where only that is given."""
    pointer = ELEMENTS[array.kind.element].as_pointer()
    if isinstance(array, Stretch):
        data = builder.bitcast(context.make_helper(builder, array, value).data, pointer)
        return builder.gep(data, [index], inbounds=True)
    if array.kind.axes == 2:
        row, column = (index, None) if index.type == LONG else cgutils.unpack_tuple(builder, index, 2)
        index = builder.mul(row, _slot(builder, value, 2, LONG), flags=["nsw"])
        if column is not None:
            index = builder.add(index, column, flags=["nsw"])
    return builder.gep(_slot(builder, value, 0, pointer), [index], inbounds=True)


@lower_builtin(operator.getitem, Pointed, types.SliceType)
@lower_builtin(operator.getitem, Stretch, types.SliceType)
def _part(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    array = sig.args[0]
    given = context.make_helper(builder, sig.args[1], args[1])
    length = _length(context, builder, signature(types.int64, array), args[:1])
    stop = builder.select(builder.icmp_signed("<", given.stop, length), given.stop, length)
    return _stretch(context, builder, sig, args[0], given.start, builder.sub(stop, given.start))


def _stretch(context: Any, builder: Any, sig: Any, value: Any, index: Any, length: Any) -> Any:
    stretch = context.make_helper(builder, sig.return_type)
    stretch.data = builder.bitcast(_place(context, builder, sig.args[0], value, index), ir.IntType(8).as_pointer())
    stretch.length = length
    return stretch._getvalue()


@lower_builtin(operator.getitem, Pointed, types.Integer)
@lower_builtin(operator.getitem, Pointed, types.BaseTuple)
@lower_builtin(operator.getitem, Stretch, types.Integer)
def _get(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    if isinstance(sig.return_type, Stretch):
        return _stretch(context, builder, sig, args[0], args[1], _slot(builder, args[0], 2, LONG))
    element = sig.args[0].kind.element
    loaded = builder.load(_place(context, builder, sig.args[0], *args))
    if element == "bool":
        return builder.icmp_unsigned("!=", loaded, ir.Constant(loaded.type, 0))
    if element in ("int16", "int32"):
        return builder.sext(loaded, LONG)
    return builder.zext(loaded, LONG) if element == "uint8" else loaded


@lower_builtin(operator.setitem, Pointed, types.Integer, types.Any)
@lower_builtin(operator.setitem, Pointed, types.BaseTuple, types.Any)
@lower_builtin(operator.setitem, Stretch, types.Integer, types.Any)
def _set(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    element, value = sig.args[0].kind.element, args[2]
    if element == "bool":
        value = builder.zext(value, ELEMENTS[element])
    elif element in ("uint8", "int16", "int32"):
        value = builder.trunc(value, ELEMENTS[element])
    builder.store(value, _place(context, builder, sig.args[0], args[0], args[1]))
    return context.get_dummy_value()


SCALARS = {"int": types.int64, "float": types.float64, "None": types.void}
_known: set[Callable[..., Any]] = set()


def _make_callable() -> None:
    """Tell Numba about helpers and kernels that were imported since it was last told."""
    for name, loop in list(PARTS.items()):
        if name not in _known:
            _known.add(name)
            _offer(name, loop)


def _offer(name: Callable[..., Any], loop: Callable[..., Any]) -> None:
    def implementation(*_args: Any) -> Callable[..., Any]:
        return loop

    overload(name, jit_options={"error_model": "numpy"}, strict=False)(implementation)


def _type_of(annotation: str, names: dict[str, Any]) -> Any:
    if annotation in SCALARS:
        return SCALARS[annotation]
    if annotation in KINDS:
        return Pointed(KINDS[annotation])
    return Bundle(names[annotation])


def compiled(loop: Callable[..., Any]) -> Any:
    """A loop compiled for the signature of its annotations, with the calling convention of C."""
    PARTS[loop] = loop
    _make_callable()
    *given, result = (_type_of(str(text), loop.__globals__) for text in loop.__annotations__.values())
    # Called by nothing but functions with the same options, a helper is compiled once: so the loop is such a function,
    # and what C calls only calls it.
    names = ", ".join(loop.__code__.co_varnames[: len(given)])
    entry = eval(f"lambda {names}: loop({names})", {"loop": loop})
    return numba.cfunc(result(*given), error_model="numpy")(entry)


class SealedCache(IndexDataCacheFile):
    """Numba's cache, whose files end with their digest: what is damaged is compiled anew, never run."""

    @contextmanager
    def _open_for_write(self, filepath: str) -> Iterator[io.BytesIO]:
        content = io.BytesIO()
        with super()._open_for_write(filepath) as file:
            yield content
            file.write(sealed(content.getvalue()))  # reading what is pickled ends before the digest

    def _load_index(self) -> Any:
        return {} if unsealed(Path(self._index_path)) is None else super()._load_index()

    def _load_data(self, name: str) -> Any:
        if unsealed(Path(self._data_path(name))) is None:
            raise OSError("damaged")
        return super()._load_data(name)


def numba_function(loop: Callable[..., Any], parallel: bool) -> Any:
    """A loop compiled by Numba for whatever it is called with."""
    _make_callable()
    try:
        made = numba.njit(cache=True, nogil=True, parallel=parallel)(loop)
        made._cache._cache_file.__class__ = SealedCache
        return made
    except RuntimeError:
        # No folder can be written to: compiled for this process only.
        return numba.njit(nogil=True, parallel=parallel)(loop)


@cache
def offer_run_time() -> None:
    """Have LLVM know the functions of Numba's run time, which machine code calls that may raise an error."""
    numba.cfunc(types.int64(types.int64))(lambda x: x)
