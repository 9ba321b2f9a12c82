/* The critical-difference detector on word codes: what `reading.py`, `differences.py` and `located` in
   `explain.py` (folder `_differences`) say in Python, said once more in C for speed. The Python is the definition; a test holds both
   against each other. Names and order of the steps are the same.

   This file is the one that is compiled; it takes the counting kernels in. */

#include "_kernels.c"

enum { NEGATION = 1, TURN = 2, NUMBER = 4, TERM = 8, COURTESY = 16, FUNCTION = 32, ANSWER = 64, CONTEXT = 128, ASKS = 256 };
enum { DRUG_ENDING = 1, VAGUE = 2, JOINS = 4, IS_NO = 8, IS_NOT = 16, IS_SIDE = 32 };
enum { TERMS, COURTESIES, YES, SHORT_YES, NO, GREETINGS, ADMINISTRATIVE, CLOSING };
enum { LOST, ADDED, AFFIRMED, DENIED, NEGATION_CHANGED, ANSWER_CHANGED, ACKNOWLEDGEMENT };
enum { NO_ANSWER, ANSWERED_YES, ANSWERED_NO };
enum { FEATURES = 11, ROW = 8 };

/* The word lists and the rules' numbers, as Python hands them over. A phrase or a wording is found by its first
   word, the longest first; only the first words of the vocabulary begin any. */
typedef struct {
    const int32_t *spell_starts, *spell;            /* spoken word -> canonical words */
    const int32_t *wording_starts, *wordings, *wording_items;   /* rows: where, how many, replacement where, how many */
    const int32_t *phrase_starts, *phrases, *phrase_items;      /* rows: list, category, where, how many */
    const uint16_t *kinds;
    const uint8_t *marks;
    const int64_t *letter_starts;
    const uint32_t *letters;
    int32_t spoken_words, canonical_words, wording_words, phrase_words, longest_spelling;
    int32_t scope, margin, answer_within, quoted_with, longest_joined, most_near;
    int32_t anatomy, laterality, drug, dose, time, number, content, qualifier;
    uint32_t loaded, deniable, clinical, health, counted_as_time, counted_as_dose;     /* categories as bits */
} Lists;

typedef struct { int32_t category, start, stop, negation; } Concept;

typedef struct {
    int32_t *words, *origins, count, spoken;
    Concept *concepts;
    int32_t concept_count, *content, content_count, denials, answer, courtesy;
    Table phrases;
} Reading;

typedef struct {
    const Lists *lists;
    Space space;
    Memory words[2], origins[2], concepts[2], content[2], tables[2], seen[3], local, lost, added, before, after;
    int32_t stamp;
} Detector;

static void *need(Detector *d, Memory *memory, int64_t count, size_t each) { return room(&d->space, memory, count, each); }

/* ---- reading -------------------------------------------------------------------------------------------------- */

static int32_t say(int32_t *words, int32_t *origins, int32_t count, int32_t word, int32_t origin) {
    if (count && word == words[count - 1]) return count;
    if (count > 2 && word == words[count - 2] && words[count - 1] == words[count - 3]) return count - 1;
    words[count] = word;
    origins[count] = origin;
    return count + 1;
}

/* Canonical words of a turn, stammered repeats said once. */
static int32_t words_of(const Lists *l, const int32_t *spoken, int32_t n, int32_t *words, int32_t *origins) {
    int32_t count = 0;
    for (int32_t place = 0; place < n;) {
        int32_t word = spoken[place], step = 1;
        const int32_t *canonical = l->spell + l->spell_starts[word];
        int32_t size = l->spell_starts[word + 1] - l->spell_starts[word];
        if (word < l->wording_words) {
            for (int32_t w = l->wording_starts[word]; w < l->wording_starts[word + 1]; w++) {
                const int32_t *wording = l->wordings + 4 * w;
                if (place + wording[1] > n) continue;
                if (memcmp(l->wording_items + wording[0], spoken + place, (size_t)wording[1] * sizeof *spoken)) continue;
                step = wording[1];
                canonical = l->wording_items + wording[2];
                size = wording[3];
                break;
            }
        }
        for (int32_t i = 0; i < size; i++) count = say(words, origins, count, canonical[i], place);
        place += step;
    }
    return count;
}

