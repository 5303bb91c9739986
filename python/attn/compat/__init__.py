"""Drop-ins: functions of other libraries, with their names, arguments and meaning.

What attn does not have is refused with attn.UnsupportedError, which names it; no argument is
ignored. docs/python.md lists what each takes.
"""
