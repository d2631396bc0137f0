/* The compiled part of Gossamer: loops over characters that Python would pay for one by one.

   Each file is one concern and one or two functions of the module gossamer._native; what they mean, and why, is told by the Python
   modules that call them. Nothing here keeps state between calls but tables, and nothing trusts its input. */

#ifndef GOSSAMER_NATIVE_H
#define GOSSAMER_NATIVE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

/* A growing buffer of bytes. A failed append sets MemoryError and leaves the buffer as it was. */
typedef struct {
    char *data;
    size_t size;
    size_t room;
} Buffer;

int buffer_reserve(Buffer *buffer, size_t more);
void buffer_free(Buffer *buffer);

/* White space as str.split() knows it: the length of the white space character at p, or 0. */
static inline size_t
space_at(const unsigned char *p, const unsigned char *end)
{
    unsigned char c = *p;
    if (c < 0x80)
        return c == ' ' || (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x1F);
    if (c == 0xC2)
        return end - p >= 2 && (p[1] == 0x85 || p[1] == 0xA0) ? 2 : 0;
    if (c < 0xE1 || c > 0xE3 || end - p < 3)
        return 0;
    if (c == 0xE1)
        return p[1] == 0x9A && p[2] == 0x80 ? 3 : 0;
    if (c == 0xE3)
        return p[1] == 0x80 && p[2] == 0x80 ? 3 : 0;
    if (p[1] == 0x80)
        return (p[2] >= 0x80 && p[2] <= 0x8A) || p[2] == 0xA8 || p[2] == 0xA9 || p[2] == 0xAF ? 3 : 0;
    return p[1] == 0x81 && p[2] == 0x9F ? 3 : 0;
}

PyObject *native_text_print(PyObject *module, PyObject *args);
PyObject *native_spoken(PyObject *module, PyObject *args);
PyObject *native_survey(PyObject *module, PyObject *args);
PyObject *native_swells(PyObject *module, PyObject *args);
PyObject *native_tidiness(PyObject *module, PyObject *args);
PyObject *native_is_utf8(PyObject *module, PyObject *args);
PyObject *native_attach(PyObject *module, PyObject *args);
PyObject *native_read_tree(PyObject *module, PyObject *args);
int simhash_prepare(void);

#endif
