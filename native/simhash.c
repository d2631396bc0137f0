/* text_print(text, fold): SimHash and number of words of a text. The algorithm is described in fingerprint/_words.py (from text to
   word hashes) and fingerprint/_similarity.py (from words to 64 bits); stored values depend on every constant here. */

#include "native.h"

#define SEPARATOR 0
#define IGNORED 1
#define UNKNOWN 0xFFFE /* a noncharacter, so no fold is this */
#define PIECE 65536
#define TAIL 1024
#define BINS 64
#define SHORT_LENGTH 3
#define FIRST_UNSPACED 0x0E00
#define NUMBER 8
#define PLAIN_WEIGHT 2
#define RANK ((1ULL << 58) - 1)
#define LIMIT (1ULL << (58 - PLAIN_WEIGHT))
#define NO_LIMIT (1ULL << 58)

static uint16_t folds[65536];
static uint8_t alone[65536];
static uint64_t pick[BINS];

static const uint16_t unspaced[][2] = {
    {0x0E00, 0x0EFF}, {0x1000, 0x109F}, {0x1780, 0x17FF}, {0x2E80, 0x31FF},
    {0x3400, 0x9FFF}, {0xA000, 0xA4CF}, {0xF900, 0xFAFF},
};

int
simhash_prepare(void)
{
    for (int i = 0; i < 65536; i++)
        folds[i] = UNKNOWN;
    for (size_t i = 0; i < sizeof unspaced / sizeof *unspaced; i++)
        memset(alone + unspaced[i][0], 1, unspaced[i][1] - unspaced[i][0] + 1);
    for (uint64_t i = 0; i < BINS; i++) {
        uint64_t x = (i + 1) * 0x9E3779B97F4A7C15ULL;
        x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ULL;
        x = (x ^ x >> 27) * 0x94D049BB133111EBULL;
        pick[i] = (x ^ x >> 31) | 1;
    }
    return 0;
}

/* What a unit counts as, asked of Python once for each unit that is ever met; -1 with an exception set. */
static int
fold_of(uint16_t unit, PyObject *fold)
{
    if (folds[unit] != UNKNOWN)
        return folds[unit];
    PyObject *answer = PyObject_CallFunction(fold, "i", (int)unit);
    if (answer == NULL)
        return -1;
    long value = PyLong_AsLong(answer);
    Py_DECREF(answer);
    if (value == -1 && PyErr_Occurred())
        return -1;
    folds[unit] = (uint16_t)value;
    return folds[unit];
}

typedef struct {
    uint64_t low[BINS];
    uint64_t hash[2]; /* of the last two words */
    int kind[2];
    Py_ssize_t words;
} Contest;

static inline void
draw(Contest *contest, uint64_t a, uint64_t b, uint64_t c, int kinds)
{
    uint64_t s = a * 0x9B05688C2B3E6C1FULL;
    s ^= s >> 32;
    s = (s + b) * 0x1F83D9ABFB41BD6BULL;
    s ^= s >> 29;
    s = (s + c) * 0x5BE0CD19137E2179ULL;
    s ^= s >> 32;
    uint64_t rank = (s & RANK) >> (kinds < NUMBER ? PLAIN_WEIGHT + kinds : 0);
    uint64_t *low = &contest->low[s >> 58];
    if (rank < *low)
        *low = rank;
}

#define WINDOW 4

/* The first characters, at most four, of a word of this length; there is room for a window behind the last unit. */
static inline uint64_t
window(const uint16_t *units, uint64_t mask)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint64_t value;
    memcpy(&value, units, sizeof value);
#else
    uint64_t value = 0;
    for (int i = 0; i < WINDOW; i++)
        value |= (uint64_t)units[i] << 16 * i;
#endif
    return value & mask;
}

static void
add_word(Contest *contest, const uint16_t *units, Py_ssize_t start, Py_ssize_t end)
{
    Py_ssize_t length = end - start;
    Py_ssize_t middle = ((start + end) >> 1) - 2, last = end - 4;
    uint64_t mask = length < WINDOW ? (1ULL << 16 * length) - 1 : ~0ULL;
    uint64_t first = window(units + start, mask);
    uint64_t h = (first + (uint64_t)length) * 0x6A09E667F3BCC909ULL;
    h ^= h >> 32;
    h = (h + window(units + (middle > start ? middle : start), mask)) * 0xBB67AE8584CAA73BULL;
    h ^= h >> 29;
    h = (h + window(units + (last > start ? last : start), mask)) * 0x3C6EF372FE94F82BULL;
    h ^= h >> 32;
    int kind = (length <= SHORT_LENGTH) + (units[start] >= '0' && units[start] <= '9' ? NUMBER : 0);
    if (contest->words >= 2)
        draw(contest, contest->hash[0], contest->hash[1], h, contest->kind[0] + contest->kind[1] + kind);
    contest->hash[0] = contest->hash[1];
    contest->kind[0] = contest->kind[1];
    contest->hash[1] = h;
    contest->kind[1] = kind;
    contest->words++;
}

/* The words of one piece: folded units without those that are not there, with room for a window behind. */
static void
add_piece(Contest *contest, uint16_t *units, Py_ssize_t size, int spaced)
{
    Py_ssize_t i = 0;
    memset(units + size, 0, WINDOW * sizeof *units); /* a separator, and what the last window reads */
    if (spaced) { /* no character is a word by itself */
        while (i < size) {
            while (units[i] == SEPARATOR && i < size)
                i++;
            Py_ssize_t start = i;
            while (units[i] != SEPARATOR)
                i++;
            if (i > start)
                add_word(contest, units, start, i);
        }
        return;
    }
    while (i < size) {
        if (units[i] == SEPARATOR) {
            i++;
            continue;
        }
        Py_ssize_t start = i++;
        if (!alone[units[start]])
            while (units[i] != SEPARATOR && !alone[units[i]])
                i++;
        add_word(contest, units, start, i);
    }
}

