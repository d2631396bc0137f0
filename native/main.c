/* The main text of a page: the rules of parse/text.py, which tells what they mean and gives the numbers. */

#include "tree.h"

typedef struct {
    Py_ssize_t most_voters, budget, levels, least_paragraph, least_text, most_texts, least_node, most_steps, most_said;
    double fade, discredited, least_vote, lead, most_junk;
    PyObject *judged, *judge;
} Rules;

enum { SAYS_ELSEWHERE = 1, SAYS_JUNK = 2 };
enum { UNKNOWN, GOOD, BAD };

/* What is said by a class or id: -1 with an exception. */
static int
judgement(const Rules *rules, const unsigned char *value, size_t size)
{
    if (value == NULL || size == 0)
        return 0;
    size_t most = 4 * (size_t)rules->most_said;
    PyObject *name = decoded(value, size < most ? size : most);
    if (name != NULL && PyUnicode_GET_LENGTH(name) > rules->most_said)
        Py_SETREF(name, PyUnicode_Substring(name, 0, rules->most_said));
    if (name == NULL)
        return -1;
    PyObject *said = Py_XNewRef(PyDict_GetItemWithError(rules->judged, name));
    if (said == NULL && !PyErr_Occurred())
        said = PyObject_CallOneArg(rules->judge, name);
    Py_DECREF(name);
    if (said == NULL)
        return -1;
    long answer = PyLong_AsLong(said);
    Py_DECREF(said);
    return PyErr_Occurred() ? -1 : (int)(answer & 3);
}

static int
said_of(const Rules *rules, Node *node)
{
    size_t size = 0;
    const unsigned char *value = lexbor.class_of(node, &size);
    int class_says = judgement(rules, value, size);
    if (class_says < 0)
        return -1;
    size = 0;
    value = lexbor.id_of(node, &size);
    int id_says = judgement(rules, value, size);
    return id_says < 0 ? -1 : class_says | id_says;
}

/* --- votes --------------------------------------------------------------------------------------------------------------- */

typedef struct {
    int32_t item;
    double votes;
} Vote;

/* Votes in the order of the first for each; the place of an item's is kept with the item. */
typedef struct {
    Vote *list;
    int32_t count, room;
} Votes;

