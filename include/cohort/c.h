/* The C API of libcohort.so, which the Python package uses too: engines, kernels compiled at run
 * time, jobs, tasks, apps, and tenants of other processes' engines.
 *
 * Every function that can fail returns a cohort_code; cohort_message() explains the calling
 * thread's last failure in a sentence. Handles are opaque. A closed handle, a null pointer or a
 * handle of another kind is COHORT_BAD_HANDLE, never undefined behaviour. All functions may be
 * called by several threads at once. No C++ exception leaves the library.
 *
 * Options are structures. Set `size` to the structure's size, and all other members to 0 for the
 * defaults. A null pointer stands for the defaults too.
 *
 *     cohort_launch_options options = {.size = sizeof options, .max_groups = 4};
 */
#ifndef COHORT_C_H
#define COHORT_C_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define COHORT_API __attribute__((visibility("default")))

/** Version of this interface, as returned by cohort_abi(). A library with a higher version has all
 * of it. */
#define COHORT_ABI 1

/** The result of a call. */
typedef enum cohort_code {
  COHORT_OK = 0,
  COHORT_BAD_OPTIONS = 1,     /**< options or arguments that cannot be used */
  COHORT_BAD_STATE = 2,       /**< the call does not fit the state of the job */
  COHORT_NOT_SUSPENDABLE = 3, /**< the kernel cannot hand over its state */
  COHORT_ENGINE_GONE = 4, /**< the engine was closed, or belongs to the parent process */
  COHORT_BROKEN_CONTRACT = 5, /**< the kernel broke a rule of the model */
  COHORT_BAD_FILE = 6,        /**< a file is damaged, unreadable, or does not compile */
  COHORT_UNSUPPORTED = 7,     /**< this machine or this build cannot do it */
  COHORT_OUT_OF_MEMORY = 8,
  COHORT_DEVICE_LOST = 9,    /**< the device reported an error */
  COHORT_BAD_HANDLE = 10,    /**< null, closed, or of another kind */
  COHORT_TIMED_OUT = 11,     /**< not yet at rest */
  COHORT_KERNEL_FAILED = 12, /**< a kernel or task threw an exception of its own */
  COHORT_INTERNAL = 13       /**< a defect of the library */
} cohort_code;

/** The status of a job or task. */
typedef enum cohort_status {
  COHORT_PENDING = 0,
  COHORT_RUNNING = 1,
  COHORT_FINISHED = 2,
  COHORT_LEFT = 3, /**< all groups have left (may_all_leave) */
  COHORT_CANCELLED = 4,
  COHORT_SUSPENDED = 5, /**< off the machine; cohort_job_resume continues it */
  COHORT_FAILED = 6
} cohort_status;

typedef struct cohort_engine cohort_engine;
typedef struct cohort_buffer cohort_buffer;
typedef struct cohort_program cohort_program;
typedef struct cohort_kernel cohort_kernel;
typedef struct cohort_job cohort_job;
typedef struct cohort_task cohort_task;
typedef struct cohort_graph cohort_graph;
typedef struct cohort_timeline cohort_timeline;
typedef struct cohort_lease cohort_lease;
typedef struct cohort_tenant cohort_tenant;

/** No limit on the time of a wait. */
#define COHORT_FOREVER ((int64_t)-1)

/* ---- the library */

COHORT_API uint32_t cohort_abi(void);
/** The version as text, e.g. "0.2.0". */
COHORT_API const char* cohort_version(void);
/** A description of this library, as JSON: version, commit, engines, apps, and whether it supports
 * programs and leases. */
COHORT_API cohort_code cohort_about(char** json);
/** Why the calling thread's last failing call failed. Valid until its next failing call. */
COHORT_API const char* cohort_message(void);
/** The name of a code or status, e.g. "bad_options". */
COHORT_API const char* cohort_code_name(cohort_code code);
COHORT_API const char* cohort_status_name(cohort_status status);
/** Frees a text that a function returned by a char**. Null is allowed. */
COHORT_API void cohort_string_free(char* text);

