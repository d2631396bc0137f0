/* read_tree(...): one walk over the tree of a page for its links and its head, one over its body for its text.

   The tree is selectolax's, and so is the lexbor that built it: attach() looks up lexbor's accessor functions in the library that
   selectolax has loaded, so nothing is assumed about how a node lies in memory. Where one of them is missing, attach() says no and
   parse/html.py reads the tree in Python, with the same result. */

#include "native.h"

#include <dlfcn.h>

typedef struct node Node;
typedef struct attr Attr;

static struct {
    Node *(*next)(Node *);
    Node *(*parent)(Node *);
    Node *(*first_child)(Node *);
    uintptr_t (*tag_id)(Node *);
    int (*type)(Node *);
    Attr *(*first_attribute)(Node *);
    Attr *(*next_attribute)(Attr *);
    const unsigned char *(*attribute_name)(Attr *, size_t *);
    const unsigned char *(*attribute_value)(Attr *, size_t *);
    const unsigned char *(*text_content)(Node *, size_t *);
} lexbor;

#define ELEMENT 1
#define TEXT 3
#define KNOWN_TAGS 256 /* ids of elements that HTML does not know are larger */

/* What an element is to the walk over the page. */
enum { NOTHING, ANCHOR, META, LINK, TITLE, BASE, AREA, FRAME };
/* What an element is to a line of text. */
enum { BLOCK, INLINE, HIDDEN };

PyObject *
native_attach(PyObject *module, PyObject *args)
{
    static const char *const names[] = {
        "lxb_dom_node_next_noi", "lxb_dom_node_parent_noi", "lxb_dom_node_first_child_noi", "lxb_dom_node_tag_id_noi",
        "lxb_dom_node_type_noi", "lxb_dom_element_first_attribute_noi", "lxb_dom_element_next_attribute_noi",
        "lxb_dom_attr_qualified_name", "lxb_dom_attr_value_noi", "lxb_dom_node_text_content",
    };
    const char *path;
    if (!PyArg_ParseTuple(args, "s:attach", &path))
        return NULL;
    void *library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    if (library == NULL)
        Py_RETURN_FALSE;
    void *found[sizeof names / sizeof *names];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if ((found[i] = dlsym(library, names[i])) == NULL) {
            dlclose(library);
            Py_RETURN_FALSE;
        }
    memcpy(&lexbor, found, sizeof lexbor);
    Py_RETURN_TRUE;
}

static PyObject *
decoded(const unsigned char *text, size_t size)
{
    return PyUnicode_DecodeUTF8((const char *)text, (Py_ssize_t)size, "replace");
}

/* The node after `node` in the order of the page, without its children when `over`; NULL when `root` is through. */
static inline Node *
following(Node *node, Node *root, int over)
{
    Node *next;
    if (!over && (next = lexbor.first_child(node)) != NULL)
        return next;
    while (node != root) {
        if ((next = lexbor.next(node)) != NULL)
            return next;
        node = lexbor.parent(node);
    }
    return NULL;
}

/* --- the text of the body ------------------------------------------------------------------------------------------------ */

typedef struct {
    Buffer out;
    int space; /* white space since the last word */
    int fresh; /* a new line begins with the next word */
} Lines;

/* The bytes that white space of any kind begins with, and the one that ends a line. */
static const char may_end_word[256] = {
    [0x01] = 1, [0x09] = 1, [0x0A] = 1, [0x0B] = 1, [0x0C] = 1, [0x0D] = 1, [0x1C] = 1, [0x1D] = 1, [0x1E] = 1, [0x1F] = 1,
    [0x20] = 1, [0xC2] = 1, [0xE1] = 1, [0xE2] = 1, [0xE3] = 1,
};

static int
add_text(Lines *lines, const unsigned char *p, size_t size)
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
        const unsigned char *word = p++;
        while (p < end && (!may_end_word[*p] || !(*p == 1 || space_at(p, end))))
            p++;
        /* What was there before this text had its space or line end counted; each further one replaces white space. */
        if (lines->fresh) {
            if (out != lines->out.data)
                *out++ = '\n';
        } else if (lines->space)
            *out++ = ' ';
        lines->space = lines->fresh = 0;
        memcpy(out, word, p - word);
        out += p - word;
    }
    lines->out.size = out - lines->out.data;
    return 0;
}

