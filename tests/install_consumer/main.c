#include <pliant/pliant_c.h>

#include <stdio.h>

/* The same from C; ABI is another number where a program is compiled with an older header. */
#ifndef ABI
#define ABI PLIANT_ABI_VERSION
#endif

int main(void) {
    pliant_world* world = NULL;
    const char* const ball =
        "{\"pliant\": 1, \"bodies\": [{\"name\": \"ball\", \"rigid\": {\"sphere\": {\"radius\": "
        "0.1}}}]}";
    if (pliant_open(ABI, PLIANT_TEXT, ball, NULL, &world) != PLIANT_OK) {
        printf("%s\n", pliant_last_error());
        return 1;
    }
    const pliant_status status = pliant_tick(world);
    printf("%s: %g s\n", pliant_version(), pliant_time(world));
    pliant_close(world);
    return status;
}
