/* is_utf8(data: bytes) -> bool: whether data.decode() would take it all, without making a str of it. */

#include "native.h"

static inline int
continues(unsigned char c)
{
    return (c & 0xC0) == 0x80;
}

/* The length of the character at p that is not ASCII, 0 when there is none: no longer forms of short ones, no surrogates, nothing past
   U+10FFFF. */
static inline size_t
character_at(const unsigned char *p, const unsigned char *end)
{
    unsigned char first = *p;
    if (first < 0xC2 || end - p < 2 || !continues(p[1]))
        return 0;
    if (first < 0xE0)
        return 2;
    if (end - p < 3 || !continues(p[2]))
        return 0;
    if (first < 0xF0)
        return (first == 0xE0 && p[1] < 0xA0) || (first == 0xED && p[1] > 0x9F) ? 0 : 3;
    if (end - p < 4 || !continues(p[3]) || first > 0xF4)
        return 0;
    return (first == 0xF0 && p[1] < 0x90) || (first == 0xF4 && p[1] > 0x8F) ? 0 : 4;
}

PyObject *
native_is_utf8(PyObject *module, PyObject *args)
{
    const unsigned char *p;
    Py_ssize_t size;
    if (!PyArg_ParseTuple(args, "y#:is_utf8", (const char **)&p, &size))
        return NULL;
    const unsigned char *end = p + size;
    while (p < end) {
        if (*p >= 0x80) {
            size_t taken = character_at(p, end);
            if (taken == 0)
                Py_RETURN_FALSE;
            p += taken;
            continue;
        }
        uint64_t eight;
        while (end - p >= 8 && (memcpy(&eight, p, 8), !(eight & UINT64_C(0x8080808080808080))))
            p += 8;
        while (p < end && *p < 0x80)
            p++;
    }
    Py_RETURN_TRUE;
}
