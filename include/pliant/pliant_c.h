/* Pliant from C: a scene or a model that the caller ticks in a loop of its own. Link libpliant.so.
 *
 * SI units, z up, right-handed axes, quaternions (w, x, y, z) of length 1. Functions that can fail
 * return a pliant_status; what went wrong then stands in pliant_last_error() of the same thread.
 * No exception leaves the library. A world belongs to one thread at a time, but for the functions
 * marked [draws], which one other thread may call meanwhile. Functions marked [tick] neither
 * allocate, lock nor wait. Texts and arrays belong to the library and live as long as the world.
 * More: docs/c-api.md. */
#ifndef PLIANT_PLIANT_C_H
#define PLIANT_PLIANT_C_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of this header. Changes whenever a program that was compiled before has to be compiled again. */
#define PLIANT_ABI_VERSION 1
/* Of the library that runs. */
uint32_t pliant_abi_version(void);
const char* pliant_version(void); /* "0.1.0" */

typedef enum pliant_status {
    PLIANT_OK = 0,
    PLIANT_BAD_ARGUMENT = 1, /* null, no such index, a number that is not finite or out of range */
    PLIANT_BAD_INPUT = 2,    /* a file, scene, demo or name that cannot be used */
    PLIANT_BAD_ABI = 3,      /* header and library do not belong together */
    PLIANT_NO_TOOL = 4,      /* the scene has none */
    PLIANT_OUT_OF_MEMORY = 5,
    PLIANT_FAILED = 6 /* anything else */
} pliant_status;
/* The last failure on this thread, one sentence; empty: none yet. Valid until the next one. */
const char* pliant_last_error(void);

/* ---- worlds ---------------------------------------------------------------------------------- */

typedef struct pliant_world pliant_world;

typedef enum pliant_source {
    PLIANT_FILE = 0,                   /* path of a scene (.json) or of a model (.pliant) */
    PLIANT_DEMO = 1,                   /* name of a built-in scene: "kidney" */
    PLIANT_TEXT = 2,                   /* a scene as JSON text */
    PLIANT_SOURCE_LARGEST = 0x7fffffff /* none: for C++, where a wrong number must be a value */
} pliant_source;

/* What the caller's device is: forces stay within it, and gains follow from it. */
typedef struct pliant_device {
    double workspace[3];          /* half sides of the box that the handle reaches [m] */
    double max_force;             /* [N] */
    double max_torque;            /* [N m]; 0: it shows none */
    double continuous_force;      /* that it can hold for ever [N] */
    double max_stiffness;         /* of the handle that stays stable [N/m] */
    double max_angular_stiffness; /* [N m/rad] */
    double damping;               /* of device and the loosest hand [N s/m]; 0: unknown */
    double angular_damping;       /* [N m s/rad]; 0: unknown */
    double delay;                 /* ticks between a command and its force */
    double position_step;         /* of its encoders at the handle [m] */
    double angle_step;            /* [rad] */
} pliant_device;
/* Fills in a common desktop device. */
void pliant_default_device(pliant_device* device);

/* All zero is a good start: `pliant_options options = {0};` */
typedef struct pliant_options {
    const char* folder; /* relative files of a PLIANT_TEXT are found from here; NULL: from "." */
    const char* cache;  /* folder of built models; NULL: the user's, "": none */
    /* Told about each model that is built or loaded. */
    void (*say)(const char* line, void* data);
    void* data;
    const pliant_device* device; /* NULL: numbers of the scene's device */
    double scale; /* metres in the scene per metre of handle travel; 0: the scene's, or chosen */
} pliant_options;

/* Loads and builds: slow. `options` may be NULL. Refuses another ABI version than its own. The
 * functions below give that of this header. */
pliant_status pliant_open(uint32_t abi_version, pliant_source source, const char* text,
                          const pliant_options* options, pliant_world** world);
static inline pliant_status pliant_open_file(const char* path, const pliant_options* options,
                                             pliant_world** world) {
    return pliant_open(PLIANT_ABI_VERSION, PLIANT_FILE, path, options, world);
}
static inline pliant_status pliant_open_demo(const char* name, const pliant_options* options,
                                             pliant_world** world) {
    return pliant_open(PLIANT_ABI_VERSION, PLIANT_DEMO, name, options, world);
}
static inline pliant_status pliant_open_text(const char* json, const pliant_options* options,
                                             pliant_world** world) {
    return pliant_open(PLIANT_ABI_VERSION, PLIANT_TEXT, json, options, world);
}
void pliant_close(pliant_world* world); /* NULL: nothing happens */

