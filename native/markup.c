/* survey(body, most): the tags of a body, counted. tidiness(body): how far a tidy body nests and how many formatting elements it
   leaves open. What is counted and what it proves is told by parse/bounds.py and parse/tidy.py. swells(body): whether parse_page has a
   reference to write out. */

#include "native.h"

#define MOST_ATTRIBUTES 64
#define MOST_NAME 10 /* of the names of interest */

static int
is_space(unsigned char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r';
}

static int
is_letter(unsigned char c)
{
    return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

static int
is_in_name(unsigned char c)
{
    return is_letter(c) || (c >= '0' && c <= '9') || c == '-';
}

static int
is_in_attribute(unsigned char c)
{
    return is_in_name(c) || c == '_' || c == ':' || c == '.';
}

static int
is_in_value(unsigned char c)
{
    return is_in_attribute(c) || (c && strchr("#%?&;+/", c) != NULL);
}

/* What the two bytes after `<` may begin: 1 a formatting element, 2 html or body, 0 nothing of interest. */
static int
kind_of(unsigned char first, unsigned char second)
{
    static const char pairs[][3] = {"bi", "co", "em", "fo", "sm", "st", "tt"};
    first |= 0x20;
    if ((first == 'b' || first == 'i' || first == 's' || first == 'u') && (is_space(second) || second == '/'))
        return 1;
    second |= 0x20;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (first == (unsigned char)pairs[i][0] && second == (unsigned char)pairs[i][1])
            return 1;
    return (first == 'h' && second == 't') || (first == 'b' && second == 'o') ? 2 : 0;
}

/* survey(body: bytes, most: int) -> (tags, formatting, roots, end): at most `most` tags are counted, and `end` is where the next
   one begins, or the length of the body. */
PyObject *
native_survey(PyObject *module, PyObject *args)
{
    const unsigned char *body;
    Py_ssize_t size, most;
    if (!PyArg_ParseTuple(args, "y#n:survey", (const char **)&body, &size, &most))
        return NULL;
    const unsigned char *at = body, *end = body + (size > 2 ? size - 2 : 0);
    Py_ssize_t tags = 0, kinds[3] = {0, 0, 0};
    Py_ssize_t stop = size;
    while (at < end && (at = memchr(at, '<', end - at)) != NULL) {
        if (tags == most) {
            stop = at - body;
            break;
        }
        tags++;
        kinds[kind_of(at[1], at[2])]++;
        at++;
    }
    return Py_BuildValue("(nnnn)", tags, kinds[1], kinds[2], stop);
}

/* swells(body: bytes) -> bool: whether a reference is in it that is shorter than the characters it stands for. */
PyObject *
native_swells(PyObject *module, PyObject *args)
{
    const unsigned char *at;
    Py_ssize_t size;
    if (!PyArg_ParseTuple(args, "y#:swells", (const char **)&at, &size))
        return NULL;
    const unsigned char *end = at + size;
    while ((at = memchr(at, '&', end - at)) != NULL) {
        if (end - at >= 5 && at[1] == 'n' && (at[2] == 'G' || at[2] == 'L') && at[3] == 't' && at[4] == ';')
            Py_RETURN_TRUE;
        at++;
    }
    Py_RETURN_FALSE;
}

/* --- tidiness ------------------------------------------------------------------------------------------------------------ */

enum { ORDINARY, VOID, FORMATTING, MARKER, RAW, PLAINTEXT };

static const struct {
    const char *name;
    int kind;
} elements[] = {
    {"b", FORMATTING}, {"big", FORMATTING}, {"code", FORMATTING}, {"em", FORMATTING}, {"font", FORMATTING},
    {"i", FORMATTING}, {"s", FORMATTING}, {"small", FORMATTING}, {"strike", FORMATTING}, {"strong", FORMATTING},
    {"tt", FORMATTING}, {"u", FORMATTING},
    {"td", MARKER}, {"th", MARKER}, {"caption", MARKER}, {"applet", MARKER}, {"object", MARKER}, {"marquee", MARKER},
    {"template", MARKER},
    {"script", RAW}, {"style", RAW}, {"title", RAW}, {"textarea", RAW}, {"xmp", RAW}, {"iframe", RAW}, {"noframes", RAW},
    {"noembed", RAW},
    {"plaintext", PLAINTEXT},
    {"area", VOID}, {"base", VOID}, {"basefont", VOID}, {"bgsound", VOID}, {"br", VOID}, {"col", VOID}, {"embed", VOID},
    {"frame", VOID}, {"hr", VOID}, {"image", VOID}, {"img", VOID}, {"input", VOID}, {"keygen", VOID}, {"link", VOID},
    {"meta", VOID}, {"param", VOID}, {"source", VOID}, {"track", VOID}, {"wbr", VOID},
};
#define ELEMENTS (sizeof elements / sizeof *elements)

/* The attributes that may stand without a value. */
static const char *const bare[] = {
    "async", "autofocus", "checked", "compact", "controls", "defer", "disabled", "hidden", "itemscope", "loop", "multiple", "muted",
    "nomodule", "noshade", "novalidate", "nowrap", "open", "readonly", "required", "reversed", "selected",
};

static int
same_name(const unsigned char *a, const unsigned char *b, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if ((a[i] | 0x20) != (b[i] | 0x20))
            return 0;
    return 1;
}

static int
element_of(const unsigned char *name, size_t size)
{
    if (size > MOST_NAME)
        return -1;
    for (size_t i = 0; i < ELEMENTS; i++)
        if (strlen(elements[i].name) == size && same_name(name, (const unsigned char *)elements[i].name, size))
            return (int)i;
    return -1;
}

/* The end of the attributes that begin at p, or NULL when one of them is not tidy. */
static const unsigned char *
past_attributes(const unsigned char *p, const unsigned char *end)
{
    for (int count = 0; count < MOST_ATTRIBUTES; count++) {
        const unsigned char *name = p;
        while (name < end && is_space(*name))
            name++;
        if (name == p || name == end || !is_in_attribute(*name))
            return p;
        const unsigned char *q = name;
        while (q < end && is_in_attribute(*q))
            q++;
        if (q == end)
            return NULL;
        if (*q == '=') {
            if (++q == end)
                return NULL;
            if (*q == '"' || *q == '\'') {
                unsigned char quote = *q++;
                while (q < end && *q != quote && *q != '<')
                    q++;
                if (q == end || *q == '<')
                    return NULL;
                q++;
            } else {
                const unsigned char *value = q;
                while (q < end && is_in_value(*q))
                    q++;
                if (q == value)
                    return NULL;
            }
        } else {
            size_t length = q - name, i;
            for (i = 0; i < sizeof bare / sizeof *bare; i++)
                if (strlen(bare[i]) == length && memcmp(bare[i], name, length) == 0)
                    break;
            if (i == sizeof bare / sizeof *bare || !(is_space(*q) || *q == '/' || *q == '>'))
                return NULL;
        }
        p = q;
    }
    return p;
}

/* Past the comment or declaration whose `<` is at p, or NULL when it is not tidy. */
static const unsigned char *
past_declaration(const unsigned char *p, const unsigned char *end)
{
    if (end - p >= 4 && memcmp(p, "<!--", 4) == 0) {
        for (p += 4; end - p >= 3; p++) {
            if (*p == '<')
                return NULL;
            if (*p == '-' && p[1] == '-' && p[2] == '>')
                return p + 3;
        }
        return NULL;
    }
    if (end - p < 3 || !is_letter(p[2]))
        return NULL;
    for (p += 3; p < end && *p != '<'; p++)
        if (*p == '>')
            return p + 1;
    return NULL;
}

typedef struct {
    const unsigned char *name;
    size_t size;
} Open;

typedef struct {
    Open *items;
    size_t size, room, deepest;
} Stack;

static int
push(Stack *stack, const unsigned char *name, size_t size)
{
    if (stack->size == stack->room) {
        size_t room = stack->room ? 2 * stack->room : 256;
        Open *items = PyMem_Realloc(stack->items, room * sizeof *items);
        if (items == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        stack->items = items;
        stack->room = room;
    }
    stack->items[stack->size++] = (Open){name, size};
    if (stack->size > stack->deepest)
        stack->deepest = stack->size;
    return 0;
}

static void
pop(Stack *stack, const unsigned char *name, size_t size)
{
    if (stack->size) {
        Open *last = &stack->items[stack->size - 1];
        if (last->size == size && same_name(last->name, name, size))
            stack->size--;
    }
}

/* Formatting elements that are open, as the tree builder may see them: what is open outside a cell cannot be closed inside. */
typedef struct {
    int open[ELEMENTS];
    size_t here, left, most;
} Formatting;

static void
format(Formatting *f, int element, int closing)
{
    if (elements[element].kind == FORMATTING) {
        if (!closing) {
            f->open[element]++;
            f->here++;
            if (f->left + f->here > f->most)
                f->most = f->left + f->here;
        } else if (f->open[element]) {
            f->open[element]--;
            f->here--;
        }
    } else if (f->here) {
        f->left += f->here;
        f->here = 0;
        memset(f->open, 0, sizeof f->open);
    }
}

/* 1 when the body is tidy, 0 when it is not, -1 with an exception. */
static int
scan(const unsigned char *p, const unsigned char *end, Stack *stack, Formatting *formatting)
{
    int raw = -1; /* the element whose end tag has to come next */
    while (p < end && (p = memchr(p, '<', end - p)) != NULL) {
        if (end - p >= 2 && (p[1] == '!' || p[1] == '?')) {
            if (raw >= 0 || (p = past_declaration(p, end)) == NULL)
                return 0;
            continue;
        }
        int closing = end - p >= 2 && p[1] == '/';
        const unsigned char *name = p + 1 + closing;
        if (name >= end || !is_letter(*name))
            return 0;
        for (p = name; p < end && is_in_name(*p); p++)
            ;
        size_t size = p - name;
        if ((p = past_attributes(p, end)) == NULL)
            return 0;
        while (p < end && is_space(*p))
            p++;
        if (p < end && *p == '/')
            p++;
        if (p == end || *p != '>')
            return 0;
        p++;
        int element = element_of(name, size);
        int kind = element < 0 ? ORDINARY : elements[element].kind;
        if (raw >= 0 && !(closing && element == raw))
            return 0;
        raw = kind == RAW && !closing ? element : -1;
        if (kind == PLAINTEXT && !closing)
            return 0;
        if (kind == FORMATTING || kind == MARKER)
            format(formatting, element, closing);
        if (closing)
            pop(stack, name, size);
        else if (kind != VOID && push(stack, name, size) < 0)
            return -1;
    }
    return raw < 0;
}

/* tidiness(body: bytes) -> (unclosed, depth) | None */
PyObject *
native_tidiness(PyObject *module, PyObject *args)
{
    const unsigned char *body;
    Py_ssize_t size;
    if (!PyArg_ParseTuple(args, "y#:tidiness", (const char **)&body, &size))
        return NULL;
    Stack stack = {NULL, 0, 0, 0};
    Formatting formatting = {{0}, 0, 0, 0};
    int tidy = scan(body, body + size, &stack, &formatting);
    PyMem_Free(stack.items);
    if (tidy < 0)
        return NULL;
    if (!tidy)
        Py_RETURN_NONE;
    return Py_BuildValue("(nn)", (Py_ssize_t)formatting.most, (Py_ssize_t)stack.deepest);
}