static int
add_vote(Page *page, Votes *votes, int32_t item, double weight)
{
    int32_t place = page->items[item].vote;
    if (place < votes->count && votes->list[place].item == item) {
        votes->list[place].votes += weight;
        return 0;
    }
    if (votes->count == votes->room) {
        int32_t room = votes->room ? votes->room * 2 : 256;
        Vote *list = PyMem_Realloc(votes->list, room * sizeof *list);
        if (list == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        votes->list = list;
        votes->room = room;
    }
    page->items[item].vote = votes->count;
    votes->list[votes->count++] = (Vote){item, weight};
    return 0;
}

/* Characters of a text without white space at its ends. */
static size_t
stripped_letters(const Page *page, int32_t at)
{
    size_t size, letters = letters_of(page, at), blank;
    const unsigned char *p = text_at(page, at, &size), *end = p + size;
    for (; p < end && (blank = space_at(p, end)) > 0; p += blank)
        letters--;
    while (end > p) {
        const unsigned char *last = end - 1;
        while (last > p && (*last & 0xC0) == 0x80)
            last--;
        if (space_at(last, end) != (size_t)(end - last))
            break;
        letters--;
        end = last;
    }
    return letters;
}

/* Paragraphs vote for what they stand in, and text that is broken by br for the element that has it. */
static int
paragraph_votes(Page *page, const Rules *rules, Votes *votes)
{
    Py_ssize_t paragraphs = 0, breaks = 0, read = 0, number = 0;
    for (int32_t at = 0; at < page->count; at++) {
        paragraphs += page->items[at].role == PARAGRAPH;
        breaks += page->items[at].role == BREAK;
    }
    Py_ssize_t step = 1 + paragraphs / rules->most_voters;
    for (int32_t at = 0; at < page->count && read <= rules->budget && paragraphs; at++) {
        const Item *item = &page->items[at];
        if (item->role != PARAGRAPH || number++ % step || item->parent < 0)
            continue;
        Py_ssize_t length = (Py_ssize_t)letters_of(page, at);
        read += length;
        if (length >= rules->least_paragraph && add_vote(page, votes, item->parent, (double)length) < 0)
            return -1;
    }
    step = 1 + breaks / rules->most_voters;
    number = 0;
    for (int32_t at = 0; at < page->count && breaks; at++) {
        int32_t parent = page->items[at].parent;
        if (page->items[at].role != BREAK || number++ % step || parent < 0)
            continue;
        Item *block = &page->items[parent];
        if (block->kind & INLINE || block->role == PARAGRAPH || block->counted)
            continue;
        block->counted = 1;
        Py_ssize_t length = 0;
        for (int32_t child = parent + 1; child < block->end; child = page->items[child].end)
            if (page->items[child].is_text)
                length += (Py_ssize_t)stripped_letters(page, child);
        read += length;
        if (length >= rules->least_paragraph && add_vote(page, votes, parent, (double)length) < 0)
            return -1;
        if (read > rules->budget)
            break;
    }
    return 0;
}

static int
text_votes(Page *page, const Rules *rules, int32_t body, Votes *votes)
{
    Py_ssize_t left = rules->most_texts;
    for (int32_t at = body + 1; at < page->items[body].end && left > 0; at++) {
        if (!page->items[at].is_text)
            continue;
        Py_ssize_t length = (Py_ssize_t)letters_of(page, at);
        int32_t block = page->items[at].parent;
        if (length < rules->least_node || page->items[block].kind & SILENT)
            continue;
        for (Py_ssize_t step = 0; step < rules->most_steps && block >= 0 && page->items[block].kind & INLINE; step++)
            block = page->items[block].parent;
        int32_t parent = block >= 0 ? page->items[block].parent : -1;
        if (parent >= 0 && add_vote(page, votes, parent, (double)length) < 0)
            return -1;
        left--;
    }
    return 0;
}

/* Whether an element is inside comments, a side bar or the like; each ancestor is asked once. */
static int
is_discredited(Page *page, const Rules *rules, int32_t at)
{
    int answer = GOOD;
    int32_t top = at;
    for (; top >= 0 && !(page->items[top].kind & TOP); top = page->items[top].parent) {
        Item *item = &page->items[top];
        if (item->credit != UNKNOWN) {
            answer = item->credit;
            break;
        }
        int said = item->kind & ASIDE ? SAYS_ELSEWHERE : said_of(rules, item->node);
        if (said < 0)
            return -1;
        if (said & SAYS_ELSEWHERE) {
            item->credit = answer = BAD;
            break;
        }
    }
    for (; at != top; at = page->items[at].parent)
        page->items[at].credit = (unsigned char)answer;
    return answer == BAD;
}

/* The element with the most votes, its own and what came up to it; -1 for none, -2 with an exception. */
static int32_t
elect(Page *page, const Rules *rules, const Votes *votes, double *most)
{
    Votes total = {0};
    int32_t winner = -1;
    *most = 0;
    for (int32_t i = 0; i < votes->count; i++) {
        int32_t at = votes->list[i].item;
        double vote = votes->list[i].votes;
        int bad = is_discredited(page, rules, at);
        if (bad)
            vote *= rules->discredited;
        if (bad < 0 || add_vote(page, &total, at, vote) < 0)
            goto failed;
        for (Py_ssize_t level = 0; level < rules->levels; level++) {
            at = page->items[at].parent;
            if (at < 0 || page->items[at].kind & TOP) /* the body wins by its own paragraphs only */
                break;
            vote *= rules->fade;
            if (add_vote(page, &total, at, vote) < 0)
                goto failed;
        }
    }
    for (int32_t i = 0; i < total.count; i++)
        if (winner < 0 || total.list[i].votes > *most) {
            winner = total.list[i].item;
            *most = total.list[i].votes;
        }
    PyMem_Free(total.list);
    return winner;
failed:
    PyMem_Free(total.list);
    return -2;
}

static int32_t
root_of(Page *page, const Rules *rules, int32_t body)
{
    Votes votes = {0};
    double vote = 0, other_vote = 0;
    int32_t winner = -2;
    if (paragraph_votes(page, rules, &votes) < 0 || (winner = elect(page, rules, &votes, &vote)) < -1)
        goto done;
    if (vote < rules->least_vote) {
        int32_t other = -2;
        votes.count = 0;
        if (text_votes(page, rules, body, &votes) < 0 || (other = elect(page, rules, &votes, &other_vote)) < -1)
            winner = -2;
        else if (other >= 0 && other_vote > vote * rules->lead)
            winner = other;
    }
    while (winner >= 0 && (page->items[winner].kind & INLINE || page->items[winner].role == PARAGRAPH))
        winner = page->items[winner].parent;
done:
    PyMem_Free(votes.list);
    return winner;
}

/* --- the text ------------------------------------------------------------------------------------------------------------ */

/* The text of the root without boilerplate inside it, and unlinked without lines that are nothing but links; None when it is shorter
   than `least`. */
static PyObject *
cleaned(const Page *page, const Rules *rules, int32_t root, int unlinked, Py_ssize_t least)
{
    Lines lines = {.fresh = 1, .unlinked = unlinked};
    /* A root that is the whole body has the page's frame inside it too. */
    int words = page->items[root].kind & TOP ? SAYS_JUNK | SAYS_ELSEWHERE : SAYS_JUNK;
    double most = rules->most_junk * (double)letters_of(page, root);
    Py_ssize_t budget = rules->budget;
    int32_t block = root, links_end = 0;
    for (int32_t at = root + 1; at < page->items[root].end;) {
        const Item *item = &page->items[at];
        if (item->is_text) {
            size_t size;
            const unsigned char *text = text_at(page, at, &size);
            if (item->block != block)
                lines.fresh = 1;
            block = item->block;
            if (add_text(&lines, text, size, at < links_end) < 0)
                break;
        } else if (item->kind & HIDDEN) {
            at = item->end;
            continue;
        } else if (!(item->kind & INLINE)) {
            lines.fresh = 1;
            int out = item->kind & BOILERPLATE;
            if (!out && item->kind & NAMED) {
                int said = said_of(rules, item->node);
                if (said < 0)
                    break;
                if (said & words) {
                    Py_ssize_t length = budget > 0 ? (Py_ssize_t)letters_of(page, at) : 0;
                    budget -= length;
                    out = (double)length <= most;
                }
            }
            if (out) {
                at = item->end;
                continue;
            }
        } else if (item->links && item->end > links_end)
            links_end = item->end;
        at++;
    }
    return lines_end(&lines, (size_t)least);
}

PyObject *
main_text(Page *page, int32_t body, PyObject *numbers)
{
    Rules rules;
    if (!PyArg_ParseTuple(numbers, "nnnddnddndnnnnO!O:rules", &rules.most_voters, &rules.budget, &rules.levels, &rules.fade,
                          &rules.discredited, &rules.least_paragraph, &rules.least_vote, &rules.lead, &rules.least_text,
                          &rules.most_junk, &rules.most_texts, &rules.least_node, &rules.most_steps, &rules.most_said,
                          &PyDict_Type, &rules.judged, &rules.judge))
        return NULL;
    if (rules.most_voters < 1 || rules.most_said < 0 || rules.most_said > 1 << 20)
        return PyErr_Format(PyExc_ValueError, "rules: one voter at least, and some characters of a name");
    int32_t root = root_of(page, &rules, body);
    if (root < -1)
        return NULL;
    if (root >= 0) {
        PyObject *text = cleaned(page, &rules, root, 1, rules.least_text);
        if (text != Py_None)
            return text;
        Py_DECREF(text);
    }
    return cleaned(page, &rules, body, 0, 0);
}