/* UTF-16 units of a text, one after the other; a lone surrogate is a question mark, as an encoder would replace it. */
typedef struct {
    int kind;
    const void *data;
    Py_ssize_t size;
    Py_ssize_t at;
    uint16_t second; /* of a pair whose first half was given; 0 for none */
} Units;

static inline uint16_t
next_unit(Units *from)
{
    if (from->second) {
        uint16_t unit = from->second;
        from->second = 0;
        return unit;
    }
    Py_UCS4 c = PyUnicode_READ(from->kind, from->data, from->at);
    from->at++;
    if (c >= 0x10000) {
        from->second = (uint16_t)(0xDC00 | ((c - 0x10000) & 0x3FF));
        return (uint16_t)(0xD800 | ((c - 0x10000) >> 10));
    }
    return c >= 0xD800 && c <= 0xDFFF ? '?' : (uint16_t)c;
}

static int
hold(Contest *contest, PyObject *text, PyObject *fold, uint64_t limit, uint16_t *raw, Py_ssize_t room)
{
    Units from = {PyUnicode_KIND(text), PyUnicode_DATA(text), PyUnicode_GET_LENGTH(text), 0, 0};
    Py_ssize_t size = 0;
    for (int i = 0; i < BINS; i++)
        contest->low[i] = limit;
    contest->words = 0;
    if (from.kind != PyUnicode_4BYTE_KIND && from.size <= PIECE) { /* most texts: one piece, a unit a character */
        unsigned any = 0;
        int narrow = from.kind == PyUnicode_1BYTE_KIND;
        const Py_UCS1 *narrow_text = from.data;
        const Py_UCS2 *wide_text = from.data;
        for (Py_ssize_t i = 0; i < from.size; i++) {
            uint16_t unit = narrow ? narrow_text[i] : wide_text[i];
            int folded = folds[unit >= 0xD800 && unit <= 0xDFFF ? '?' : unit];
            if (folded == UNKNOWN && (folded = fold_of(unit >= 0xD800 && unit <= 0xDFFF ? '?' : unit, fold)) < 0)
                return -1;
            raw[size] = (uint16_t)folded;
            any |= (unsigned)folded;
            size += folded != IGNORED;
        }
        add_piece(contest, raw, size, any < FIRST_UNSPACED);
        from.at = from.size;
        size = 0;
    }
    while (size || from.second || from.at < from.size) {
        while (size < PIECE && (from.second || from.at < from.size)) {
            int folded = fold_of(next_unit(&from), fold);
            if (folded < 0)
                return -1;
            raw[size++] = (uint16_t)folded;
        }
        /* End at a separator, so that no word is cut; a run longer than TAIL without one is cut where it is. */
        Py_ssize_t end = size, kept = 0;
        if (from.second || from.at < from.size) {
            while (end > size - TAIL && raw[end - 1] != SEPARATOR)
                end--;
            if (end == size - TAIL)
                end = size;
        }
        uint16_t *units = raw + room;
        for (Py_ssize_t i = 0; i < end; i++)
            if (raw[i] != IGNORED)
                units[kept++] = raw[i];
        add_piece(contest, units, kept, 0);
        memmove(raw, raw + end, (size - end) * sizeof *raw);
        size -= end;
    }
    if (contest->words == 1)
        draw(contest, contest->hash[1], 0, 0, contest->kind[1]);
    else if (contest->words == 2)
        draw(contest, contest->hash[0], contest->hash[1], 0, contest->kind[0] + contest->kind[1]);
    return 0;
}

static int
filled_bins(const Contest *contest, uint64_t limit)
{
    int filled = 0;
    for (int i = 0; i < BINS; i++)
        filled += contest->low[i] < limit;
    return filled;
}

PyObject *
native_text_print(PyObject *module, PyObject *args)
{
    PyObject *text, *fold;
    if (!PyArg_ParseTuple(args, "UO:text_print", &text, &fold))
        return NULL;
    Contest contest;
    Py_ssize_t most = PyUnicode_GET_LENGTH(text) * 2, room = most < PIECE ? most : PIECE;
    uint16_t *raw = PyMem_Malloc((2 * room + WINDOW) * sizeof *raw); /* as it comes, and without what is ignored */
    if (raw == NULL)
        return PyErr_NoMemory();
    uint64_t limit = LIMIT, value = 0;
    int failed = hold(&contest, text, fold, limit, raw, room);
    if (!failed && contest.words && !filled_bins(&contest, limit)) {
        limit = NO_LIMIT; /* a few words, each shingle with a number in it, none of them drawn */
        failed = hold(&contest, text, fold, limit, raw, room);
    }
    PyMem_Free(raw);
    if (failed)
        return NULL;
    if (contest.words && filled_bins(&contest, limit)) {
        uint64_t low = 0;
        for (int i = 2 * BINS - 1; i >= 0; i--) { /* twice around: an empty bin takes the winner of the next one */
            if (contest.low[i % BINS] < limit)
                low = contest.low[i % BINS];
            if (i < BINS)
                value |= (low * pick[i] >> 63) << i;
        }
    }
    return Py_BuildValue("(Kn)", (unsigned long long)value, contest.words);
}
