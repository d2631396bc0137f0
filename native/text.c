/* Text of a page, a block a line: what parse/text.py says in _lines and full_text. */

#include "tree.h"

/* The bytes that white space of any kind begins with, and the one that ends a line. */
static const char may_end_word[256] = {
    [0x01] = 1, [0x09] = 1, [0x0A] = 1, [0x0B] = 1, [0x0C] = 1, [0x0D] = 1, [0x1C] = 1, [0x1D] = 1, [0x1E] = 1, [0x1F] = 1,
    [0x20] = 1, [0xC2] = 1, [0xE1] = 1, [0xE2] = 1, [0xE3] = 1,
};

/* Past the printable ASCII at p that needs no change, eight bytes at a time: words with single spaces between them. What it ends
   with is no space. */
static inline const unsigned char *
past_plain(const unsigned char *p, const unsigned char *end)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    const uint64_t ones = UINT64_C(0x0101010101010101), high = 0x80 * ones;
    uint64_t last = 0; /* the byte before is a space */
    for (; end - p >= 8; p += 8) {
        uint64_t bytes;
        memcpy(&bytes, p, 8);
        uint64_t away = bytes ^ 0x20 * ones;
        uint64_t spaces = ~(((away & ~high) + ~high) | away) & high; /* the high bit of each byte that is a space */
        if ((bytes | (bytes - 0x20 * ones)) & high || spaces & (spaces << 8 | last))
            break;
        last = spaces >> 56;
    }
    p -= last >> 7;
#endif
    return p;
}

int
add_text(Lines *lines, const unsigned char *p, size_t size, int linked)
{
    const unsigned char *end = p + size;
    if (buffer_reserve(&lines->out, size + 1) < 0)
        return -1;
    char *out = lines->out.data + lines->out.size;
    while (p < end) {
        size_t blank = space_at(p, end);
        if (blank) {
            lines->space = 1;
            p += blank;
            continue;
        }
        if (*p == 1) { /* ends a line in Python too */
            lines->fresh = 1;
            p++;
            continue;
        }
        /* As far as it can be copied as it is: words with single spaces between them. */
        const unsigned char *word = p++;
        for (;;) {
            p = past_plain(p, end);
            while (p < end && !may_end_word[*p])
                p++;
            if (p == end || *p == 1)
                break;
            if (*p == ' ' && end - p > 1 && !may_end_word[p[1]])
                p += 2;
            else if (!space_at(p, end))
                p++;
            else
                break;
        }
        /* What was there before this text had its space or line end counted; each further one replaces white space. */
        if (lines->fresh) {
            if (lines->unlinked && !lines->plain)
                out = lines->out.data + lines->line;
            lines->line = out - lines->out.data;
            if (lines->line)
                *out++ = '\n';
            lines->plain = 0;
        } else if (lines->space)
            *out++ = ' ';
        lines->space = lines->fresh = 0;
        lines->plain |= !linked;
        memcpy(out, word, p - word);
        out += p - word;
    }
    lines->out.size = out - lines->out.data;
    return 0;
}

/* The lines as a str, and the buffer given back; None when they are shorter than `least`. */
PyObject *
lines_end(Lines *lines, size_t least)
{
    PyObject *text = NULL;
    if (!PyErr_Occurred()) {
        if (lines->unlinked && !lines->plain)
            lines->out.size = lines->line;
        text = decoded((unsigned char *)lines->out.data, lines->out.size);
        if (text != NULL && (size_t)PyUnicode_GET_LENGTH(text) < least)
            Py_SETREF(text, Py_NewRef(Py_None));
    }
    buffer_free(&lines->out);
    return text;
}

PyObject *
full_text(const Page *page, int32_t body)
{
    Lines lines = {.fresh = 1};
    int32_t block = body;
    for (int32_t at = body + 1; at < page->items[body].end;) {
        const Item *item = &page->items[at];
        if (item->is_text) {
            size_t size;
            const unsigned char *text = text_at(page, at, &size);
            if (item->block != block)
                lines.fresh = 1;
            block = item->block;
            if (add_text(&lines, text, size, 0) < 0)
                break;
        } else if (item->kind & HIDDEN) {
            at = item->end;
            continue;
        } else if (!(item->kind & INLINE))
            lines.fresh = 1;
        at++;
    }
    return lines_end(&lines, 0);
}