/* How many words the longest phrase of a list covers here, 0 where none stands here; its category on the way. */
static int32_t phrase_here(const Lists *l, const int32_t *words, int32_t n, int32_t place, int list, int32_t *category) {
    if (place >= n || words[place] >= l->phrase_words) return 0;
    for (int32_t p = l->phrase_starts[words[place]]; p < l->phrase_starts[words[place] + 1]; p++) {
        const int32_t *phrase = l->phrases + 4 * p;
        if (phrase[0] != list || place + phrase[3] > n) continue;
        if (memcmp(l->phrase_items + phrase[2], words + place, (size_t)phrase[3] * sizeof *words)) continue;
        if (category) *category = phrase[1];
        return phrase[3];
    }
    return 0;
}

static int mentions(const Lists *l, const int32_t *words, int32_t n, int list) {
    for (int32_t place = 0; place < n; place++) if (phrase_here(l, words, n, place, list, NULL)) return 1;
    return 0;
}

static int is_in(uint32_t categories, int32_t category) { return (int)((categories >> category) & 1); }

/* Where the concept that begins here stops; here where there is none. */
static int32_t concept_here(const Lists *l, const int32_t *words, int32_t n, int32_t place, int32_t *category) {
    if (!(l->kinds[words[place]] & NUMBER)) return place + phrase_here(l, words, n, place, TERMS, category);
    int32_t stop = place + 1, counted = -1;
    while (stop < n) {
        if (l->kinds[words[stop]] & NUMBER) stop++;
        else if (l->marks[words[stop]] & JOINS && stop + 1 < n && l->kinds[words[stop + 1]] & NUMBER) stop += 2;
        else break;
    }
    int32_t size = phrase_here(l, words, n, stop, TERMS, &counted);
    if (size && is_in(l->counted_as_time | l->counted_as_dose, counted)) {
        *category = is_in(l->counted_as_time, counted) ? l->time : l->dose;
        return stop + size;
    }
    if (stop == place + 1 && l->marks[words[place]] & VAGUE) return place + phrase_here(l, words, n, place, TERMS, category);
    *category = l->number;
    return stop;
}

static int answer_here(const Lists *l, const int32_t *words, int32_t n, int32_t place) {
    if (phrase_here(l, words, n, place, NO, NULL)) return ANSWERED_NO;
    if (phrase_here(l, words, n, place, YES, NULL)) return ANSWERED_YES;
    int32_t stop = place + phrase_here(l, words, n, place, SHORT_YES, NULL);
    if (stop == place) return NO_ANSWER;
    if (stop == n) return ANSWERED_YES;
    if (words[stop] >= l->phrase_words) return NO_ANSWER;
    for (int32_t p = l->phrase_starts[words[stop]]; p < l->phrase_starts[words[stop] + 1]; p++)
        if (l->phrases[4 * p] == YES) return ANSWERED_YES;
    return NO_ANSWER;
}

static int same_phrase(const Reading *a, const Concept *one, const Reading *b, const Concept *other) {
    int32_t size = one->stop - one->start;
    return size == other->stop - other->start &&
           !memcmp(a->words + one->start, b->words + other->start, (size_t)size * sizeof(int32_t));
}

/* The concept of `r` with the words of `wanted` (a concept of `from`); or, to add it, the empty slot for it. */
static Concept *find_concept(Reading *r, const Reading *from, const Concept *wanted, Slot **empty, uint64_t *key) {
    uint64_t hash = 0xCBF29CE484222325u;
    for (int32_t i = wanted->start; i < wanted->stop; i++) hash = (hash ^ (uint64_t)(uint32_t)from->words[i]) * 0x100000001B3u;
    uint64_t at = mixed(hash) & r->phrases.mask;
    for (;; at = (at + 1) & r->phrases.mask) {
        Slot *slot = &r->phrases.slots[at];
        if (slot->stamp != r->phrases.stamp) {
            if (empty) { *empty = slot; *key = hash; }
            return NULL;
        }
        if (slot->key == hash && same_phrase(r, &r->concepts[slot->value], from, wanted)) return &r->concepts[slot->value];
    }
}

