/* A program that owns its loop: at 1 kHz it says where the hand is, ticks the scene, and gets the
 * force for the hand. Here the hand sinks 25 mm onto a kidney in half a second and goes back.
 *     cc own_loop.c -lpliant -lm && ./a.out [DEMO] [SECONDS]       (or: pkg-config pliant-c) */
#define _POSIX_C_SOURCE 200809L
#include <pliant/pliant_c.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void say(const char* line, void* data) {
    (void)data;
    printf("%s\n", line);
}

static void check(pliant_status status) {
    if (status == PLIANT_OK) return;
    fprintf(stderr, "error: %s\n", pliant_last_error());
    exit(1);
}

int main(int argc, char** argv) {
    const char* demo = argc > 1 ? argv[1] : "kidney";
    const double seconds = argc > 2 ? atof(argv[2]) : 1.0;
    const double pi = 3.14159265358979, depth = 0.025, radius = depth / 2;

    /* one metre of the hand is one metre in the scene */
    pliant_options options = {.say = say, .scale = 1.0};
    pliant_world* world = NULL;
    check(pliant_open_demo(demo, &options, &world));
    const double rate = pliant_rate(world);
    struct timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    double largest = 0;
    for (int tick = 0; tick < seconds * rate; ++tick) {
        /* read your device here; this hand goes down and up once a second */
        pliant_handle hand = {.rotation = {1, 0, 0, 0}};
        hand.position[2] = radius * (cos(2 * pi * tick / rate) - 1);
        check(pliant_set_handle(world, &hand));
        check(pliant_tick(world));
        /* and send this to it */
        pliant_wrench felt;
        check(pliant_get_wrench(world, &felt));
        if (fabs(felt.force[2]) > largest) largest = fabs(felt.force[2]);
        if (tick % 50 == 0)
            printf("%5.2f s  hand %6.1f mm  force %7.3f N\n", pliant_time(world),
                   1e3 * hand.position[2], felt.force[2]);
        next.tv_nsec += (long)(1e9 / rate);
        next.tv_sec += next.tv_nsec / 1000000000L;
        next.tv_nsec %= 1000000000L;
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
    }
    pliant_statistics statistics;
    check(pliant_get_statistics(world, &statistics));
    printf("largest force %.3f N; tick %.1f us p50, %.1f us p99.9\n", largest, statistics.p50_us,
           statistics.p999_us);
    pliant_close(world);
    return largest > 0 ? 0 : 1;
}