/* What the scene will not do as it may seem, found while it was loaded: bodies that pass through
 * each other, loops that will not keep their rate. One sentence each, said to options.say as well.
 */
int32_t pliant_num_warnings(const pliant_world* world);
const char* pliant_warning(const pliant_world* world, int32_t index); /* NULL: none such */

/* Built-in scenes; NULL beyond the last. */
const char* pliant_demo_name(int32_t index);

/* ---- time ------------------------------------------------------------------------------------ */

double pliant_rate(const pliant_world* world); /* ticks a second of simulated time; 0: no world */
double pliant_time(const pliant_world* world); /* simulated since the start or reset [s] */
/* [tick] One tick of 1/pliant_rate() seconds. Call it at that rate. Loops of the scene with rates
 * of their own run inside, on this thread. */
pliant_status pliant_tick(pliant_world* world);
/* All but parameters back to the start; the handle lets go. */
pliant_status pliant_reset(pliant_world* world);

typedef struct pliant_statistics {
    uint64_t ticks; /* since the start or reset */
    double time;    /* simulated [s] */
    /* thread CPU time of pliant_tick() [us] */
    double mean_us, p50_us, p99_us, p999_us, max_us;
    uint64_t overlong; /* ticks that took more than their period */
    /* What steps of bodies said: ok, not converged, rejected, state reset, input ignored, capacity
     * exceeded. Only the first should grow. */
    uint64_t steps[6];
} pliant_statistics;
pliant_status pliant_get_statistics(const pliant_world* world, pliant_statistics* statistics);

/* ---- tool ------------------------------------------------------------------------------------ */

typedef enum pliant_tool_kind {
    PLIANT_TOOL_NONE = 0,
    /* in the hand: a body with six degrees of freedom through a virtual coupling, a tool of many
     * spheres with as many, or a proxy, which is a point: it turns freely, without torque */
    PLIANT_TOOL_HELD = 1,
    PLIANT_TOOL_SPHERE = 2 /* a sphere that full FEM bodies feel: position alone */
} pliant_tool_kind;
pliant_tool_kind pliant_get_tool_kind(const pliant_world* world);

/* A reading of the caller's device. Held tools: of the handle, in axes of the device; the first one
 * after a start or reset counts as where the tool is. Spheres: their place in the scene. */
typedef struct pliant_handle {
    double position[3];         /* [m] */
    double rotation[4];         /* w, x, y, z */
    double velocity[3];         /* [m/s]; zero: unknown */
    double angular_velocity[3]; /* [rad/s]; zero: unknown */
    uint32_t buttons;           /* bit i: button i is down */
    uint32_t reserved;          /* 0 */
} pliant_handle;
/* [tick] For the next tick. A reading that is not given anew for 20 ms is stale: the force then
 * falls to zero within 50 ms. What is not finite is refused and counts as no reading. */
pliant_status pliant_set_handle(pliant_world* world, const pliant_handle* handle);
/* [tick] The hand let go: no force, the tool stays, and goes on from there with the next reading.
 */
pliant_status pliant_release_handle(pliant_world* world);

typedef struct pliant_wrench {
    double force[3];  /* [N] */
    double torque[3]; /* [N m] */
} pliant_wrench;
/* [tick] What the hand should feel. Held tools: in axes of the device about the handle, within its
 * limits, ramped up in the first half second. Spheres: the load of the last step as it is. */
pliant_status pliant_get_wrench(const pliant_world* world, pliant_wrench* wrench);

/* The tool in the scene, after the last tick. */
typedef struct pliant_tool {
    double position[3], rotation[4];               /* of its frame [m]; w, x, y, z */
    double wanted_position[3], wanted_rotation[4]; /* where the hand has it, through things [m] */
    pliant_wrench contact; /* on the tool, in the scene, about the point where it is held */
    double depth;          /* of its contacts [m] */
    int32_t num_contacts;  /* points that touch */
    int32_t reserved;      /* 0 */
} pliant_tool;
/* [tick] */
pliant_status pliant_get_tool(const pliant_world* world, pliant_tool* tool);

/* ---- bodies ---------------------------------------------------------------------------------- */

int32_t pliant_num_bodies(const pliant_world* world);
const char* pliant_body_name(const pliant_world* world, int32_t body); /* NULL: none such */
const char* pliant_body_kind(const pliant_world* world, int32_t body); /* "reduced" */
int32_t pliant_find_body(const pliant_world* world, const char* name); /* -1: none such */

