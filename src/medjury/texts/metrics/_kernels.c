/* The counting behind the text metrics: words, characters and n-grams that two texts share, pair by pair.

   Plain C11 without any Python in it; `_compiled.py` calls the functions at the end through ctypes, and
   `_uncompiled.py` counts the same in Python. Only whole numbers leave this file (and one sum of given weights,
   added in a fixed order), so that both give identical metrics.

   Texts come as UTF-32, one after another: reference 0, hypothesis 0, reference 1, ... Every list is bounded by
   the length of the texts; memory grows linearly with the longest pair. */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum { OK = 0, OUT_OF_MEMORY = -1, BAD_OFFSETS = -2, TOO_LONG = -3 };
enum { WORDS = 1, CHARACTERS = 2, BLEU = 4, ROUGE = 8, ROUGE_W = 16, CHRF = 32, CHRF_WORDS = 64 };

/* The columns of one row of counts; `_lexical/counts.py` names them in the same order. */
enum {
    REFERENCE_WORDS, HYPOTHESIS_WORDS, HITS, SUBSTITUTIONS, DELETIONS, INSERTIONS,
    REFERENCE_CHARACTERS, HYPOTHESIS_CHARACTERS, CHARACTER_EDITS,
    BLEU_1, BLEU_2, BLEU_3, BLEU_4,
    REFERENCE_TOKENS, HYPOTHESIS_TOKENS, ROUGE_1, ROUGE_2, LONGEST_COMMON,
    REFERENCE_SIGNS, HYPOTHESIS_SIGNS, CHRF_1, CHRF_2, CHRF_3, CHRF_4, CHRF_5, CHRF_6,
    REFERENCE_PIECES, HYPOTHESIS_PIECES, PIECES_1, PIECES_2,
    COLUMNS
};

/* A text longer than this cannot be indexed by the 32-bit positions below. */
#define LONGEST_TEXT ((int64_t)1 << 30)
/* Above this size the table of an alignment is not kept: the alignment is found by halves (Hirschberg 1975).
   The limit decides between equally good alignments, so it is part of the definition of MER and WIL. */
#define ALIGNMENT_BYTES (1024 * 1024)
/* Weighted common subsequences need every cell of the table; beyond this many, none is computed. */
#define WEIGHTED_CELLS 100000000

/* ---- memory that grows and is used again from pair to pair ------------------------------------------ */

typedef struct { void *data; size_t size; } Memory;

typedef struct {
    const uint32_t *characters;
    int32_t length;
} Word;

typedef struct { uint64_t key; uint32_t stamp; int32_t value; } Slot;

typedef struct {
    Memory slots, words, codes[2], prefixes[2], counts;            /* coding and n-grams */
    Memory occurrences, starts, places, dense, rows, scratch;      /* where a pattern has which item */
    Memory matrix, column[2], scores[2], weighted, runs, links;    /* tables of alignments */
    uint32_t stamp;
    int failed;
} Space;

static void *room(Space *space, Memory *memory, int64_t count, size_t each) {
    if (count < 1) count = 1;
    size_t size = (size_t)count * each;
    if (memory->size < size) {
        size_t larger = size + size / 2;
        void *data = realloc(memory->data, larger);
        if (!data) { space->failed = 1; return NULL; }
        memset((char *)data + memory->size, 0, larger - memory->size);
        memory->data = data;
        memory->size = larger;
    }
    return memory->data;
}

static void release(Space *space) {
    Memory *all[] = {
        &space->slots, &space->words, &space->codes[0], &space->codes[1], &space->prefixes[0],
        &space->prefixes[1], &space->counts, &space->occurrences, &space->starts, &space->places, &space->dense,
        &space->rows, &space->scratch, &space->matrix, &space->column[0], &space->column[1], &space->scores[0],
        &space->scores[1], &space->weighted, &space->runs, &space->links,
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]->data);
}

/* ---- a hash table that is emptied by raising its stamp ------------------------------------------------ */

typedef struct { Slot *slots; uint64_t mask; uint32_t stamp; } Table;

