/* spoken(text, most, words): which of these words are among the words of the first `most` characters of a text. */

#include "native.h"

#define MOST_WORDS 64
#define LONGEST 15

typedef struct {
    Py_UCS4 letters[LONGEST];
} Word;

/* The words, a bit each, by what they may begin with and by their length. */
typedef struct {
    Word words[MOST_WORDS];
    uint64_t all, begin[64], sized[LONGEST + 1];
} Wanted;

/* Which of the words are there, a bit each. Inlined once for each width of characters. */
static inline __attribute__((always_inline)) uint64_t
look_for(const Wanted *wanted, int kind, const void *data, Py_ssize_t size)
{
    uint64_t found = 0;
    Py_ssize_t at = 0;
    while (at < size && found != wanted->all) {
        Py_UCS4 first = PyUnicode_READ(kind, data, at);
        if (Py_UNICODE_ISSPACE(first)) {
            at++;
            continue;
        }
        Py_ssize_t start = at++;
        while (at < size && !Py_UNICODE_ISSPACE(PyUnicode_READ(kind, data, at)))
            at++;
        if (at - start > LONGEST)
            continue;
        uint64_t like = wanted->begin[first & 63] & wanted->sized[at - start] & ~found;
        for (int i = 0; like; i++, like >>= 1) {
            Py_ssize_t j = 0;
            if (!(like & 1))
                continue;
            while (j < at - start && wanted->words[i].letters[j] == PyUnicode_READ(kind, data, start + j))
                j++;
            if (j == at - start)
                found |= UINT64_C(1) << i;
        }
    }
    return found;
}

/* spoken(text: str, most: int, words: tuple[str, ...]) -> int: bit n is set when words[n] is there. */
PyObject *
native_spoken(PyObject *module, PyObject *args)
{
    PyObject *text, *given;
    Py_ssize_t most;
    Wanted wanted;
    if (!PyArg_ParseTuple(args, "UnO!:spoken", &text, &most, &PyTuple_Type, &given))
        return NULL;
    Py_ssize_t count = PyTuple_GET_SIZE(given);
    uint64_t found;
    wanted.all = 0;
    memset(wanted.begin, 0, sizeof wanted.begin);
    memset(wanted.sized, 0, sizeof wanted.sized);
    if (count > MOST_WORDS)
        return PyErr_Format(PyExc_ValueError, "at most %d words", MOST_WORDS);
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *word = PyTuple_GET_ITEM(given, i);
        if (!PyUnicode_Check(word) || PyUnicode_GET_LENGTH(word) > LONGEST || PyUnicode_GET_LENGTH(word) == 0)
            return PyErr_Format(PyExc_ValueError, "a word of one to %d letters is wanted, not %R", LONGEST, word);
        for (Py_ssize_t j = 0; j < PyUnicode_GET_LENGTH(word); j++)
            wanted.words[i].letters[j] = PyUnicode_READ_CHAR(word, j);
        wanted.all |= UINT64_C(1) << i;
        wanted.begin[wanted.words[i].letters[0] & 63] |= UINT64_C(1) << i;
        wanted.sized[PyUnicode_GET_LENGTH(word)] |= UINT64_C(1) << i;
    }
    const void *data = PyUnicode_DATA(text);
    Py_ssize_t size = PyUnicode_GET_LENGTH(text);
    if (size > most)
        size = most;
    if (PyUnicode_KIND(text) == PyUnicode_1BYTE_KIND)
        found = look_for(&wanted, PyUnicode_1BYTE_KIND, data, size);
    else if (PyUnicode_KIND(text) == PyUnicode_2BYTE_KIND)
        found = look_for(&wanted, PyUnicode_2BYTE_KIND, data, size);
    else
        found = look_for(&wanted, PyUnicode_4BYTE_KIND, data, size);
    return PyLong_FromUnsignedLongLong(found);
}
