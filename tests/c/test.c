/* The C API as a program in C11 uses it. */
#define _POSIX_C_SOURCE 200809L
#include <cohort/c.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(condition)                                                          \
  do {                                                                            \
    if (!(condition)) {                                                           \
      fprintf(stderr, "%s:%d: %s; message: %s\n", __FILE__, __LINE__, #condition, \
              cohort_message());                                                  \
      exit(1);                                                                    \
    }                                                                             \
  } while (0)
#define OK(call) CHECK((call) == COHORT_OK)

static void mark(void* user, uint32_t group, uint32_t groups) { ((uint32_t*)user)[group] = groups; }

static void close_engine(void* user, uint32_t group, uint32_t groups) {
  (void)groups;
  cohort_engine* const engine = *(cohort_engine**)user;
  if (group == 0) CHECK(cohort_engine_close(engine, COHORT_FOREVER) == COHORT_BAD_STATE);
}

static void wait_for_itself(void* user, uint32_t group, uint32_t groups) {
  (void)group;
  (void)groups;
  cohort_task* self = NULL;
  while ((self = atomic_load((_Atomic(cohort_task*)*)user)) == NULL) continue;
  cohort_status status = COHORT_FAILED;
  CHECK(cohort_task_wait(self, COHORT_FOREVER, &status) == COHORT_BAD_STATE);
  CHECK(status == COHORT_RUNNING);
}

static void check_tasks(cohort_engine* engine, cohort_timeline* timeline) {
  uint32_t marks[3] = {0};
  cohort_task* task = NULL;
  OK(cohort_task_submit(engine, mark, marks,
                        &(cohort_task_options){
                            .size = sizeof(cohort_task_options), .groups = 3, .timeline = timeline},
                        &task));
  cohort_status status = COHORT_PENDING;
  OK(cohort_task_wait(task, COHORT_FOREVER, &status));
  CHECK(status == COHORT_FINISHED && marks[0] == 3 && marks[1] == 3 && marks[2] == 3);
  OK(cohort_task_destroy(task));
  CHECK(cohort_task_wait(task, 0, NULL) == COHORT_BAD_HANDLE);

  OK(cohort_task_submit(engine, close_engine, &engine, NULL, &task));
  OK(cohort_task_wait(task, COHORT_FOREVER, NULL));
  _Atomic(cohort_task*) self = NULL;
  OK(cohort_task_submit(engine, wait_for_itself, (void*)&self, NULL, &task));
  atomic_store(&self, task);
  OK(cohort_task_wait(task, COHORT_FOREVER, NULL));
  CHECK(cohort_task_submit(engine, NULL, NULL, NULL, &task) == COHORT_BAD_OPTIONS);
  CHECK(cohort_task_submit(engine, mark, marks, &(cohort_task_options){.size = 3}, &task) ==
        COHORT_BAD_OPTIONS);
  CHECK(
      cohort_task_submit(engine, mark, marks,
                         &(cohort_task_options){.size = sizeof(cohort_task_options), .groups = 100},
                         &task) == COHORT_BAD_OPTIONS);
}

static void check_newer_options(cohort_engine* engine) {
  struct {
    cohort_task_options known;
    uint64_t unknown;
  } options = {.known = {.size = sizeof options}};
  uint32_t marks[1] = {0};
  cohort_task* task = NULL;
  OK(cohort_task_submit(engine, mark, marks, &options.known, &task));
  OK(cohort_task_wait(task, COHORT_FOREVER, NULL));
  options.unknown = 1;
  CHECK(cohort_task_submit(engine, mark, marks, &options.known, &task) == COHORT_UNSUPPORTED);
}

