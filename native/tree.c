/* read_tree(...): the tree of a page laid out as an array, and the links and the head read from that; its texts are read by text.c
   and main.c.

   The tree is selectolax's, and so is the lexbor that built it: attach() looks up lexbor's accessor functions in the library that
   selectolax has loaded, so nothing is assumed about how a node lies in memory. Where one of them is missing, attach() says no and
   parse/html.py reads the tree in Python, with the same result. */

#include "tree.h"

#include <dlfcn.h>

#define ELEMENT 1
#define TEXT 3

Lexbor lexbor;

PyObject *
native_attach(PyObject *module, PyObject *args)
{
    static const char *const names[] = {
        "lxb_dom_node_next_noi", "lxb_dom_node_first_child_noi", "lxb_dom_node_tag_id_noi", "lxb_dom_node_type_noi",
        "lxb_dom_element_first_attribute_noi", "lxb_dom_element_next_attribute_noi", "lxb_dom_attr_qualified_name",
        "lxb_dom_attr_value_noi", "lxb_dom_element_class_noi", "lxb_dom_element_id_noi", "lxb_dom_node_text_content",
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

/* --- the page as an array ------------------------------------------------------------------------------------------------ */

/* Characters: the bytes that do not continue one. */
static size_t
count_letters(const char *p, size_t size)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    size_t continued = 0, at = 0;
    for (; at + 8 <= size; at += 8) {
        uint64_t bytes;
        memcpy(&bytes, p + at, 8);
        continued += (size_t)(((bytes >> 7 & ~bytes >> 6 & ones) * ones) >> 56);
    }
    for (; at < size; at++)
        continued += ((unsigned char)p[at] & 0xC0) == 0x80;
    return size - continued;
}

static Item *
next_item(Page *page)
{
    if (page->count == page->room) {
        int32_t room = page->room ? page->room * 2 : 1024;
        Item *items = page->room < 1 << 29 ? PyMem_Realloc(page->items, room * sizeof *items) : NULL;
        if (items == NULL) {
            PyErr_NoMemory();
            return NULL;
        }
        page->items = items;
        page->room = room;
    }
    return &page->items[page->count++];
}

static int
lay_out(Page *page, Node *root, const unsigned char *roles, const unsigned char *kinds)
{
    size_t letters = 0;
    int32_t up = -1;
    Node *node = root, *next = NULL;
    if (buffer_reserve(&page->text, 1) < 0)
        return -1;
    for (;;) {
        int type = lexbor.type(node);
        next = NULL;
        if (type == ELEMENT || type == TEXT) {
            int32_t here = page->count;
            Item *item = next_item(page);
            if (item == NULL)
                return -1;
            *item = (Item){.node = node, .from = page->text.size, .letters = letters, .parent = up, .end = here + 1};
            if (type == ELEMENT) {
                uintptr_t tag = lexbor.tag_id(node);
                if (tag < KNOWN_TAGS) {
                    item->role = roles[tag];
                    item->kind = kinds[tag];
                }
                item->block = item->kind & INLINE && up >= 0 ? page->items[up].block : here;
                if ((next = lexbor.first_child(node)) != NULL)
                    up = here;
            } else {
                size_t size = 0;
                const unsigned char *text = lexbor.text_content(node, &size);
                item->is_text = 1;
                item->block = up >= 0 ? page->items[up].block : here;
                if (text != NULL && size) {
                    if (buffer_reserve(&page->text, size) < 0)
                        return -1;
                    memcpy(page->text.data + page->text.size, text, size);
                    page->text.size += size;
                    letters += count_letters((const char *)text, size);
                }
            }
        }
        while (next == NULL && node != root && (next = lexbor.next(node)) == NULL) {
            node = page->items[up].node;
            page->items[up].end = page->count;
            up = page->items[up].parent;
        }
        if (next == NULL)
            break;
        node = next;
    }
    Item *last = next_item(page);
    if (last == NULL)
        return -1;
    *last = (Item){.from = page->text.size, .letters = letters, .parent = -1, .end = page->count};
    page->count--;
    return 0;
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
    Page page;
    PyObject *anchors, *metas, *heads, *others, *title, *base, *collapse;
    Py_ssize_t budget, most_anchor;
    int whole;
} Facts;

/* File a link under its reference, or under reference and rel: each once, with the first text that says something. */
static int
add_anchor(Facts *facts, int32_t at)
{
    Item *item = &facts->page.items[at];
    const unsigned char *href = NULL, *rel = NULL;
    size_t href_size = 0, rel_size = 0;
    for (Attr *attr = lexbor.first_attribute(item->node); attr != NULL; attr = lexbor.next_attribute(attr)) {
        size_t size = 0;
        const unsigned char *name = lexbor.attribute_name(attr, &size);
        if (is_named(name, size, "href")) {
            href = lexbor.attribute_value(attr, &href_size);
            item->links = 1;
        } else if (is_named(name, size, "rel"))
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
        size_t size;
        const unsigned char *found = text_at(&facts->page, at, &size);
        if (size)
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
take_in(Facts *facts, int32_t at)
{
    Node *node = facts->page.items[at].node;
    int role = facts->page.items[at].role;
    switch (role) {
    case ANCHOR:
        return add_anchor(facts, at);
    case META:
        return append_attributes(facts->metas, node, 0);
    case LINK:
        return append_attributes(facts->heads, node, 0);
    case AREA:
    case FRAME:
        return append_attributes(facts->others, node, role);
    case TITLE:
        if (facts->title == NULL) {
            size_t size;
            const unsigned char *text = text_at(&facts->page, at, &size);
            facts->title = decoded(text, size);
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

/* read_tree(root, body, roles, kinds, whole, most_anchor, budget, collapse, rules, full)
   -> (anchors, metas, heads, others, title, base, budget left, main text, full text); a text that is not asked for, by rules
   or by full, is None, and without a body each is empty. */
PyObject *
native_read_tree(PyObject *module, PyObject *args)
{
    PyObject *root_object, *body_object, *rules, *main = NULL, *text = NULL, *result = NULL;
    const unsigned char *roles, *kinds;
    Py_ssize_t roles_size, kinds_size;
    int full;
    int32_t body = -1;
    Facts facts = {0};
    if (!PyArg_ParseTuple(args, "OOy#y#pnnOOp:read_tree", &root_object, &body_object, (const char **)&roles, &roles_size,
                          (const char **)&kinds, &kinds_size, &facts.whole, &facts.most_anchor, &facts.budget,
                          &facts.collapse, &rules, &full))
        return NULL;
    if (roles_size != KNOWN_TAGS || kinds_size != KNOWN_TAGS || lexbor.next == NULL)
        return PyErr_Format(PyExc_ValueError, "attach() comes first, and each table has %d bytes", KNOWN_TAGS);
    Node *root = node_of(root_object), *body_node = NULL;
    if (root == NULL || (body_object != Py_None && (body_node = node_of(body_object)) == NULL))
        return NULL;
    facts.anchors = PyDict_New();
    facts.metas = PyList_New(0);
    facts.heads = PyList_New(0);
    facts.others = PyList_New(0);
    if (!facts.anchors || !facts.metas || !facts.heads || !facts.others || lay_out(&facts.page, root, roles, kinds) < 0)
        goto done;
    for (int32_t at = 0; at < facts.page.count; at++) {
        if (facts.page.items[at].node == body_node)
            body = at;
        if (facts.page.items[at].role && take_in(&facts, at) < 0)
            goto done;
    }
    if (rules == Py_None)
        main = Py_NewRef(Py_None);
    else
        main = body < 0 ? PyUnicode_New(0, 0) : main_text(&facts.page, body, rules);
    if (main == NULL)
        goto done;
    if (!full)
        text = Py_NewRef(Py_None);
    else
        text = body < 0 ? PyUnicode_New(0, 0) : full_text(&facts.page, body);
    if (text != NULL)
        result = Py_BuildValue("(OOOOOOnOO)", facts.anchors, facts.metas, facts.heads, facts.others,
                               facts.title ? facts.title : Py_None, facts.base ? facts.base : Py_None, facts.budget, main, text);
done:
    PyMem_Free(facts.page.items);
    buffer_free(&facts.page.text);
    Py_XDECREF(facts.anchors);
    Py_XDECREF(facts.metas);
    Py_XDECREF(facts.heads);
    Py_XDECREF(facts.others);
    Py_XDECREF(facts.title);
    Py_XDECREF(facts.base);
    Py_XDECREF(main);
    Py_XDECREF(text);
    return result;
}