/* ---- engines */

typedef struct cohort_engine_options {
  size_t size;
  uint32_t capacity;   /**< units in use at a time; 0: all CPUs or SMs */
  int32_t pin_workers; /**< cpu: bind each worker to a CPU */
  const char* device;  /**< cuda: the number of the GPU; null: 0 */
  const char* share;   /**< cpu: lends workers to tenants under this name; null: not shared */
} cohort_engine_options;

/** `kind` is "cpu" or "cuda". COHORT_UNSUPPORTED if the build or the machine has no such engine. */
COHORT_API cohort_code cohort_engine_create(const char* kind, const cohort_engine_options* options,
                                            cohort_engine** engine);
COHORT_API cohort_code cohort_engine_capacity(cohort_engine* engine, uint32_t* units);
COHORT_API cohort_code cohort_engine_set_capacity(cohort_engine* engine, uint32_t units);
/** Cancels all jobs and tasks, waits until they have ended, and closes the engine. From the first
 * call on, the engine accepts no more work. After COHORT_TIMED_OUT the handle is still valid, to
 * close it again. A task of the engine cannot close it: COHORT_BAD_STATE. */
COHORT_API cohort_code cohort_engine_close(cohort_engine* engine, int64_t timeout_ns);

/* ---- memory. On the CPU engine a kernel can use any memory of the process; on a GPU, device
 * memory or a buffer. */

COHORT_API cohort_code cohort_buffer_create(cohort_engine* engine, uint64_t bytes,
                                            cohort_buffer** buffer);
/** The buffer's address, for kernels. */
COHORT_API cohort_code cohort_buffer_address(cohort_buffer* buffer, void** address);
/** Copies bytes from the buffer. No job may use the buffer meanwhile. */
COHORT_API cohort_code cohort_buffer_read(cohort_buffer* buffer, uint64_t offset, void* to,
                                          uint64_t bytes);
COHORT_API cohort_code cohort_buffer_write(cohort_buffer* buffer, uint64_t offset, const void* from,
                                           uint64_t bytes);
/** Closes the handle. The memory stays until all jobs launched with this buffer have ended. */
COHORT_API cohort_code cohort_buffer_destroy(cohort_buffer* buffer);

/* ---- programs: OpenCL C with the cooperative extension, compiled at run time */

/** How to compile a program. Lists of strings end with a null pointer. */
typedef struct cohort_program_options {
  size_t size;
  const char* engine;         /**< default: "cpu" */
  const char* transmit;       /**< annotated (default), live, all, per-thread */
  uint32_t max_local_size;    /**< with per-thread: the largest group; default: 64 */
  const char* const* defines; /**< NAME or NAME=VALUE */
  const char* const* include_paths;
  const char* const* build_options; /**< as for clBuildProgram */
  const char* cache;                /**< folder of compiled programs */
} cohort_program_options;

COHORT_API cohort_code cohort_program_from_file(const char* file,
                                                const cohort_program_options* options,
                                                cohort_program** program);
/** Compiles a program. `name` is used in messages. */
COHORT_API cohort_code cohort_program_from_source(const char* source, const char* name,
                                                  const cohort_program_options* options,
                                                  cohort_program** program);
/** Kernels and parameters, as JSON. */
COHORT_API cohort_code cohort_program_describe(cohort_program* program, char** json);
/** The compiler's warnings; an empty text if there are none. */
COHORT_API cohort_code cohort_program_warnings(cohort_program* program, char** text);
COHORT_API cohort_code cohort_program_destroy(cohort_program* program);

/** A kernel and its arguments. With a null or empty `name`, the only kernel of the program. */
COHORT_API cohort_code cohort_kernel_create(cohort_program* program, const char* name,
                                            cohort_kernel** kernel);