static PyObject *
text_of(Node *body, const unsigned char *flow)
{
    Lines lines = {{NULL, 0, 0}, 0, 1};
    int failed = 0;
    Node *node = lexbor.first_child(body);
    while (node != NULL) {
        int type = lexbor.type(node), over = 1;
        if (type == TEXT) {
            size_t size = 0;
            const unsigned char *text = lexbor.text_content(node, &size);
            if (text != NULL && (failed = add_text(&lines, text, size)) < 0)
                break;
        } else if (type == ELEMENT) {
            uintptr_t tag = lexbor.tag_id(node);
            int is = tag < KNOWN_TAGS ? flow[tag] : BLOCK;
            over = is == HIDDEN;
            if (is == BLOCK)
                lines.fresh = 1;
        }
        Node *next = over ? NULL : lexbor.first_child(node);
        while (next == NULL && node != body) {
            if ((next = lexbor.next(node)) != NULL)
                break;
            node = lexbor.parent(node);
            uintptr_t tag = lexbor.tag_id(node);
            if (!(tag < KNOWN_TAGS && flow[tag] == INLINE))
                lines.fresh = 1;
        }
        node = next;
    }
    PyObject *result = failed ? NULL : decoded((unsigned char *)lines.out.data, lines.out.size);
    buffer_free(&lines.out);
    return result;
}

/* --- links and head ------------------------------------------------------------------------------------------------------ */

/* A dict of an element's attributes: a name and its value, None for one without. */
static PyObject *
attributes_of(Node *node)
{
    PyObject *found = PyDict_New();
    if (found == NULL)
        return NULL;
    for (Attr *attr = lexbor.first_attribute(node); attr != NULL; attr = lexbor.next_attribute(attr)) {
        size_t size = 0, length = 0;
        const unsigned char *name = lexbor.attribute_name(attr, &size);
        const unsigned char *value = lexbor.attribute_value(attr, &length);
        PyObject *key = name != NULL ? decoded(name, size) : PyUnicode_FromString("");
        PyObject *item = value != NULL ? decoded(value, length) : Py_NewRef(Py_None);
        int failed = key == NULL || item == NULL || PyDict_SetItem(found, key, item) < 0;
        Py_XDECREF(key);
        Py_XDECREF(item);
        if (failed) {
            Py_DECREF(found);
            return NULL;
        }
    }
    return found;
}

static int
is_named(const unsigned char *name, size_t size, const char *wanted)
{
    return name != NULL && size == strlen(wanted) && memcmp(name, wanted, size) == 0;
}

/* The text of an anchor, white space collapsed, at most `most` characters; anything unusual is left to Python. `budget` pays for each
   character read. */
static PyObject *
anchor_text(const unsigned char *text, size_t size, Py_ssize_t most, PyObject *collapse, Py_ssize_t *budget)
{
    char line[1024];
    size_t used = 0, i = 0;
    if ((Py_ssize_t)size <= most && size < sizeof line) {
        int space = 0;
        for (; i < size && text[i] < 0x80; i++) {
            if (space_at(text + i, text + size)) {
                space = used > 0;
                continue;
            }
            if (space)
                line[used++] = ' ';
            space = 0;
            line[used++] = (char)text[i];
        }
        if (i == size) {
            *budget -= (Py_ssize_t)size;
            return PyUnicode_DecodeASCII(line, (Py_ssize_t)used, NULL);
        }
    }
    PyObject *whole = decoded(text, size);
    if (whole == NULL)
        return NULL;
    *budget -= PyUnicode_GET_LENGTH(whole);
    PyObject *result = PyObject_CallFunction(collapse, "On", whole, most);
    Py_DECREF(whole);
    return result;
}

typedef struct {
    PyObject *anchors, *metas, *heads, *others, *title, *base, *collapse;
    Py_ssize_t budget, most_anchor;
    int whole;
} Facts;

/* File a link under its reference, or under reference and rel: each once, with the first text that says something. */
static int
add_anchor(Facts *facts, Node *node)
{
    const unsigned char *href = NULL, *rel = NULL;
    size_t href_size = 0, rel_size = 0;
    for (Attr *attr = lexbor.first_attribute(node); attr != NULL; attr = lexbor.next_attribute(attr)) {
        size_t size = 0;
        const unsigned char *name = lexbor.attribute_name(attr, &size);
        if (is_named(name, size, "href"))
            href = lexbor.attribute_value(attr, &href_size);
        else if (is_named(name, size, "rel"))
            rel = lexbor.attribute_value(attr, &rel_size);
    }
    if (href == NULL || href_size == 0 || *href == '#')
        return 0;
    if (facts->whole) {
        const unsigned char *mark = memchr(href, '#', href_size);
        if (mark != NULL)
            href_size = mark - href;
    }
    PyObject *key = decoded(href, href_size), *text = NULL;
    if (key != NULL && rel != NULL && rel_size) {
        PyObject *said = decoded(rel, rel_size);
        PyObject *both = said != NULL ? PyTuple_Pack(2, key, said) : NULL;
        Py_XDECREF(said);
        Py_SETREF(key, both);
    }
    if (key == NULL)
        return -1;
    PyObject *before = PyDict_GetItemWithError(facts->anchors, key);
    if (before != NULL ? PyUnicode_GET_LENGTH(before) > 0 : PyErr_Occurred() != NULL) {
        Py_DECREF(key);
        return before != NULL ? 0 : -1;
    }
    if (facts->budget > 0) {
        size_t size = 0;
        const unsigned char *found = lexbor.text_content(node, &size);
        if (found != NULL && size)
            text = anchor_text(found, size, facts->most_anchor, facts->collapse, &facts->budget);
        else
            text = PyUnicode_New(0, 0);
    } else
        text = PyUnicode_New(0, 0);
    int failed = text == NULL || PyDict_SetItem(facts->anchors, key, text) < 0;
    Py_DECREF(key);
    Py_XDECREF(text);
    return failed ? -1 : 0;
}