static int read_turn(Detector *d, const int32_t *spoken, int32_t spoken_count, int side, Reading *r) {
    const Lists *l = d->lists;
    int64_t most = (int64_t)spoken_count * l->longest_spelling + 1;
    r->words = need(d, &d->words[side], most, sizeof(int32_t));
    r->origins = need(d, &d->origins[side], most, sizeof(int32_t));
    r->concepts = need(d, &d->concepts[side], most, sizeof(Concept));
    r->content = need(d, &d->content[side], most, sizeof(int32_t));
    int32_t *seen = need(d, &d->seen[side], l->canonical_words, sizeof(int32_t));
    if (d->space.failed || !table_in(&d->space, &d->tables[side], most, &r->phrases)) return 0;
    const int32_t n = r->count = words_of(l, spoken, spoken_count, r->words, r->origins), *words = r->words;
    r->spoken = spoken_count;
    r->concept_count = r->content_count = r->denials = r->answer = 0;
    int32_t negation = -1, polite_until = 0, polite = n > 0;
    for (int32_t place = 0; place < n;) {
        int32_t word = words[place];
        int kind = l->kinds[word], mark = l->marks[word];
        if (kind == FUNCTION) { place++; continue; }
        if (kind & TURN) negation = -1;
        if (kind & ANSWER && !r->answer && place < l->answer_within) r->answer = answer_here(l, words, n, place);
        if (kind & NEGATION) {
            polite = 0;
            int denies_next = place + 1 < n && !(l->kinds[words[place + 1]] & (FUNCTION | NEGATION));
            if (!(mark & IS_NO) || denies_next) { r->denials++; negation = place; }
        }
        if (kind & COURTESY) {
            int32_t until = place + phrase_here(l, words, n, place, COURTESIES, NULL);
            if (until > polite_until) polite_until = until;
        }
        int32_t stop = place, category = -1, beside = -1;
        if (kind & (TERM | NUMBER)) stop = concept_here(l, words, n, place, &category);
        else if (mark & DRUG_ENDING) { stop = place + 1; category = l->drug; }
        if (stop == place && mark & IS_SIDE && phrase_here(l, words, n, place + 1, TERMS, &beside) && beside == l->anatomy) {
            stop = place + 1;
            category = l->laterality;
        }
        if (stop > place) {
            Slot *empty;
            uint64_t key;
            Concept found = {category, place, stop, negation};
            if (!find_concept(r, r, &found, &empty, &key)) {
                *empty = (Slot){key, r->phrases.stamp, r->concept_count};
                r->concepts[r->concept_count++] = found;
            }
            if (stop > polite_until && category != l->qualifier) polite = 0;
            place = stop;
            continue;
        }
        if (!(kind & (FUNCTION | NEGATION)) && place >= polite_until) {
            if (seen[word] != d->stamp) { seen[word] = d->stamp; r->content[r->content_count++] = place; }
            polite = 0;
        }
        place++;
    }
    for (int32_t place = 0; place < n && place < 4 && !r->answer; place++) if (l->marks[words[place]] & IS_NOT) r->answer = ANSWERED_NO;
    r->courtesy = polite;
    return 1;
}

typedef struct { int clinical, administrative, closing; } Question;

