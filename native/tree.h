/* A page as an array: what the walks over a tree share. */

#ifndef GOSSAMER_TREE_H
#define GOSSAMER_TREE_H

#include "native.h"

typedef struct node Node;
typedef struct attr Attr;

/* lexbor's own accessors, in the order of the names in tree.c. */
typedef struct {
    Node *(*next)(Node *);
    Node *(*first_child)(Node *);
    uintptr_t (*tag_id)(Node *);
    int (*type)(Node *);
    Attr *(*first_attribute)(Node *);
    Attr *(*next_attribute)(Attr *);
    const unsigned char *(*attribute_name)(Attr *, size_t *);
    const unsigned char *(*attribute_value)(Attr *, size_t *);
    const unsigned char *(*class_of)(Node *, size_t *);
    const unsigned char *(*id_of)(Node *, size_t *);
    const unsigned char *(*text_content)(Node *, size_t *);
} Lexbor;
extern Lexbor lexbor;

#define KNOWN_TAGS 256 /* ids of elements that HTML does not know are larger */

/* What an element is to the walk over the page (ROLES in parse/elements.py). */
enum { NOTHING, ANCHOR, META, LINK, TITLE, BASE, AREA, FRAME, PARAGRAPH, BREAK };
/* What an element is to its text, a bit each (KINDS in parse/text.py). */
enum { INLINE = 1, HIDDEN = 2, BOILERPLATE = 4, SILENT = 8, ASIDE = 16, TOP = 32, NAMED = 64 };

/* An element or a text. Comments and what else there is are not on the page. */
typedef struct {
    Node *node;
    size_t from;    /* where its text begins in the page's; it ends where that of item `end` begins */
    size_t letters; /* characters of the page's text before it */
    int32_t parent; /* -1 for the first */
    int32_t end;    /* the item after all inside it */
    int32_t block;  /* the block it stands in: itself, if it is one */
    int32_t vote;   /* its place among the votes, when it has one */
    unsigned char is_text, role, kind;
    unsigned char links;   /* an anchor with a reference */
    unsigned char credit;  /* main.c: not known, good, bad */
    unsigned char counted; /* main.c: its own text has voted */
} Item;

typedef struct {
    Item *items; /* count of them, and one that closes the last */
    int32_t count, room;
    Buffer text;
} Page;

static inline const unsigned char *
text_at(const Page *page, int32_t at, size_t *size)
{
    *size = page->items[page->items[at].end].from - page->items[at].from;
    return (unsigned char *)page->text.data + page->items[at].from;
}

static inline size_t
letters_of(const Page *page, int32_t at)
{
    return page->items[page->items[at].end].letters - page->items[at].letters;
}

static inline PyObject *
decoded(const unsigned char *text, size_t size)
{
    return PyUnicode_DecodeUTF8((const char *)text, (Py_ssize_t)size, "replace");
}

/* text.c: lines of text, as they come to be. */
typedef struct {
    Buffer out;
    size_t line;  /* where the line begins */
    int space;    /* white space since the last word */
    int fresh;    /* a new line begins with the next word */
    int unlinked; /* lines that are nothing but links are left out */
    int plain;    /* the line has a word outside of links */
} Lines;

int add_text(Lines *lines, const unsigned char *text, size_t size, int linked);
PyObject *lines_end(Lines *lines, size_t least);
PyObject *full_text(const Page *page, int32_t body);

/* main.c */
PyObject *main_text(Page *page, int32_t body, PyObject *rules);

#endif
