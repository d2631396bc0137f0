#include "native.h"

int
buffer_reserve(Buffer *buffer, size_t more)
{
    if (buffer->room - buffer->size >= more)
        return 0;
    size_t room = buffer->room ? buffer->room : 16384;
    while (room - buffer->size < more)
        room *= 2;
    char *data = PyMem_Realloc(buffer->data, room);
    if (data == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    buffer->data = data;
    buffer->room = room;
    return 0;
}

void
buffer_free(Buffer *buffer)
{
    PyMem_Free(buffer->data);
}

/* base32(data: bytes) -> str: RFC 4648, with its padding; base64.b32encode takes a hundred times as long. */
static PyObject *
native_base32(PyObject *module, PyObject *args)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    const unsigned char *data;
    Py_ssize_t size;
    if (!PyArg_ParseTuple(args, "y#:base32", (const char **)&data, &size))
        return NULL;
    PyObject *text = PyUnicode_New((size + 4) / 5 * 8, 127);
    if (text == NULL)
        return NULL;
    Py_UCS1 *out = PyUnicode_1BYTE_DATA(text);
    for (Py_ssize_t at = 0; at < size; at += 5) {
        Py_ssize_t here = size - at < 5 ? size - at : 5, used = (here * 8 + 4) / 5;
        uint64_t bits = 0;
        for (Py_ssize_t i = 0; i < 5; i++)
            bits = bits << 8 | (i < here ? data[at + i] : 0);
        for (Py_ssize_t i = 0; i < 8; i++)
            *out++ = i < used ? (Py_UCS1)letters[bits >> (35 - 5 * i) & 31] : '=';
    }
    return text;
}

static PyMethodDef functions[] = {
    {"base32", native_base32, METH_VARARGS, "RFC 4648, padded."},
    {"text_print", native_text_print, METH_VARARGS, "SimHash and number of words of a text."},
    {"spoken", native_spoken, METH_VARARGS, "Which of some words a text begins with."},
    {"survey", native_survey, METH_VARARGS, "The tags of a body, counted."},
    {"swells", native_swells, METH_VARARGS, "Whether a reference is shorter than its characters."},
    {"tidiness", native_tidiness, METH_VARARGS, "How far a tidy body nests, and what it leaves open."},
    {"is_utf8", native_is_utf8, METH_VARARGS, "Whether bytes are UTF-8."},
    {"attach", native_attach, METH_VARARGS, "Find lexbor's functions in the library of this path."},
    {"read_tree", native_read_tree, METH_VARARGS, "Links, head and texts of a page."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "gossamer._native", "Loops over characters, compiled.", -1, functions, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC
PyInit__native(void)
{
    simhash_prepare();
    return PyModule_Create(&definition);
}
