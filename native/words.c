/* spoken(text, most, words): which of these words are among the words of the first `most` characters of a text. */

#include "native.h"

#define MOST_WORDS 64
#define LONGEST 15

typedef struct {
    Py_UCS4 letters[LONGEST];
    Py_ssize_t size;
} Word;

/* spoken(text: str, most: int, words: tuple[str, ...]) -> int: bit n is set when words[n] is there. */
PyObject *
native_spoken(PyObject *module, PyObject *args)
{
    PyObject *text, *given;
    Py_ssize_t most;
    Word words[MOST_WORDS];
    if (!PyArg_ParseTuple(args, "UnO!:spoken", &text, &most, &PyTuple_Type, &given))
        return NULL;
    Py_ssize_t count = PyTuple_GET_SIZE(given);
    uint64_t begins = 0, found = 0, all = 0; /* begins: a bit for each letter that one of the words may begin with */
    if (count > MOST_WORDS)
        return PyErr_Format(PyExc_ValueError, "at most %d words", MOST_WORDS);
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *word = PyTuple_GET_ITEM(given, i);
        if (!PyUnicode_Check(word) || PyUnicode_GET_LENGTH(word) > LONGEST || PyUnicode_GET_LENGTH(word) == 0)
            return PyErr_Format(PyExc_ValueError, "a word of one to %d letters is wanted, not %R", LONGEST, word);
        words[i].size = PyUnicode_GET_LENGTH(word);
        for (Py_ssize_t j = 0; j < words[i].size; j++)
            words[i].letters[j] = PyUnicode_READ_CHAR(word, j);
        begins |= 1ULL << (words[i].letters[0] & 63);
        all |= 1ULL << i;
    }
    int kind = PyUnicode_KIND(text);
    const void *data = PyUnicode_DATA(text);
    Py_ssize_t size = PyUnicode_GET_LENGTH(text), at = 0;
    if (size > most)
        size = most;
    while (at < size && found != all) {
        Py_UCS4 first = PyUnicode_READ(kind, data, at);
        if (Py_UNICODE_ISSPACE(first)) {
            at++;
            continue;
        }
        Py_ssize_t start = at++;
        while (at < size && !Py_UNICODE_ISSPACE(PyUnicode_READ(kind, data, at)))
            at++;
        if (!(begins >> (first & 63) & 1))
            continue;
        for (Py_ssize_t i = 0; i < count; i++) {
            Py_ssize_t j = 0;
            if (words[i].size != at - start)
                continue;
            while (j < words[i].size && words[i].letters[j] == PyUnicode_READ(kind, data, start + j))
                j++;
            if (j == words[i].size)
                found |= 1ULL << i;
        }
    }
    return PyLong_FromUnsignedLongLong(found);
}