/** Sets a parameter to memory of the caller, which has to stay until all jobs launched with it have
 * ended. The memory must consist of whole elements, be aligned, and not be null. */
COHORT_API cohort_code cohort_kernel_set_memory(cohort_kernel* kernel, const char* parameter,
                                                void* memory, uint64_t bytes);
COHORT_API cohort_code cohort_kernel_set_buffer(cohort_kernel* kernel, const char* parameter,
                                                cohort_buffer* buffer);
COHORT_API cohort_code cohort_kernel_set_value(cohort_kernel* kernel, const char* parameter,
                                               const void* value, uint64_t bytes);
/** Sets the size of a parameter in local memory. */
COHORT_API cohort_code cohort_kernel_set_local(cohort_kernel* kernel, const char* parameter,
                                               uint64_t bytes);
/** Makes later launches run over a range of work-items, as in clEnqueueNDRangeKernel. */
COHORT_API cohort_code cohort_kernel_set_range(cohort_kernel* kernel, const uint32_t global[3],
                                               const uint32_t local[3]);
COHORT_API cohort_code cohort_kernel_destroy(cohort_kernel* kernel);

/* ---- jobs */

typedef struct cohort_launch_options {
  size_t size;
  uint32_t max_groups;       /**< 0: the engine's capacity */
  uint32_t start_groups;     /**< 0: all free units */
  uint32_t target;           /**< 0: the engine decides */
  uint32_t local_size;       /**< threads per group; 0: the default of the kernel or engine */
  uint32_t weight;           /**< 0: 1 */
  int32_t fixed;             /**< exactly max_groups groups for the whole run */
  int64_t offer_wait_ns;     /**< 0: the default; negative: no waiting */
  cohort_timeline* timeline; /**< records the job here */
  const char* name;          /**< in the timeline */
} cohort_launch_options;

/** Launches a kernel with the arguments that it has now. */
COHORT_API cohort_code cohort_kernel_launch(cohort_kernel* kernel, cohort_engine* engine,
                                            const cohort_launch_options* options, cohort_job** job);

/** Waits until the job is at rest: finished, left, cancelled or suspended. COHORT_TIMED_OUT if it
 * still runs at the deadline. A failed job returns the code of its failure. `status` may be null.
 */
COHORT_API cohort_code cohort_job_wait(cohort_job* job, int64_t timeout_ns, cohort_status* status);
COHORT_API cohort_code cohort_job_status(cohort_job* job, cohort_status* status);
/** Ends the job: each group leaves at its next primitive. Returns at once. */
COHORT_API cohort_code cohort_job_cancel(cohort_job* job);
/** Removes all groups at their next resizing points and waits until they are out. */
COHORT_API cohort_code cohort_job_suspend(cohort_job* job, cohort_status* status);
COHORT_API cohort_code cohort_job_resume(cohort_job* job);
/** Writes a suspended job to a file. Only for apps that were launched with `movable`.
 * cohort_app_launch continues such a file. */
COHORT_API cohort_code cohort_job_checkpoint(cohort_job* job, const char* file);
/** Fixes the number of groups that the job should have; 0 lets the engine decide again. */
COHORT_API cohort_code cohort_job_set_target(cohort_job* job, uint32_t groups);
/** Statistics so far, as JSON. */
COHORT_API cohort_code cohort_job_report(cohort_job* job, char** json);
/** Closes the handle. The job continues. */
COHORT_API cohort_code cohort_job_destroy(cohort_job* job);

/* ---- tasks: functions of the host on a fixed number of units at once, next to the jobs of a CPU
 * engine */

/** Called once for each group of the task, by threads of the engine. It may call this library. */
typedef void (*cohort_task_function)(void* user, uint32_t group, uint32_t groups);

typedef struct cohort_task_options {
  size_t size;
  uint32_t groups; /**< units, all at once; 0: 1 */
  int32_t priority;
  cohort_timeline* timeline;
  const char* name;
} cohort_task_options;