typedef enum pliant_condition {
    PLIANT_WELL = 0,
    PLIANT_COLLAPSED = 1,  /* less than a fifth of its volume is left */
    PLIANT_INSIDE_OUT = 2, /* its volume is negative */
    PLIANT_STRETCHED = 3,  /* more than ten times as long as at rest */
    PLIANT_AWAY = 4        /* ten thousand times its size away, or not finite */
} pliant_condition;

typedef struct pliant_body_report {
    uint64_t steps[6];     /* what its steps said, as in pliant_statistics */
    double volume;         /* over that at rest; not a number: its surface encloses none */
    double extent;         /* length over that at rest */
    double distance;       /* of its middle from where it was at the start [m] */
    double smallest_det_f; /* of an element of a full FEM body in the last step; <= 0: inside out */
    int32_t condition;     /* a pliant_condition: anything but PLIANT_WELL is beyond use */
    int32_t reserved;      /* 0 */
} pliant_body_report;
/* A look at all vertices: some times a second, not in every tick. */
pliant_status pliant_get_body_report(const pliant_world* world, int32_t body,
                                     pliant_body_report* report);

/* Arrays that stay where they are as long as the world lives: get them once, read them often. */
typedef struct pliant_surface {
    /* x y z of each vertex in the scene [m], by pliant_update_positions() */
    const float* positions;
    const float* normals;     /* of length 1, by pliant_update_normals() */
    const int32_t* triangles; /* three vertices each, counterclockwise seen from outside */
    int32_t num_vertices, num_triangles;
} pliant_surface;
pliant_status pliant_get_surface(const pliant_world* world, int32_t body, pliant_surface* surface);
/* [tick] Hands the bodies as they are to the thread that draws: some hundred numbers a body. */
pliant_status pliant_publish(pliant_world* world);
/* [draws] Writes the positions of all surfaces as they were published last. */
pliant_status pliant_update_positions(pliant_world* world);
/* [draws] Normals of these positions. */
pliant_status pliant_update_normals(pliant_world* world);

/* [tick] One vertex now, in the scene [m], in double precision. */
pliant_status pliant_get_vertex(const pliant_world* world, int32_t body, int32_t vertex,
                                double position[3]);
/* [tick] A force on a vertex in the next tick [N], in axes of the scene; they add up. */
pliant_status pliant_add_force(pliant_world* world, int32_t body, int32_t vertex,
                               const double force[3]);
/* [tick] A hand that pulls a vertex towards a place in the scene [m] with a spring, as the mouse in
 * the viewer does; one at a time. */
pliant_status pliant_grab(pliant_world* world, int32_t body, int32_t vertex,
                          const double target[3]);
pliant_status pliant_drag(pliant_world* world, const double target[3]);
pliant_status pliant_let_go(pliant_world* world);
/* [tick] Its force on the hand in the last tick [N]; zero when it holds nothing. */
pliant_status pliant_get_pull(const pliant_world* world, double force[3]);

/* ---- parameters ------------------------------------------------------------------------------ */

typedef struct pliant_parameter {
    const char* name;  /* "bridge.stiffness" */
    const char* label; /* "Stiffness" */
    const char* unit;  /* "N/m"; "": a factor */
    const char* help;  /* what it feels like and what is safe */
    double value;      /* now, in its unit, as the next three */
    double start, low, high;
} pliant_parameter;
int32_t pliant_num_parameters(const pliant_world* world);
pliant_status pliant_get_parameter(const pliant_world* world, int32_t index,
                                   pliant_parameter* parameter);
int32_t pliant_find_parameter(const pliant_world* world, const char* name); /* -1: none such */
/* [tick] Before the next tick. Values out of range are refused. */
pliant_status pliant_set_parameter(pliant_world* world, int32_t index, double value);

/* ---- state ----------------------------------------------------------------------------------- */

/* Numbers that all bodies together depend on, but for loads, parameters, friction and the hand. */
size_t pliant_state_size(const pliant_world* world);
/* [tick] `size` must be pliant_state_size(). */
pliant_status pliant_save_state(const pliant_world* world, double* state, size_t size);
/* [tick] Restores all of it, or nothing when a number is not finite. */
pliant_status pliant_restore_state(pliant_world* world, const double* state, size_t size);

#ifdef __cplusplus
}
#endif
#endif