static void check_kernels(cohort_engine* engine, cohort_timeline* timeline) {
  static const char source[] =
      "kernel void add(global int *a, global const int *b, int n) {\n"
      "  transmit int i = 0;\n"
      "  for (; i < n; i++) { if (get_global_id() == 0) a[i] = b[i] + 1; "
      "resizing_global_barrier(); }\n"
      "}\n";
  cohort_program* program = NULL;
  const cohort_code code = cohort_program_from_source(source, "add", NULL, &program);
  if (code == COHORT_UNSUPPORTED) {
    printf("programs: %s\n", cohort_message());
    return;
  }
  OK(code);
  cohort_kernel* kernel = NULL;
  CHECK(cohort_kernel_create(program, "subtract", &kernel) == COHORT_BAD_OPTIONS);
  OK(cohort_kernel_create(program, "add", &kernel));
  OK(cohort_program_destroy(program));
  int b[4] = {1, 2, 3, 4};
  const int n = 4;
  int result[4] = {0};
  cohort_buffer* buffer = NULL;
  OK(cohort_buffer_create(engine, sizeof result, &buffer));
  CHECK(cohort_kernel_set_memory(kernel, "b", (char*)b + 1, 4) == COHORT_BAD_OPTIONS);
  CHECK(cohort_kernel_set_memory(kernel, "b", b, 3) == COHORT_BAD_OPTIONS);
  CHECK(cohort_kernel_set_memory(kernel, "b", NULL, 4) == COHORT_BAD_OPTIONS);
  CHECK(cohort_kernel_set_memory(kernel, "n", b, 4) == COHORT_BAD_OPTIONS);
  CHECK(cohort_kernel_set_value(kernel, "n", &n, 8) == COHORT_BAD_OPTIONS);
  cohort_job* job = NULL;
  CHECK(cohort_kernel_launch(kernel, engine, NULL, &job) == COHORT_BAD_OPTIONS);
  OK(cohort_kernel_set_buffer(kernel, "a", buffer));
  OK(cohort_kernel_set_memory(kernel, "b", b, sizeof b));
  OK(cohort_kernel_set_value(kernel, "n", &n, sizeof n));
  OK(cohort_kernel_launch(
      kernel, engine,
      &(cohort_launch_options){
          .size = sizeof(cohort_launch_options), .max_groups = 2, .timeline = timeline},
      &job));
  OK(cohort_kernel_destroy(kernel));
  OK(cohort_job_wait(job, COHORT_FOREVER, NULL));
  OK(cohort_buffer_read(buffer, 0, result, sizeof result));
  CHECK(result[0] == 2 && result[3] == 5);
  CHECK(cohort_buffer_read(buffer, 8, result, sizeof result) == COHORT_BAD_OPTIONS);
  OK(cohort_buffer_destroy(buffer));
  CHECK(cohort_job_resume(job) == COHORT_BAD_STATE);
  char* report = NULL;
  OK(cohort_job_report(job, &report));
  CHECK(strstr(report, "\"status\":\"finished\"") != NULL);
  cohort_string_free(report);
  OK(cohort_job_destroy(job));
}

static void check_apps(cohort_engine* engine) {
  const uint32_t offsets[] = {0, 2, 3, 3};
  const uint32_t targets[] = {1, 2, 2};
  cohort_csr csr = {.size = sizeof csr,
                    .nodes = 3,
                    .edges = 3,
                    .offsets = offsets,
                    .targets = targets,
                    .offset_bytes = 4,
                    .target_bytes = 4};
  cohort_graph* graph = NULL;
  OK(cohort_graph_create(&csr, &graph));
  cohort_job* job = NULL;
  OK(cohort_app_launch(engine, "bfs", graph, NULL, &job));
  OK(cohort_graph_destroy(graph));
  OK(cohort_job_wait(job, COHORT_FOREVER, NULL));
  uint32_t levels[3] = {9, 9, 9};
  CHECK(cohort_job_result(job, levels, 8) == COHORT_BAD_OPTIONS);
  OK(cohort_job_result(job, levels, sizeof levels));
  CHECK(levels[0] == 0 && levels[1] == 1 && levels[2] == 1);
  int32_t right = 0;
  OK(cohort_job_verify(job, &right));
  CHECK(right == 1);
  csr.edges = 2;
  CHECK(cohort_graph_create(&csr, &graph) == COHORT_BAD_OPTIONS);
  CHECK(cohort_app_launch(engine, "unknown", NULL, NULL, &job) == COHORT_BAD_OPTIONS);
}

static uint32_t units_of(cohort_lease* lease) {
  uint32_t units = 99;
  OK(cohort_lease_units(lease, &units));
  return units;
}