COHORT_API cohort_code cohort_task_submit(cohort_engine* engine, cohort_task_function function,
                                          void* user, const cohort_task_options* options,
                                          cohort_task** task);
COHORT_API cohort_code cohort_task_wait(cohort_task* task, int64_t timeout_ns,
                                        cohort_status* status);
/** Withdraws a waiting task. A running task ends by itself. */
COHORT_API cohort_code cohort_task_cancel(cohort_task* task);
COHORT_API cohort_code cohort_task_report(cohort_task* task, char** json);
COHORT_API cohort_code cohort_task_destroy(cohort_task* task);

/* ---- apps */

/** Compressed rows: the edges of node n are targets[offsets[n]] to targets[offsets[n + 1] - 1]. */
typedef struct cohort_csr {
  size_t size;
  uint64_t nodes;
  uint64_t edges;
  const void* offsets; /**< nodes + 1 unsigned integers */
  const void* targets;
  const void* weights;   /**< null: every edge has the weight 1 */
  uint32_t offset_bytes; /**< size of an integer of these arrays: 4 or 8 */
  uint32_t target_bytes;
  uint32_t weight_bytes;
} cohort_csr;

/** Copies and checks a graph. Data that apps derive from it, such as its transpose, is kept with
 * the graph. */
COHORT_API cohort_code cohort_graph_create(const cohort_csr* csr, cohort_graph** graph);
COHORT_API cohort_code cohort_graph_destroy(cohort_graph* graph);

typedef struct cohort_app_options {
  size_t size;
  const char* const*
      settings;      /**< KEY=VALUE, as for `cohort run --option`; ends with a null pointer */
  const char* input; /**< without a graph: as for `cohort run --input` */
  const cohort_launch_options* launch; /**< null: defaults */
  int32_t movable;                     /**< its checkpoints can be continued by another engine */
  const char* restore; /**< continues this checkpoint of a movable run on the same input */
} cohort_app_options;

/** Starts an app by its name; cohort_about lists them. The job is like other jobs; when
 * it has finished, it has a result. */
COHORT_API cohort_code cohort_app_launch(cohort_engine* engine, const char* app,
                                         cohort_graph* graph, const cohort_app_options* options,
                                         cohort_job** job);
/** The type of the result for each node ("uint32", "uint64" or "float64"), and the number of nodes.
 */
COHORT_API cohort_code cohort_job_result_size(cohort_job* job, const char** element,
                                              uint64_t* count);
COHORT_API cohort_code cohort_job_result(cohort_job* job, void* to, uint64_t bytes);
/** Compares the result with a sequential computation. If it is wrong, the message
 * describes the first difference. */
COHORT_API cohort_code cohort_job_verify(cohort_job* job, int32_t* right);

/* ---- timelines */

typedef enum cohort_timeline_format {
  COHORT_TIMELINE_PERFETTO = 0, /**< trace events for ui.perfetto.dev */
  COHORT_TIMELINE_REPORT = 1,   /**< the data of the report's timeline, as JSON */
  COHORT_TIMELINE_HTML = 2      /**< a page with the report's timeline */
} cohort_timeline_format;

/** Records the jobs and tasks that are launched with this timeline: at most `events` events, or
 * 2^20 for 0. */
COHORT_API cohort_code cohort_timeline_create(uint64_t events, cohort_timeline** timeline);
COHORT_API cohort_code cohort_timeline_export(cohort_timeline* timeline,
                                              cohort_timeline_format format, char** text);
COHORT_API cohort_code cohort_timeline_dropped(cohort_timeline* timeline, uint64_t* events);
COHORT_API cohort_code cohort_timeline_destroy(cohort_timeline* timeline);

/* ---- leases: SMs of a GPU for work in a CUDA stream. For the engine "cuda" only. */

