"""Every sentence that Midstream says to a user, one module a subject.

A text is a constant; what is filled in stands in braces and is given by name, with `str.format`. What begins
with a capital is a sentence and ends with a full stop; what begins small is a part of one, or stands in a
list. The sentences about settings, which the reference page shows too, are in `settings/values.py`.
"""