static int table_in(Space *space, Memory *memory, int64_t entries, Table *out) {
    uint64_t size = 16;
    while (size < (uint64_t)entries * 2) size *= 2;
    out->slots = room(space, memory, (int64_t)size, sizeof(Slot));
    if (!out->slots) return 0;
    if (++space->stamp == 0) {                      /* once in 4 billion tables the stamps start again */
        memset(memory->data, 0, memory->size);
        space->stamp = 1;
    }
    out->mask = size - 1;
    out->stamp = space->stamp;
    return 1;
}

static int table(Space *space, int64_t entries, Table *out) {
    return table_in(space, &space->slots, entries, out);
}

static inline uint64_t mixed(uint64_t key) {
    key ^= key >> 32;
    key *= 0x9E3779B97F4A7C15u;
    return key ^ (key >> 29);
}

/* The slot of `key`: either the one that holds it or the empty one where it belongs. */
static inline Slot *slot_of(const Table *t, uint64_t key) {
    uint64_t at = mixed(key) & t->mask;
    while (t->slots[at].stamp == t->stamp && t->slots[at].key != key) at = (at + 1) & t->mask;
    return &t->slots[at];
}

/* ---- characters and words ------------------------------------------------------------------------------ */

static inline int is_space(uint32_t c) {            /* as Python's str.split() */
    if (c < 0x80) return c == 0x20 || (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x1F);
    return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 ||
           c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

static inline int is_sign(uint32_t c) {             /* the punctuation of ASCII */
    return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

/* The letter or digit that ROUGE sees, or 0. Two signs beyond ASCII have a plain letter as their lower case. */
static inline uint32_t rouge_letter(uint32_t c) {
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) return c;
    if (c >= 'A' && c <= 'Z') return c + 32;
    if (c == 0x130) return 'i';
    if (c == 0x212A) return 'k';
    return 0;
}

/* One distinct word, one code. Codes count from 0 in order of appearance; the two sides share them. */
typedef struct { Space *space; Table table; Word *words; int32_t distinct; int fold; } Coder;

static int coder(Space *space, int64_t entries, int fold, Coder *out) {
    out->space = space;
    out->distinct = 0;
    out->fold = fold;
    out->words = room(space, &space->words, entries, sizeof(Word));
    return out->words && table(space, entries, &out->table);
}

static inline uint32_t seen(uint32_t c, int fold) { return fold ? rouge_letter(c) : c; }

static int32_t code_of(Coder *c, const uint32_t *characters, int32_t length) {
    uint64_t hash = 0xCBF29CE484222325u ^ (uint64_t)length;
    for (int32_t i = 0; i < length; i++) hash = (hash ^ seen(characters[i], c->fold)) * 0x100000001B3u;
    uint64_t at = mixed(hash) & c->table.mask;
    for (;; at = (at + 1) & c->table.mask) {
        Slot *slot = &c->table.slots[at];
        if (slot->stamp != c->table.stamp) {
            *slot = (Slot){hash, c->table.stamp, c->distinct};
            c->words[c->distinct] = (Word){characters, length};
            return c->distinct++;
        }
        if (slot->key == hash && c->words[slot->value].length == length) {
            const uint32_t *other = c->words[slot->value].characters;
            int32_t i = 0;
            while (i < length && seen(other[i], c->fold) == seen(characters[i], c->fold)) i++;
            if (i == length) return slot->value;
        }
    }
}

/* Words between white space. */
static int32_t code_words(Coder *c, const uint32_t *text, int32_t length, int32_t *codes) {
    int32_t count = 0;
    for (int32_t i = 0; i < length;) {
        while (i < length && is_space(text[i])) i++;
        int32_t start = i;
        while (i < length && !is_space(text[i])) i++;
        if (i > start) codes[count++] = code_of(c, text + start, i - start);
    }
    return count;
}

/* Words with one sign split off at the end, or else at the beginning: the words of chrF++. */
static int32_t code_pieces(Coder *c, const uint32_t *text, int32_t length, int32_t *codes) {
    int32_t count = 0;
    for (int32_t i = 0; i < length;) {
        while (i < length && is_space(text[i])) i++;
        const uint32_t *word = text + i;
        int32_t start = i;
        while (i < length && !is_space(text[i])) i++;
        int32_t size = i - start;
        if (size == 0) break;
        if (size > 1 && is_sign(word[size - 1])) {
            codes[count++] = code_of(c, word, size - 1);
            codes[count++] = code_of(c, word + size - 1, 1);
        } else if (size > 1 && is_sign(word[0])) {
            codes[count++] = code_of(c, word, 1);
            codes[count++] = code_of(c, word + 1, size - 1);
        } else {
            codes[count++] = code_of(c, word, size);
        }
    }
    return count;
}

/* Runs of a-z and 0-9 in lower case: the tokens of ROUGE. "İ" is an i followed by a mark, which ends a run. */
static int32_t code_tokens(Coder *c, const uint32_t *text, int32_t length, int32_t *codes) {
    int32_t count = 0;
    for (int32_t i = 0; i < length;) {
        while (i < length && !rouge_letter(text[i])) i++;
        int32_t start = i;
        while (i < length && rouge_letter(text[i])) if (text[i++] == 0x130) break;
        if (i > start) codes[count++] = code_of(c, text + start, i - start);
    }
    return count;
}

/* Single characters: all of them, or those that are not white space. */
static int32_t code_characters(
    const Table *t, int32_t *distinct, const uint32_t *text, int32_t length, int spaces, int32_t *codes) {
    int32_t count = 0;
    for (int32_t i = 0; i < length; i++) {
        if (!spaces && is_space(text[i])) continue;
        Slot *slot = slot_of(t, text[i]);
        if (slot->stamp != t->stamp) *slot = (Slot){text[i], t->stamp, (*distinct)++};
        codes[count++] = slot->value;
    }
    return count;
}

/* ---- shared n-grams -------------------------------------------------------------------------------------- */

/* How many n-grams of each order from 1 the two sides share, each counted as often as on the side that has
   fewer. An n-gram is the pair (the (n-1)-gram it begins with, its last item), numbered as it appears, so that
   no two are ever confused. */
static int shared_ngrams(
    Space *space, const int32_t *a, int32_t n, const int32_t *b, int32_t m, int32_t distinct, int orders,
    int64_t *shared) {
    int32_t *prefix_a = room(space, &space->prefixes[0], n, sizeof(int32_t));
    int32_t *prefix_b = room(space, &space->prefixes[1], m, sizeof(int32_t));
    int32_t *counts = room(space, &space->counts, distinct > n ? distinct : n, sizeof(int32_t));
    if (!prefix_a || !prefix_b || !counts) return 0;
    memset(counts, 0, (size_t)distinct * sizeof *counts);
    for (int32_t i = 0; i < n; i++) counts[prefix_a[i] = a[i]]++;
    int64_t matches = 0;
    for (int32_t j = 0; j < m; j++) {
        prefix_b[j] = counts[b[j]] != 0 ? b[j] : -1;
        if (prefix_b[j] >= 0 && counts[b[j]] > 0) { matches++; counts[b[j]]--; if (!counts[b[j]]) counts[b[j]] = -1; }
    }
    shared[0] = matches;
    for (int order = 2; order <= orders; order++) {
        Table t;
        if (!table(space, n, &t)) return 0;
        int32_t ids = 0;
        for (int32_t i = 0; i + order <= n; i++) {
            uint64_t key = ((uint64_t)(uint32_t)prefix_a[i] << 32) | (uint32_t)a[i + order - 1];
            Slot *slot = slot_of(&t, key);
            if (slot->stamp != t.stamp) { *slot = (Slot){key, t.stamp, ids}; counts[ids++] = 0; }
            counts[slot->value]++;
            prefix_a[i] = slot->value;
        }
        matches = 0;
        for (int32_t j = 0; j + order <= m; j++) {
            if (prefix_b[j] < 0) continue;
            Slot *slot = slot_of(&t, ((uint64_t)(uint32_t)prefix_b[j] << 32) | (uint32_t)b[j + order - 1]);
            if (slot->stamp != t.stamp) { prefix_b[j] = -1; continue; }
            prefix_b[j] = slot->value;
            if (counts[slot->value] > 0) { counts[slot->value]--; matches++; }
        }
        shared[order - 1] = matches;
    }
    return 1;
}

/* ---- bit-parallel columns (Myers 1999, Hyyrö 2003) ------------------------------------------------------- */

/* For every item, the places where the pattern has it, as rows of bits. An item that is frequent has a row of
   its own; the others are set in a scratch row and cleared again, so that memory stays linear. */
typedef struct {
    int32_t length, blocks, step;
    int32_t *occurrences, *starts, *places, *dense;
    uint64_t *rows, *scratch;
} Pattern;

static int pattern(Space *space, const int32_t *items, int32_t length, int step, int32_t distinct, Pattern *p) {
    p->length = length;
    p->blocks = (length + 63) / 64;
    p->occurrences = room(space, &space->occurrences, distinct, sizeof(int32_t));
    p->starts = room(space, &space->starts, distinct, sizeof(int32_t));
    p->dense = room(space, &space->dense, distinct, sizeof(int32_t));
    p->places = room(space, &space->places, length, sizeof(int32_t));
    p->scratch = room(space, &space->scratch, p->blocks, sizeof(uint64_t));
    if (space->failed) return 0;
    memset(p->occurrences, 0, (size_t)distinct * sizeof(int32_t));
    memset(p->scratch, 0, (size_t)p->blocks * sizeof(uint64_t));
    for (int32_t i = 0; i < length; i++) p->occurrences[items[(int64_t)i * step]]++;
    int32_t rows = 0, start = 0;
    for (int32_t code = 0; code < distinct; code++) {
        int32_t count = p->occurrences[code];
        p->starts[code] = start;
        start += count;
        p->dense[code] = count && count >= p->blocks ? rows++ : -1;
    }
    p->rows = room(space, &space->rows, (int64_t)rows * p->blocks, sizeof(uint64_t));
    if (!p->rows) return 0;
    memset(p->rows, 0, (size_t)rows * (size_t)p->blocks * sizeof(uint64_t));
    for (int32_t i = 0; i < length; i++) {
        int32_t code = items[(int64_t)i * step];
        if (p->dense[code] >= 0) p->rows[(int64_t)p->dense[code] * p->blocks + i / 64] |= (uint64_t)1 << (i % 64);
        else p->places[p->starts[code]++] = i;
    }
    return 1;
}

static const uint64_t *row_of(Pattern *p, int32_t code) {
    if (p->dense[code] >= 0) return p->rows + (int64_t)p->dense[code] * p->blocks;
    for (int32_t k = p->starts[code] - p->occurrences[code]; k < p->starts[code]; k++)
        p->scratch[p->places[k] / 64] |= (uint64_t)1 << (p->places[k] % 64);
    return p->scratch;
}

static void row_done(Pattern *p, int32_t code) {
    if (p->dense[code] >= 0) return;
    for (int32_t k = p->starts[code] - p->occurrences[code]; k < p->starts[code]; k++)
        p->scratch[p->places[k] / 64] = 0;
}

/* One column of the edit-distance table from the one before, blocks `first` to `last`. A column is kept as the
   differences between its neighbouring cells: `up` where it rises by one, `down` where it falls. Returns by how
   much the cell at bit `bit` of the last block differs from its left neighbour. */
static int advance(
    const uint64_t *row, int32_t first, int32_t last, const uint64_t *up_in, const uint64_t *down_in,
    uint64_t *up_out, uint64_t *down_out, int bit) {
    uint64_t carry_up = 1, carry_down = 0;
    int change = 0;
    for (int32_t b = first; b <= last; b++) {
        uint64_t up = up_in[b], down = down_in[b], x = row[b] | carry_down;
        uint64_t diagonal = (((x & up) + up) ^ up) | x | down;
        uint64_t right_up = down | ~(diagonal | up), right_down = diagonal & up;
        if (b == last) change = (int)((right_up >> bit) & 1) - (int)((right_down >> bit) & 1);
        uint64_t shifted_up = (right_up << 1) | carry_up, shifted_down = (right_down << 1) | carry_down;
        carry_up = right_up >> 63;
        carry_down = right_down >> 63;
        up_out[b] = shifted_down | ~(diagonal | shifted_up);
        down_out[b] = shifted_up & diagonal;
    }
    return change;
}

/* ---- edit distance of characters -------------------------------------------------------------------------- */

/* The distance if it is at most `limit`, else something above it. Only cells within `limit` of the diagonal
   are visited (Ukkonen 1985), in whole blocks. */
static int64_t banded_distance(Space *space, Pattern *p, const int32_t *b, int32_t m, int64_t limit) {
    int32_t n = p->length;
    uint64_t *up = room(space, &space->column[0], p->blocks, sizeof(uint64_t));
    uint64_t *down = room(space, &space->column[1], p->blocks, sizeof(uint64_t));
    if (!up || !down) return -1;
    memset(up, 0xFF, (size_t)p->blocks * sizeof *up);
    memset(down, 0, (size_t)p->blocks * sizeof *down);
    int32_t last = -1;
    int64_t score = 0;                              /* of the lowest cell of the last block */
    for (int32_t j = 0; j < m; j++) {
        int64_t reach = (j + limit) / 64;
        int32_t wanted = reach < p->blocks - 1 ? (int32_t)reach : p->blocks - 1;
        for (; last < wanted; last++) score += last + 2 == p->blocks ? n - (int64_t)(last + 1) * 64 : 64;
        int32_t first = j > limit ? (int32_t)((j - limit) / 64) : 0;
        const uint64_t *row = row_of(p, b[j]);
        score += advance(row, first, last, up, down, up, down, last == p->blocks - 1 ? (n - 1) % 64 : 63);
        row_done(p, b[j]);
    }
    return last == p->blocks - 1 ? score : limit + 1;
}

static int64_t distance(Space *space, const int32_t *a, int32_t n, const int32_t *b, int32_t m, int32_t distinct) {
    while (n && m && *a == *b) { a++; b++; n--; m--; }
    while (n && m && a[n - 1] == b[m - 1]) { n--; m--; }
    if (!n || !m) return (int64_t)n + m;
    Pattern p;
    if (!pattern(space, a, n, 1, distinct, &p)) return -1;
    int64_t whole = n > m ? n : m, gap = n > m ? n - m : m - n;
    int64_t limit = whole <= 512 ? whole : gap > 128 ? gap : 128;
    for (;; limit *= 2) {
        if (limit > whole) limit = whole;
        int64_t found = banded_distance(space, &p, b, m, limit);
        if (found <= limit || limit == whole) return found;
    }
}

/* ---- alignment of words ----------------------------------------------------------------------------------- */

typedef struct { int64_t hits, substitutions, deletions, insertions; } Tally;

/* The last column of the table of `a` against `b`, both read with `step`, as the scores of its cells. */
static int64_t *last_column(
    Space *space, const int32_t *a, int32_t n, const int32_t *b, int32_t m, int step, int32_t distinct, int which) {
    int64_t *scores = room(space, &space->scores[which], (int64_t)n + 1, sizeof(int64_t));
    uint64_t *up = room(space, &space->column[0], (n + 63) / 64, sizeof(uint64_t));
    uint64_t *down = room(space, &space->column[1], (n + 63) / 64, sizeof(uint64_t));
    Pattern p;
    if (space->failed || !pattern(space, a, n, step, distinct, &p)) return NULL;
    memset(up, 0xFF, (size_t)p.blocks * sizeof *up);
    memset(down, 0, (size_t)p.blocks * sizeof *down);
    for (int32_t j = 0; j < m; j++) {
        int32_t code = b[(int64_t)j * step];
        advance(row_of(&p, code), 0, p.blocks - 1, up, down, up, down, 0);
        row_done(&p, code);
    }
    scores[0] = m;
    for (int32_t i = 0; i < n; i++)
        scores[i + 1] = scores[i] + (int)((up[i / 64] >> (i % 64)) & 1) - (int)((down[i / 64] >> (i % 64)) & 1);
    return scores;
}

static int align_whole(
    Space *space, const int32_t *a, int32_t n, const int32_t *b, int32_t m, int32_t distinct, Tally *tally,
    int32_t *links, int32_t offset) {
    Pattern p;
    if (!pattern(space, a, n, 1, distinct, &p)) return 0;
    int64_t blocks = p.blocks;
    uint64_t *matrix = room(space, &space->matrix, 2 * blocks * (m + (int64_t)1), sizeof(uint64_t));
    if (!matrix) return 0;
    memset(matrix, 0xFF, (size_t)blocks * sizeof *matrix);
    memset(matrix + blocks, 0, (size_t)blocks * sizeof *matrix);
    for (int32_t j = 0; j < m; j++) {
        uint64_t *before = matrix + 2 * blocks * j, *after = before + 2 * blocks;
        advance(row_of(&p, b[j]), 0, p.blocks - 1, before, before + blocks, after, after + blocks, 0);
        row_done(&p, b[j]);
    }
    /* Walk back. Among equally good alignments: a deletion first, then an insertion, then the diagonal. */
    int32_t i = n, j = m;
    while (i && j) {
        const uint64_t *here = matrix + 2 * blocks * j, *left = here - 2 * blocks + blocks;
        if ((here[(i - 1) / 64] >> ((i - 1) % 64)) & 1) { tally->deletions++; i--; continue; }
        j--;
        if (j && (left[(i - 1) / 64] >> ((i - 1) % 64)) & 1) { tally->insertions++; continue; }
        i--;
        if (a[i] != b[j]) tally->substitutions++;
        else { tally->hits++; if (links) links[i] = offset + j; }
    }
    tally->deletions += i;
    tally->insertions += j;
    return 1;
}

/* One best alignment, counted; `links[i]` is the hypothesis word that equals reference word i, where one does. */
static int align(
    Space *space, const int32_t *a, int32_t n, const int32_t *b, int32_t m, int64_t limit, int32_t distinct,
    Tally *tally, int32_t *links, int32_t offset) {
    while (n && m && *a == *b) {
        if (links) *links++ = offset;
        a++; b++; n--; m--; offset++; tally->hits++;
    }
    while (n && m && a[n - 1] == b[m - 1]) {
        n--; m--; tally->hits++;
        if (links) links[n] = offset + m;
    }
    if (!n || !m) { tally->deletions += n; tally->insertions += m; return 1; }
    int64_t longer = n > m ? n : m;
    if (limit > longer) limit = longer;
    int64_t band = n < 2 * limit + 1 ? n : 2 * limit + 1;
    if (2 * band * m / 8 < ALIGNMENT_BYTES || n < 65 || m < 10)
        return align_whole(space, a, n, b, m, distinct, tally, links, offset);
    int32_t middle = m / 2, cut = 0;
    int64_t *right = last_column(space, a + n - 1, n, b + m - 1, m - middle, -1, distinct, 0);
    int64_t *left = right ? last_column(space, a, n, b, middle, 1, distinct, 1) : NULL;
    if (!left) return 0;
    for (int32_t i = 1; i <= n; i++) if (left[i] + right[n - i] < left[cut] + right[n - cut]) cut = i;
    int64_t limit_left = left[cut], limit_right = right[n - cut];
    return align(space, a, cut, b, middle, limit_left, distinct, tally, links, offset) &&
           align(space, a + cut, n - cut, b + middle, m - middle, limit_right, distinct, tally,
                 links ? links + cut : NULL, offset + middle);
}

/* ---- common subsequences ------------------------------------------------------------------------------------ */

/* The length of the longest common subsequence (Hyyrö 2004): the zeros left in a row of ones. */
static int64_t longest_common(
    Space *space, const int32_t *a, int32_t n, const int32_t *b, int32_t m, int32_t distinct) {
    if (!n || !m) return 0;
    Pattern p;
    if (!pattern(space, a, n, 1, distinct, &p)) return -1;
    uint64_t *s = room(space, &space->column[0], p.blocks, sizeof(uint64_t));
    if (!s) return -1;
    memset(s, 0xFF, (size_t)p.blocks * sizeof *s);
    for (int32_t j = 0; j < m; j++) {
        const uint64_t *row = row_of(&p, b[j]);
        uint64_t carry = 0;
        for (int32_t k = 0; k < p.blocks; k++) {
            uint64_t kept = s[k] & row[k], sum = s[k] + kept, with = sum + carry;
            carry = (sum < kept) | (with < carry);
            s[k] = with | (s[k] - kept);
        }
        row_done(&p, b[j]);
    }
    if (n % 64) s[p.blocks - 1] |= ~(uint64_t)0 << (n % 64);
    int64_t zeros = 0;
    for (int32_t k = 0; k < p.blocks; k++) zeros += 64 - __builtin_popcountll(s[k]);
    return zeros;
}

/* The weight of the heaviest common subsequence (Lin 2004): a run of k consecutive matches weighs weights[k]. */
static double weighted_common(
    Space *space, const int32_t *a, int32_t n, const int32_t *b, int32_t m, const double *weights) {
    double *cells = room(space, &space->weighted, (int64_t)m + 1, sizeof(double));
    int32_t *runs = room(space, &space->runs, (int64_t)m + 1, sizeof(int32_t));
    if (!cells || !runs) return -1.0;
    for (int32_t j = 0; j <= m; j++) { cells[j] = 0.0; runs[j] = 0; }
    for (int32_t i = 0; i < n; i++) {
        double corner = cells[0];
        int32_t run = runs[0];
        for (int32_t j = 0; j < m; j++) {
            double above = cells[j + 1];
            int32_t above_run = runs[j + 1];
            if (a[i] == b[j]) {
                cells[j + 1] = corner + weights[run + 1] - weights[run];
                runs[j + 1] = run + 1;
            } else {
                cells[j + 1] = above > cells[j] ? above : cells[j];
                runs[j + 1] = 0;
            }
            corner = above;
            run = above_run;
        }
    }
    return cells[m];
}

/* ---- one pair ----------------------------------------------------------------------------------------------- */

typedef struct { const uint32_t *text; int32_t length; } Side;

/* Every list of words or characters of a text fits in this many places. */
static int64_t places(Side side) { return (int64_t)side.length + 1; }

static Side stripped(Side side) {
    while (side.length && is_space(side.text[0])) { side.text++; side.length--; }
    while (side.length && is_space(side.text[side.length - 1])) side.length--;
    return side;
}

static void count_pair(
    Space *space, Side reference, Side hypothesis, uint32_t wanted, const double *weights, int64_t weights_length,
    int64_t *row, double *weighted) {
    int32_t *a = room(space, &space->codes[0], places(reference), sizeof(int32_t));
    int32_t *b = room(space, &space->codes[1], places(hypothesis), sizeof(int32_t));
    int64_t entries = places(reference) + places(hypothesis);
    Coder c;
    int32_t n, m;
    if (space->failed) return;
    if (wanted & (WORDS | BLEU)) {
        if (!coder(space, entries / 2 + 1, 0, &c)) return;
        row[REFERENCE_WORDS] = n = code_words(&c, reference.text, reference.length, a);
        row[HYPOTHESIS_WORDS] = m = code_words(&c, hypothesis.text, hypothesis.length, b);
        if (wanted & BLEU && !shared_ngrams(space, a, n, b, m, c.distinct, 4, row + BLEU_1)) return;
        if (wanted & WORDS) {
            Tally tally = {0, 0, 0, 0};
            if (!align(space, a, n, b, m, INT32_MAX, c.distinct, &tally, NULL, 0)) return;
            row[HITS] = tally.hits;
            row[SUBSTITUTIONS] = tally.substitutions;
            row[DELETIONS] = tally.deletions;
            row[INSERTIONS] = tally.insertions;
        }
    }
    if (wanted & ROUGE) {
        if (!coder(space, entries, 1, &c)) return;
        row[REFERENCE_TOKENS] = n = code_tokens(&c, reference.text, reference.length, a);
        row[HYPOTHESIS_TOKENS] = m = code_tokens(&c, hypothesis.text, hypothesis.length, b);
        if (!shared_ngrams(space, a, n, b, m, c.distinct, 2, row + ROUGE_1)) return;
        row[LONGEST_COMMON] = longest_common(space, a, n, b, m, c.distinct);
        if (wanted & ROUGE_W) {
            int64_t shorter = n < m ? n : m;
            int fits = (int64_t)n * m <= WEIGHTED_CELLS && shorter + 1 < weights_length;
            *weighted = fits ? weighted_common(space, a, n, b, m, weights) : -1.0;
        }
    }
    if (wanted & CHRF_WORDS) {
        if (!coder(space, entries, 0, &c)) return;
        row[REFERENCE_PIECES] = n = code_pieces(&c, reference.text, reference.length, a);
        row[HYPOTHESIS_PIECES] = m = code_pieces(&c, hypothesis.text, hypothesis.length, b);
        if (!shared_ngrams(space, a, n, b, m, c.distinct, 2, row + PIECES_1)) return;
    }
    if (wanted & CHRF) {
        Table t;
        int32_t distinct = 0;
        if (!table(space, entries, &t)) return;
        row[REFERENCE_SIGNS] = n = code_characters(&t, &distinct, reference.text, reference.length, 0, a);
        row[HYPOTHESIS_SIGNS] = m = code_characters(&t, &distinct, hypothesis.text, hypothesis.length, 0, b);
        if (!shared_ngrams(space, a, n, b, m, distinct, 6, row + CHRF_1)) return;
    }
    if (wanted & CHARACTERS) {
        Table t;
        int32_t distinct = 0;
        reference = stripped(reference);
        hypothesis = stripped(hypothesis);
        if (!table(space, entries, &t)) return;
        row[REFERENCE_CHARACTERS] = n = code_characters(&t, &distinct, reference.text, reference.length, 1, a);
        row[HYPOTHESIS_CHARACTERS] = m = code_characters(&t, &distinct, hypothesis.text, hypothesis.length, 1, b);
        row[CHARACTER_EDITS] = distance(space, a, n, b, m, distinct);
    }
}

static int side(const uint32_t *texts, int64_t length, const int64_t *offsets, int64_t index, Side *out) {
    int64_t from = offsets[index], to = offsets[index + 1];
    if (from < 0 || to < from || to > length) return BAD_OFFSETS;
    if (to - from > LONGEST_TEXT) return TOO_LONG;
    *out = (Side){texts + from, (int32_t)(to - from)};
    return OK;
}

/* ---- what Python calls --------------------------------------------------------------------------------------- */

#ifndef MEDJURY_SOURCE
#define MEDJURY_SOURCE "unknown"
#endif

/* Names the source this library was compiled from, so that a stale one is not used. */
EXPORT const char *medjury_source(void) { return MEDJURY_SOURCE; }

/* Fill one row of COLUMNS counts per pair, and one weighted common subsequence (-1 where the pair is too long
   for it). `wanted` says which groups of columns. Returns 0, or a negative code. */
EXPORT int medjury_count(
    const uint32_t *texts, int64_t length, const int64_t *offsets, int64_t pairs, uint32_t wanted,
    const double *weights, int64_t weights_length, int64_t *counts, double *weighted) {
    Space space = {0};
    int status = OK;
    for (int64_t pair = 0; pair < pairs && status == OK; pair++) {
        Side reference, hypothesis;
        status = side(texts, length, offsets, 2 * pair, &reference);
        if (status == OK) status = side(texts, length, offsets, 2 * pair + 1, &hypothesis);
        if (status != OK) break;
        count_pair(&space, reference, hypothesis, wanted, weights, weights_length, counts + pair * COLUMNS,
                   weighted + pair);
        if (space.failed) status = OUT_OF_MEMORY;
    }
    release(&space);
    return status;
}

/* For every word of every reference the place of the hypothesis word that equals it in the alignment, or -1.
   `links` has room for `room_for` words; `starts[pair]` says where a pair begins in it. */
EXPORT int medjury_links(
    const uint32_t *texts, int64_t length, const int64_t *offsets, int64_t pairs, int64_t room_for, int32_t *links,
    int64_t *starts) {
    Space space = {0};
    int status = OK;
    starts[0] = 0;
    for (int64_t pair = 0; pair < pairs && status == OK; pair++) {
        Side reference, hypothesis;
        status = side(texts, length, offsets, 2 * pair, &reference);
        if (status == OK) status = side(texts, length, offsets, 2 * pair + 1, &hypothesis);
        if (status != OK) break;
        Coder c;
        int32_t *a = room(&space, &space.codes[0], places(reference), sizeof(int32_t));
        int32_t *b = room(&space, &space.codes[1], places(hypothesis), sizeof(int32_t));
        if (space.failed || !coder(&space, (places(reference) + places(hypothesis)) / 2 + 1, 0, &c)) {
            status = OUT_OF_MEMORY;
            break;
        }
        int32_t n = code_words(&c, reference.text, reference.length, a);
        int32_t m = code_words(&c, hypothesis.text, hypothesis.length, b);
        if (starts[pair] + n > room_for) { status = BAD_OFFSETS; break; }
        Tally tally = {0, 0, 0, 0};
        int32_t *out = links + starts[pair];
        for (int32_t i = 0; i < n; i++) out[i] = -1;
        if (!align(&space, a, n, b, m, INT32_MAX, c.distinct, &tally, out, 0)) status = OUT_OF_MEMORY;
        starts[pair + 1] = starts[pair] + n;
    }
    release(&space);
    return status;
}