/** Holds SMs for work in `stream` (a cudaStream_t), in stream order. */
COHORT_API cohort_code cohort_engine_lease(cohort_engine* engine, void* stream, uint32_t sms,
                                           cohort_lease** lease);
/** Makes a stream of the highest priority, with a lease of SMs, for use by other libraries. */
COHORT_API cohort_code cohort_engine_lease_stream(cohort_engine* engine, uint32_t sms,
                                                  cohort_lease** lease);
/** The stream of the lease. */
COHORT_API cohort_code cohort_lease_stream(cohort_lease* lease, void** stream);
/** Gives the SMs back, in stream order. A stream made by cohort_engine_lease_stream is destroyed
 * when its work is done. The CPUs of a tenant's lease are given back at once, and waits for the
 * lease end. */
COHORT_API cohort_code cohort_lease_give_back(cohort_lease* lease);

/* ---- tenants: CPUs borrowed from an engine that another process shares (docs/tenants.md) */

typedef struct cohort_tenant_options {
  size_t size;
  const char* engine; /**< null: $COHORT_ENGINE, or the only shared engine of this user */
  const char* name;   /**< in the engine's status; null: the name of the program */
  uint32_t weight;    /**< relative to the engine's other tenants, 1 to 1000; 0: 1 */
  int32_t priority;   /**< among tenants with equal claims, -100 to 100 */
} cohort_tenant_options;

/** Connects now, or when an engine of that name appears, and again after that engine has ended. */
COHORT_API cohort_code cohort_tenant_create(const cohort_tenant_options* options,
                                            cohort_tenant** tenant);
/** Gives back the units of its leases, and ends their waits. The leases are empty from then on. */
COHORT_API cohort_code cohort_tenant_destroy(cohort_tenant* tenant);
/** Waits until an engine answers. COHORT_TIMED_OUT if none does by then. */
COHORT_API cohort_code cohort_tenant_wait_connected(cohort_tenant* tenant, int64_t timeout_ns);
/** The name of the engine that answers; an empty text if none does. */
COHORT_API cohort_code cohort_tenant_engine(cohort_tenant* tenant, char** name);

/** Asks for units and returns at once; cohort_lease_wait waits for them. Without an engine the
 * lease stays empty. */
COHORT_API cohort_code cohort_tenant_lease(cohort_tenant* tenant, uint32_t units,
                                           cohort_lease** lease);
/** Takes the units that the engine lends within 2 ms, usually idle ones. There may be none. */
COHORT_API cohort_code cohort_tenant_try_lease(cohort_tenant* tenant, uint32_t units,
                                               cohort_lease** lease);
/** Waits until the engine has lent what it can, at least one unit. After COHORT_TIMED_OUT the lease
 * still asks, and can be waited for again. COHORT_OK without units: there is no engine, or the
 * calling thread's own leases hold all that the engine lends to this tenant. */
COHORT_API cohort_code cohort_lease_wait(cohort_lease* lease, int64_t timeout_ns);
/** The number of units that a tenant's lease holds now. It can fall and rise again. */
COHORT_API cohort_code cohort_lease_units(cohort_lease* lease, uint32_t* units);
/** The ids of the CPUs that the lease may use. Writes at most `room` of them, and sets `count` to
 * their number. */
COHORT_API cohort_code cohort_lease_cpus(cohort_lease* lease, uint32_t* cpus, uint32_t room,
                                         uint32_t* count);

/** The names of this user's shared engines that answer, as a JSON array. */
COHORT_API cohort_code cohort_shared_engines(char** json);
/** The status of a shared engine, as JSON. `engine` is chosen as in cohort_tenant_options. */
COHORT_API cohort_code cohort_shared_engine_status(const char* engine, char** json);
/** Sets the capacity of a shared engine while its jobs run. */
COHORT_API cohort_code cohort_shared_engine_set_capacity(const char* engine, uint32_t units);

#ifdef __cplusplus
}
#endif

#endif