static int read_question(Detector *d, const int32_t *spoken, int32_t spoken_count, int32_t *asked, Question *q) {
    const Lists *l = d->lists;
    int64_t most = (int64_t)spoken_count * l->longest_spelling + 1;
    int32_t *words = need(d, &d->words[0], most, sizeof(int32_t)), *origins = need(d, &d->origins[0], most, sizeof(int32_t));
    if (d->space.failed) return 0;
    int32_t n = words_of(l, spoken, spoken_count, words, origins);
    int every = 0;
    for (int32_t i = 0; i < n; i++) { every |= l->kinds[words[i]]; asked[words[i]] = d->stamp; }
    *q = (Question){(every & ASKS) != 0, 0, 0};
    for (int32_t i = 0; i < n && every & TERM && !q->clinical; i++) {
        int32_t category = -1;
        if (phrase_here(l, words, n, i, TERMS, &category) && is_in(l->clinical, category)) q->clinical = 1;
    }
    if (every & CONTEXT) {
        q->administrative = !q->clinical && mentions(l, words, n, ADMINISTRATIVE);
        if (!q->administrative && !q->clinical && !(every & TERM)) q->administrative = mentions(l, words, n, GREETINGS);
        q->closing = mentions(l, words, n, CLOSING);
    }
    return 1;
}

/* ---- comparing words by their letters -------------------------------------------------------------------------- */

static int32_t letters_of(const Lists *l, int32_t word, const uint32_t **letters) {
    *letters = l->letters + l->letter_starts[word];
    return (int32_t)(l->letter_starts[word + 1] - l->letter_starts[word]);
}

static int variant(const Lists *l, const Reading *of, const Concept *concept, const Reading *other) {
    if (concept->stop - concept->start > 1) return 0;
    const uint32_t *a, *b;
    int32_t n = letters_of(l, of->words[concept->start], &a);
    if (n < 5) return 0;
    for (int32_t i = 0; i < other->count; i++) {
        int32_t m = letters_of(l, other->words[i], &b);
        if (m > 4 && m - n <= 2 && n - m <= 2 && !memcmp(a, b, (size_t)(n < m ? n : m) * sizeof *a)) return 1;
    }
    return 0;
}

static int contains(const uint32_t *text, int32_t n, const uint32_t *part, int32_t m) {
    for (int32_t i = 0; i + m <= n; i++)
        if (text[i] == part[0] && !memcmp(text + i, part, (size_t)m * sizeof *part)) return 1;
    return 0;
}