static int
append_attributes(PyObject *list, Node *node, int role)
{
    PyObject *item = attributes_of(node);
    if (item != NULL && role) {
        PyObject *pair = Py_BuildValue("(kN)", (unsigned long)lexbor.tag_id(node), item);
        item = pair;
    }
    int failed = item == NULL || PyList_Append(list, item) < 0;
    Py_XDECREF(item);
    return failed ? -1 : 0;
}

static int
take_in(Facts *facts, Node *node, int role)
{
    switch (role) {
    case ANCHOR:
        return add_anchor(facts, node);
    case META:
        return append_attributes(facts->metas, node, 0);
    case LINK:
        return append_attributes(facts->heads, node, 0);
    case AREA:
    case FRAME:
        return append_attributes(facts->others, node, role);
    case TITLE:
        if (facts->title == NULL) {
            size_t size = 0;
            const unsigned char *text = lexbor.text_content(node, &size);
            facts->title = text != NULL ? decoded(text, size) : PyUnicode_New(0, 0);
            return facts->title == NULL ? -1 : 0;
        }
        return 0;
    case BASE:
        if (facts->base == NULL)
            for (Attr *attr = lexbor.first_attribute(node); attr != NULL; attr = lexbor.next_attribute(attr)) {
                size_t size = 0, length = 0;
                const unsigned char *name = lexbor.attribute_name(attr, &size);
                const unsigned char *value = lexbor.attribute_value(attr, &length);
                if (is_named(name, size, "href") && value != NULL && facts->base == NULL
                    && (facts->base = decoded(value, length)) == NULL)
                    return -1;
            }
        return 0;
    default:
        return 0;
    }
}

static Node *
node_of(PyObject *object)
{
    PyObject *address = PyObject_GetAttrString(object, "mem_id");
    if (address == NULL)
        return NULL;
    void *node = PyLong_AsVoidPtr(address);
    Py_DECREF(address);
    if (node == NULL && !PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "a node without an address");
    return node;
}

/* read_tree(root, body, roles, flow, whole, most_anchor, budget, collapse)
   -> (anchors, metas, heads, others, title, base, budget left, text); body may be None, and then so is the text. */
PyObject *
native_read_tree(PyObject *module, PyObject *args)
{
    PyObject *root_object, *body_object, *text = NULL, *result = NULL;
    const unsigned char *roles, *flow;
    Py_ssize_t roles_size, flow_size;
    Facts facts = {0};
    if (!PyArg_ParseTuple(args, "OOy#y#pnnO:read_tree", &root_object, &body_object, (const char **)&roles, &roles_size,
                          (const char **)&flow, &flow_size, &facts.whole, &facts.most_anchor, &facts.budget, &facts.collapse))
        return NULL;
    if (roles_size != KNOWN_TAGS || flow_size != KNOWN_TAGS || lexbor.next == NULL)
        return PyErr_Format(PyExc_ValueError, "attach() comes first, and each table has %d bytes", KNOWN_TAGS);
    Node *root = node_of(root_object);
    if (root == NULL)
        return NULL;
    facts.anchors = PyDict_New();
    facts.metas = PyList_New(0);
    facts.heads = PyList_New(0);
    facts.others = PyList_New(0);
    if (!facts.anchors || !facts.metas || !facts.heads || !facts.others)
        goto done;
    for (Node *node = root; node != NULL; node = following(node, root, 0)) {
        if (lexbor.type(node) != ELEMENT)
            continue;
        uintptr_t tag = lexbor.tag_id(node);
        if (tag < KNOWN_TAGS && roles[tag] && take_in(&facts, node, roles[tag]) < 0)
            goto done;
    }
    if (body_object != Py_None) {
        Node *body = node_of(body_object);
        if (body == NULL || (text = text_of(body, flow)) == NULL)
            goto done;
    } else
        text = Py_NewRef(Py_None);
    result = Py_BuildValue("(OOOOOOnO)", facts.anchors, facts.metas, facts.heads, facts.others,
                           facts.title ? facts.title : Py_None, facts.base ? facts.base : Py_None, facts.budget, text);
done:
    Py_XDECREF(facts.anchors);
    Py_XDECREF(facts.metas);
    Py_XDECREF(facts.heads);
    Py_XDECREF(facts.others);
    Py_XDECREF(facts.title);
    Py_XDECREF(facts.base);
    Py_XDECREF(text);
    return result;
}
