#include <stddef.h>

/* Counts how often the character `wanted` occurs in `text`. */
size_t count(const char *text, char wanted)
{
    size_t found = 0;
    for (const char *at = text; *at != '\0'; at++) {
        if (<|>) {
            found++;
        }
    }
    return found;
}