static int near(const Lists *l, int32_t word, int32_t other, int32_t *row) {
    const uint32_t *a, *b;
    int32_t n = letters_of(l, word, &a), m = letters_of(l, other, &b), allowed = (n > m ? n : m) / 3;
    int32_t gap = n > m ? n - m : m - n;
    if (gap > (allowed < 2 ? allowed : 2)) return 0;
    for (int32_t j = 0; j <= m; j++) row[j] = j;
    for (int32_t i = 1; i <= n; i++) {
        int32_t corner = row[0];
        row[0] = i;
        for (int32_t j = 1; j <= m; j++) {
            int32_t best = corner + (a[i - 1] != b[j - 1]);
            if (row[j] + 1 < best) best = row[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            corner = row[j];
            row[j] = best;
        }
    }
    return row[m] <= allowed;
}

typedef struct { const uint32_t *text; int32_t length; } Joined;

/* Content words that the other side does not have, not even written together or apart; as places. */
static int32_t unmatched(
    const Lists *l, const Reading *r, const int32_t *words_there, int32_t stamp, const Reading *other, Joined joined,
    int32_t *places_out) {
    int32_t count = 0;
    for (int32_t i = 0; i < r->content_count; i++) {
        int32_t word = r->words[r->content[i]];
        const uint32_t *letters;
        int32_t length = letters_of(l, word, &letters);
        if (words_there[word] == stamp) continue;
        if (other->spoken <= l->longest_joined && length >= 4 && contains(joined.text, joined.length, letters, length)) continue;
        places_out[count++] = r->content[i];
    }
    return count;
}

/* ---- differences ------------------------------------------------------------------------------------------------ */

typedef struct { int32_t *rows; int64_t count, room_for; int full; } Rows;

typedef struct { int kind; int32_t category, said_start, said_stop, heard_start, heard_stop; int denied; int32_t denied_from; int loaded; } Difference;

static int denied(const Lists *l, const Concept *c) { return c->negation >= 0 && c->start - c->negation <= l->scope; }
static int affirmed(const Lists *l, const Concept *c) { return c->negation < 0 || c->start - c->negation > l->scope + l->margin; }
static int loaded(const Lists *l, const Concept *c) {
    return is_in(l->loaded, c->category) || (c->category == l->time && c->stop - c->start > 1);
}

static Difference about(const Lists *l, int kind, const Concept *said, const Concept *heard) {
    const Concept *c = said ? said : heard;
    return (Difference){
        kind, c->category, said ? said->start : -1, said ? said->stop : -1, heard ? heard->start : -1,
        heard ? heard->stop : -1, denied(l, c), denied(l, c) ? c->negation : -1, loaded(l, c),
    };
}

/* Differences of canonical words become rows about the words as spoken. */
typedef struct { const Reading *said, *heard; const int32_t *links, *before, *after; Rows *rows; const Lists *lists; } Teller;

static void tell(const Teller *t, Difference x) {
    if (t->rows->count >= t->rows->room_for) { t->rows->full = 1; return; }
    int32_t *row = t->rows->rows + ROW * t->rows->count++;
    int said_denied = x.denied;
    if (x.kind == LOST) {
        said_denied = x.denied && is_in(t->lists->deniable, x.category);
        if (said_denied && x.said_start - x.denied_from <= t->lists->quoted_with) x.said_start = x.denied_from;
        x.heard_start = t->links[x.said_start] >= 0 ? t->links[x.said_start] : t->before[x.said_start];
        x.heard_stop = t->after[x.said_stop] > x.heard_start ? t->after[x.said_stop] : x.heard_start;
    }
    int some_said = x.said_stop > x.said_start, some_heard = x.heard_stop > x.heard_start;
    row[0] = x.kind;
    row[1] = x.category;
    row[2] = some_said ? t->said->origins[x.said_start] : -1;
    row[3] = some_said ? t->said->origins[x.said_stop - 1] + 1 : -1;
    row[4] = some_heard ? t->heard->origins[x.heard_start] : -1;
    row[5] = some_heard ? t->heard->origins[x.heard_stop - 1] + 1 : -1;
    row[6] = said_denied;
    row[7] = x.loaded;
}

/* Which word became which (on codes numbered within the pair), and the nearest matches on either side. */
static int prepare_links(Detector *d, const Reading *said, const Reading *heard, Teller *t) {
    Space *space = &d->space;
    int32_t n = said->count, m = heard->count, distinct = 0;
    int32_t *a = room(space, &space->codes[0], n, sizeof(int32_t)), *b = room(space, &space->codes[1], m, sizeof(int32_t));
    int32_t *links = room(space, &space->links, n, sizeof(int32_t));
    int32_t *before = need(d, &d->before, (int64_t)n + 1, sizeof(int32_t)), *after = need(d, &d->after, (int64_t)n + 1, sizeof(int32_t));
    int64_t *local = need(d, &d->local, d->lists->canonical_words, sizeof(int64_t));
    if (space->failed) return 0;
    for (int side = 0; side < 2; side++) {
        const Reading *r = side ? heard : said;
        for (int32_t i = 0; i < r->count; i++) {
            int64_t *code = &local[r->words[i]];
            if (*code >> 32 != d->stamp) *code = ((int64_t)d->stamp << 32) | distinct++;
            (side ? b : a)[i] = (int32_t)(*code & 0xFFFFFFFF);
        }
    }
    Tally tally = {0, 0, 0, 0};
    for (int32_t i = 0; i < n; i++) links[i] = -1;
    if (!align(space, a, n, b, m, INT32_MAX, distinct, &tally, links, 0)) return 0;
    before[0] = 0;
    after[n] = m;
    for (int32_t i = 0; i < n; i++) before[i + 1] = links[i] >= 0 ? links[i] + 1 : before[i];
    for (int32_t i = n - 1; i >= 0; i--) after[i] = links[i] >= 0 ? links[i] : after[i + 1];
    t->links = links;
    t->before = before;
    t->after = after;
    return 1;
}

static int about_health(const Lists *l, const Reading *r) {
    for (int32_t i = 0; i < r->concept_count; i++) if (is_in(l->health, r->concepts[i].category)) return 1;
    return 0;
}

static double ceiling(int64_t number) { return number > 3 ? 3.0 : (double)number; }

static int phrase_within(const Reading *r, const Concept *c, const int32_t *seen, int32_t stamp) {
    for (int32_t i = c->start; i < c->stop; i++) if (seen[r->words[i]] != stamp) return 0;
    return 1;
}

static int compare_turns(
    Detector *d, Reading *said, Reading *heard, const Question *question, const int32_t *asked, const Joined joined[2],
    Rows *rows, double *features) {
    const Lists *l = d->lists;
    /* From here on `seen` marks all words of a side, not its content alone. */
    int32_t stamp = ++d->stamp, *in_said = d->seen[0].data, *in_heard = d->seen[1].data;
    for (int32_t i = 0; i < said->count; i++) in_said[said->words[i]] = stamp;
    for (int32_t i = 0; i < heard->count; i++) in_heard[heard->words[i]] = stamp;
    int32_t *lost = need(d, &d->lost, said->content_count, sizeof(int32_t));
    int32_t *added = need(d, &d->added, heard->content_count, sizeof(int32_t));
    Teller t = {said, heard, NULL, NULL, NULL, rows, l};
    if (d->space.failed || !prepare_links(d, said, heard, &t)) return 0;
    int64_t loaded_lost = 0, loaded_added = 0, echo_lost = 0, qualifier_changed = 0, reversed = 0;
    int both_no = said->answer == ANSWERED_NO && heard->answer == ANSWERED_NO;
    double lost_weight = 0.0, whole_weight = (double)(said->content_count + (said->answer != NO_ANSWER));
    for (int32_t i = 0; i < said->concept_count; i++) {
        const Concept *c = &said->concepts[i], *other = find_concept(heard, said, c, NULL, NULL);
        int is_loaded = loaded(l, c);
        whole_weight += 1 + is_loaded;
        if (other) {
            if (!is_in(l->deniable, c->category)) continue;
            if (denied(l, c) && affirmed(l, other)) { reversed++; tell(&t, about(l, AFFIRMED, c, other)); }
            else if (affirmed(l, c) && denied(l, other)) { reversed++; tell(&t, about(l, DENIED, c, other)); }
            continue;
        }
        if (phrase_within(said, c, in_heard, stamp) || variant(l, said, c, heard)) continue;
        tell(&t, about(l, LOST, c, NULL));
        if (both_no && asked && phrase_within(said, c, asked, d->stamp - 1)) { echo_lost++; lost_weight += 0.5; }
        else if (is_loaded) { loaded_lost++; lost_weight += 2; }
        else { qualifier_changed++; lost_weight += 1; }
    }
    for (int32_t i = 0; i < heard->concept_count; i++) {
        const Concept *c = &heard->concepts[i];
        if (find_concept(said, heard, c, NULL, NULL) || phrase_within(heard, c, in_said, stamp) || variant(l, heard, c, said)) continue;
        tell(&t, about(l, ADDED, NULL, c));
        if (loaded(l, c)) loaded_added++; else qualifier_changed++;
    }
    int32_t lost_count = unmatched(l, said, in_heard, stamp, heard, joined[1], lost);
    int32_t added_count = unmatched(l, heard, in_said, stamp, said, joined[0], added);
    if (lost_count && added_count && (int64_t)lost_count * added_count <= l->most_near) {
        int32_t kept = 0, longest = 1;
        const uint32_t *letters;
        for (int32_t j = 0; j < added_count; j++) {
            int32_t length = letters_of(l, heard->words[added[j]], &letters);
            if (length > longest) longest = length;
        }
        int32_t *row = need(d, &d->space.runs, (int64_t)longest + 1, sizeof(int32_t));
        if (!row) return 0;
        for (int32_t i = 0; i < lost_count; i++) {
            int found = 0;
            for (int32_t j = 0; j < added_count && !found; j++) found = near(l, said->words[lost[i]], heard->words[added[j]], row);
            if (!found) lost[kept++] = lost[i];
        }
        lost_count = kept;
    }
    lost_weight += lost_count;
    for (int32_t i = 0; i < lost_count; i++) tell(&t, (Difference){LOST, l->content, lost[i], lost[i] + 1, -1, -1, 0, -1, 0});
    for (int32_t i = 0; i < added_count; i++) tell(&t, (Difference){ADDED, l->content, -1, -1, added[i], added[i] + 1, 0, -1, 0});
    int negation_changed = said->denials != heard->denials && heard->count && !both_no;
    if (negation_changed && !reversed) tell(&t, (Difference){NEGATION_CHANGED, -1, -1, -1, -1, -1, said->denials > heard->denials, -1, 1});
    if (said->answer && heard->answer && said->answer != heard->answer && !(said->courtesy && heard->courtesy)) {
        reversed++;
        tell(&t, (Difference){ANSWER_CHANGED, -1, -1, -1, -1, -1, 0, -1, 1});
    }
    int answer_lost = 0, acknowledgement_lost = 0, everything_lost = 0;
    if (!heard->count) {
        everything_lost = !said->courtesy;
        answer_lost = said->answer == ANSWERED_NO || (said->answer && question->clinical && !question->closing);
        acknowledgement_lost = !answer_lost && said->courtesy && said->answer;
    } else if (said->answer && !heard->answer && !said->courtesy && question->clinical) {
        answer_lost = 1;
    }
    if (answer_lost || acknowledgement_lost)
        tell(&t, (Difference){answer_lost ? ANSWER_CHANGED : ACKNOWLEDGEMENT, -1, -1, -1, -1, -1, 0, -1, answer_lost});
    int64_t changed = lost_count > added_count ? lost_count : added_count;
    double numbers[] = {
        ceiling(loaded_lost), ceiling(loaded_added), ceiling(echo_lost), ceiling(qualifier_changed), ceiling(changed),
        ceiling(reversed), negation_changed, answer_lost, acknowledgement_lost, everything_lost, 0.0,
    };
    double share = whole_weight > 0 ? (lost_weight + answer_lost) / whole_weight : 0.0;
    numbers[FEATURES - 1] = share < 1.0 ? share : 1.0;
    memcpy(features, numbers, sizeof numbers);
    return 1;
}

/* Characters of the canonical words, counted as chrF counts them. */
static int count_letters(Detector *d, const Reading *said, const Reading *heard, int64_t *counts) {
    Space *space = &d->space;
    int64_t lengths[2] = {0, 0};
    for (int side = 0; side < 2; side++) {
        const Reading *r = side ? heard : said;
        for (int32_t i = 0; i < r->count; i++) lengths[side] += d->lists->letter_starts[r->words[i] + 1] - d->lists->letter_starts[r->words[i]];
    }
    if (lengths[0] > LONGEST_TEXT || lengths[1] > LONGEST_TEXT) return 0;
    int32_t *codes[2], distinct = 0;
    Table t;
    for (int side = 0; side < 2; side++) codes[side] = room(space, &space->codes[side], lengths[side], sizeof(int32_t));
    if (space->failed || !table(space, lengths[0] + lengths[1], &t)) return 0;
    for (int side = 0; side < 2; side++) {
        const Reading *r = side ? heard : said;
        int32_t at = 0;
        for (int32_t i = 0; i < r->count; i++) {
            const uint32_t *letters;
            int32_t length = letters_of(d->lists, r->words[i], &letters);
            at += code_characters(&t, &distinct, letters, length, 1, codes[side] + at);
        }
        counts[side] = at;
    }
    return shared_ngrams(space, codes[0], (int32_t)counts[0], codes[1], (int32_t)counts[1], distinct, 6, counts + 2);
}

static int words_in_range(const int32_t *words, int64_t from, int64_t to, int64_t length, int32_t limit) {
    if (from < 0 || to < from || to > length || to - from > LONGEST_TEXT) return 0;
    for (int64_t i = from; i < to; i++) if (words[i] < 0 || words[i] >= limit) return 0;
    return 1;
}

/* Read and compare pairs of turns. `spoken` holds word numbers, `offsets` where reference, hypothesis and question
   of each pair begin (three per pair); `asked[pair]` says whether there is a question. `joined` holds the letters of
   reference and hypothesis without spaces. Out come features, counts of characters, answers, and rows of differences
   with `starts[pair]` where those of a pair begin. */
EXPORT int medjury_compare(
    const Lists *lists, const int32_t *spoken, int64_t spoken_length, const int64_t *offsets, const uint8_t *asked,
    const uint32_t *joined, int64_t joined_length, const int64_t *joined_offsets, int64_t pairs, double *features,
    int64_t *counts, int8_t *answers, int32_t *rows, int64_t room_for, int64_t *starts) {
    Detector d = {.lists = lists, .stamp = 0};
    Rows out = {rows, 0, room_for, 0};
    int status = OK;
    starts[0] = 0;
    for (int64_t pair = 0; pair < pairs && status == OK; pair++) {
        const int64_t *at = offsets + 3 * pair, *letters = joined_offsets + 2 * pair;
        int fine = letters[0] >= 0 && letters[1] >= letters[0] && letters[2] >= letters[1] && letters[2] <= joined_length &&
                   letters[2] - letters[0] <= LONGEST_TEXT;
        for (int part = 0; part < 3; part++) fine = fine && words_in_range(spoken, at[part], at[part + 1], spoken_length, lists->spoken_words);
        if (!fine) { status = BAD_OFFSETS; break; }
        if (d.stamp > INT32_MAX - 4) { status = TOO_LONG; break; }      /* a billion pairs in one call */
        d.stamp++;
        int32_t *in_question = need(&d, &d.seen[2], lists->canonical_words, sizeof(int32_t));
        Question question = {1, 0, 0};
        Reading said, heard;
        if (d.space.failed || (asked[pair] && !read_question(&d, spoken + at[2], (int32_t)(at[3] - at[2]), in_question, &question))) {
            status = OUT_OF_MEMORY;
            break;
        }
        if (!read_turn(&d, spoken + at[0], (int32_t)(at[1] - at[0]), 0, &said) ||
            !read_turn(&d, spoken + at[1], (int32_t)(at[2] - at[1]), 1, &heard)) {
            status = OUT_OF_MEMORY;
            break;
        }
        answers[2 * pair] = (int8_t)said.answer;
        answers[2 * pair + 1] = (int8_t)heard.answer;
        int same = said.count == heard.count && !memcmp(said.words, heard.words, (size_t)said.count * sizeof(int32_t));
        if (!same && (!question.administrative || about_health(lists, &said) || about_health(lists, &heard))) {
            const Joined texts[2] = {
                {joined + letters[0], (int32_t)(letters[1] - letters[0])}, {joined + letters[1], (int32_t)(letters[2] - letters[1])},
            };
            if (!compare_turns(&d, &said, &heard, &question, asked[pair] ? in_question : NULL, texts, &out, features + FEATURES * pair) ||
                !count_letters(&d, &said, &heard, counts + 8 * pair))
                status = OUT_OF_MEMORY;
        }
        if (out.full) status = BAD_OFFSETS;
        starts[pair + 1] = out.count;
    }
    Memory *all[] = {
        &d.words[0], &d.words[1], &d.origins[0], &d.origins[1], &d.concepts[0], &d.concepts[1], &d.content[0],
        &d.content[1], &d.tables[0], &d.tables[1], &d.seen[0], &d.seen[1], &d.seen[2], &d.local, &d.lost, &d.added,
        &d.before, &d.after,
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]->data);
    release(&d.space);
    return status;
}
