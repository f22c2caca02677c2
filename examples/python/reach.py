#!/usr/bin/env python3
# SPDX-FileCopyrightText: The libreach authors
# SPDX-License-Identifier: MIT
"""libreach for Python: one module to copy. It needs nothing but the standard library and libreach.so.1.

    import asyncio, reach

    if reach.online(): ...
    print(reach.Target("localhost").flags)

    async def main():
        with reach.Watch("0.0.0.0") as watch:       # "0.0.0.0" is the internet at large
            async for flags in watch:
                print(flags.online, flags)

Run as a program, it shows this until it is told to end: python3 reach.py
"""

import asyncio
import ctypes
import errno
import gc
import itertools
import os
import sys

# use_errno keeps a copy of errno for each thread, taken at once after each call, which ctypes.get_errno reads.
_library = ctypes.CDLL("libreach.so.1", use_errno=True)


def _function(name, result, *arguments):
    function = getattr(_library, name)
    function.restype, function.argtypes = result, arguments
    return function


_void, _flags = ctypes.c_void_p, ctypes.c_uint32
_create_with_name = _function("reach_create_with_name", _void, ctypes.c_char_p)
_release = _function("reach_release", None, _void)
_get_flags = _function("reach_get_flags", ctypes.c_bool, _void, ctypes.POINTER(_flags))
_is_online = _function("reach_is_online", ctypes.c_bool)
_flags_is_online = _function("reach_flags_is_online", ctypes.c_bool, _flags)
_flags_describe = _function("reach_flags_describe", ctypes.c_size_t, _flags, ctypes.c_char_p, ctypes.c_size_t)
_queue_create_manual = _function("reach_queue_create_manual", _void)
_queue_fd = _function("reach_queue_fd", ctypes.c_int, _void)
_queue_dispatch = _function("reach_queue_dispatch", ctypes.c_int, _void, ctypes.c_int)
_queue_release = _function("reach_queue_release", None, _void)
_set_queue = _function("reach_set_queue", ctypes.c_bool, _void, _void)
_Callback = ctypes.CFUNCTYPE(None, _void, _flags, _void)
_Release = ctypes.CFUNCTYPE(None, _void)
_set_callback = _function("reach_set_callback", ctypes.c_bool, _void, _Callback, _void, _Release)


def _fail(what):
    """Raises the OSError that errno stands for; what names the call or the object."""
    number = ctypes.get_errno()
    raise OSError(number, os.strerror(number), what)


# A function that C calls must not be collected while C can call it. So there are two for all watches, which live as
# long as the module, and C is given a number instead of an object. A number that is not in the table calls nobody.
_listeners = {}
_numbers = itertools.count(1)


@_Callback
def _changed(_target, flags, info):
    listener = _listeners.get(info)
    if listener is not None:
        listener(Flags(flags))


@_Release
def _released(info):
    _listeners.pop(info, None)


class Flags(int):
    """A set of flags, as libreach gave it. The sum of bits is the number itself."""

    @property
    def online(self):
        """True when reachable, and no connection is required first."""
        return _flags_is_online(self)

    def __str__(self):
        text = ctypes.create_string_buffer(256)
        _flags_describe(self, text, len(text))
        return text.value.decode()


def online():
    """Is there a path to the internet at large?"""
    answer = _is_online()
    if not answer and ctypes.get_errno() != 0:  # a "no" of the kernel's is not an error
        _fail("reach_is_online")
    return answer


class Target:
    """A host name or an address in text; "0.0.0.0" is the internet at large. Raises OSError."""

    def __init__(self, name):
        self._pointer = None
        self._pointer = _create_with_name(os.fsencode(name))
        if self._pointer is None:
            _fail(repr(name))

    @property
    def flags(self):
        """The answer now. Never waits, never sends a packet, never looks a name up."""
        value = _flags()
        if not _get_flags(self._pointer, value):
            _fail("reach_get_flags")
        return Flags(value.value)

    def close(self):
        """Frees the target. It may be called more than once."""
        pointer, self._pointer = self._pointer, None
        _release(pointer)

    def __enter__(self):
        return self

    def __exit__(self, *_exception):
        self.close()

    def __del__(self):
        self.close()


class Watch(Target):
    """Changes of a target, in the running asyncio loop: handed to a function, or read with "async for".

    It is closed by close, by leaving its "with" block, or by losing the last reference to it.
    """

    def __init__(self, name, on_change=None):
        self._queue, self._descriptor = None, None
        super().__init__(name)
        self._loop = asyncio.get_running_loop()
        self._changes = asyncio.Queue()
        changes = on_change if on_change is not None else self._changes.put_nowait

        self._queue = _queue_create_manual()
        if self._queue is None:
            _fail("reach_queue_create_manual")
        number = next(_numbers)
        _listeners[number] = changes
        if not _set_callback(self._pointer, _changed, number, _released):
            _fail("reach_set_callback")
        if not _set_queue(self._pointer, self._queue):
            _fail("reach_set_queue")
        self._descriptor = _queue_fd(self._queue)
        # The loop is given the library's function and no method of this object, so that a lost watch can be collected.
        self._loop.add_reader(self._descriptor, _queue_dispatch, self._queue, 0)

    def close(self):
        """Ends the watch: nothing is heard after this. It may be called more than once."""
        if self._descriptor is not None:
            self._loop.remove_reader(self._descriptor)
            _set_queue(self._pointer, None)
            self._descriptor = None
            self._changes.put_nowait(None)
        super().close()
        queue, self._queue = self._queue, None
        _queue_release(queue)

    def __aiter__(self):
        return self

    async def __anext__(self):
        flags = await self._changes.get()
        if flags is None:
            raise StopAsyncIteration
        return flags


async def main():
    print("online:", "yes" if online() else "no")
    with Target("localhost") as localhost:
        print("localhost:", localhost.flags)
    try:
        Target("")
    except OSError as error:
        print("error: %s (%s)" % (error, errno.errorcode[error.errno]))

    commands = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(commands), sys.stdin)

    with Watch("0.0.0.0", lambda flags: print("change:", flags, flush=True)):
        gc.collect()  # nobody but libreach refers to the closure now, and it lives
        print("ready", flush=True)
        await commands.readline()
    gc.collect()  # and now it is gone, and nobody calls it
    print("closed", flush=True)

    await commands.read()
    print("bye")


if __name__ == "__main__":
    asyncio.run(main())