static void check_tenants(void) {
  char folder[] = "/tmp/cohort-c-test-XXXXXX";
  CHECK(mkdtemp(folder) != NULL && setenv("XDG_RUNTIME_DIR", folder, 1) == 0);
  unsetenv("COHORT_ENGINE");
  cohort_tenant* tenant = NULL;
  cohort_lease* lease = NULL;
  cohort_tenant_options options = {.size = sizeof options, .weight = 1001};
  CHECK(cohort_tenant_create(&options, &tenant) == COHORT_BAD_OPTIONS);
  options = (cohort_tenant_options){.size = sizeof options, .engine = "c", .name = "renderer"};
  OK(cohort_tenant_create(&options, &tenant));
  CHECK(cohort_tenant_wait_connected(tenant, 1000000) == COHORT_TIMED_OUT);
  OK(cohort_tenant_lease(tenant, 1, &lease));
  OK(cohort_lease_wait(lease, COHORT_FOREVER));
  CHECK(units_of(lease) == 0); /* there is no engine */
  OK(cohort_lease_give_back(lease));
  char* text = NULL;
  CHECK(cohort_shared_engine_status("c", &text) == COHORT_ENGINE_GONE);

  cohort_engine* engine = NULL;
  OK(cohort_engine_create(
      "cpu",
      &(cohort_engine_options){.size = sizeof(cohort_engine_options), .capacity = 3, .share = "c"},
      &engine));
  OK(cohort_tenant_wait_connected(tenant, COHORT_FOREVER));
  OK(cohort_tenant_engine(tenant, &text));
  CHECK(strcmp(text, "c") == 0);
  cohort_string_free(text);
  CHECK(cohort_tenant_lease(tenant, 0, &lease) == COHORT_BAD_OPTIONS);
  OK(cohort_tenant_lease(tenant, 2, &lease));
  OK(cohort_lease_wait(lease, COHORT_FOREVER));
  CHECK(units_of(lease) == 2);
  uint32_t cpus[1024];
  uint32_t count = 0;
  OK(cohort_lease_cpus(lease, cpus, 1024, &count));
  CHECK(count > 0 && count <= 1024);
  OK(cohort_lease_cpus(lease, NULL, 0, &count));
  CHECK(cohort_lease_cpus(lease, NULL, 1, &count) == COHORT_BAD_OPTIONS);
  void* stream = NULL;
  CHECK(cohort_lease_stream(lease, &stream) == COHORT_UNSUPPORTED);
  cohort_lease* more = NULL;
  OK(cohort_tenant_lease(tenant, 3, &more)); /* one is left */
  OK(cohort_lease_wait(more, COHORT_FOREVER));
  CHECK(units_of(more) == 1);
  cohort_lease* last = NULL;
  OK(cohort_tenant_lease(tenant, 1, &last)); /* this thread holds all */
  OK(cohort_lease_wait(last, COHORT_FOREVER));
  CHECK(units_of(last) == 0);
  OK(cohort_lease_give_back(last));
  OK(cohort_tenant_try_lease(tenant, 1, &last));
  CHECK(units_of(last) == 0);
  OK(cohort_lease_give_back(more));
  CHECK(cohort_lease_wait(more, 0) == COHORT_BAD_HANDLE);

  OK(cohort_shared_engines(&text));
  CHECK(strcmp(text, "[\"c\"]") == 0);
  cohort_string_free(text);
  OK(cohort_shared_engine_status(NULL, &text));
  CHECK(strstr(text, "\"name\": \"renderer\"") != NULL);
  cohort_string_free(text);
  OK(cohort_shared_engine_set_capacity("c", 2));
  OK(cohort_engine_capacity(engine, &count));
  CHECK(count == 2);
  CHECK(cohort_shared_engine_set_capacity("c", 0) == COHORT_BAD_OPTIONS);

  OK(cohort_tenant_destroy(tenant));
  CHECK(cohort_tenant_destroy(tenant) == COHORT_BAD_HANDLE);
  CHECK(units_of(lease) == 0);
  OK(cohort_lease_wait(lease, COHORT_FOREVER));
  OK(cohort_lease_give_back(lease));
  OK(cohort_engine_close(engine, COHORT_FOREVER));
  char inner[64];
  snprintf(inner, sizeof inner, "%s/cohort", folder);
  CHECK(rmdir(inner) == 0 && rmdir(folder) == 0);
}

int main(void) {
  CHECK(cohort_abi() >= COHORT_ABI);
  cohort_engine* engine = NULL;
  CHECK(cohort_engine_create("abacus", NULL, &engine) == COHORT_BAD_OPTIONS);
  CHECK(strstr(cohort_message(), "abacus") != NULL);
  OK(cohort_engine_create(
      "cpu", &(cohort_engine_options){.size = sizeof(cohort_engine_options), .capacity = 3},
      &engine));
  cohort_timeline* timeline = NULL;
  OK(cohort_timeline_create(0, &timeline));
  check_tasks(engine, timeline);
  check_newer_options(engine);
  check_kernels(engine, timeline);
  check_apps(engine);
  char* trace = NULL;
  OK(cohort_timeline_export(timeline, COHORT_TIMELINE_PERFETTO, &trace));
  CHECK(strstr(trace, "\"name\":\"task\"") != NULL);
  cohort_string_free(trace);
  OK(cohort_engine_set_capacity(engine, 2));
  uint32_t capacity = 0;
  OK(cohort_engine_capacity(engine, &capacity));
  CHECK(capacity == 2);
  CHECK(cohort_engine_capacity((cohort_engine*)timeline, &capacity) == COHORT_BAD_HANDLE);
  CHECK(cohort_engine_capacity(NULL, &capacity) == COHORT_BAD_HANDLE);
  CHECK(cohort_engine_capacity((cohort_engine*)&engine, &capacity) == COHORT_BAD_HANDLE);
  OK(cohort_engine_close(engine, COHORT_FOREVER));
  CHECK(cohort_engine_close(engine, COHORT_FOREVER) == COHORT_BAD_HANDLE);
  CHECK(cohort_engine_lease(engine, NULL, 1, NULL) != COHORT_OK);
  check_tenants();
  puts("right");
  return 0;
}
