// The driver of libuv. A loop of libuv has no queue of tasks: other threads can do
// no more than wake it by a uv_async_t, of which several calls may be one. That is
// enough for a round trip, and all that a program would build a queue on.
#include <pthread.h>
#include <semaphore.h>
#include <uv.h>

#include "uvecho.h"
#include "wire.h"

typedef struct {
  uv_loop_t loop;
  uv_async_t wake;
  pthread_t thread;
  sem_t answer;
  int stop;
  void (*work)(void *self); // set by the caller before it wakes
} peer;

static void on_wake(uv_async_t *handle) {
  peer *p = handle->data;
  if (p->stop) {
    uv_close((uv_handle_t *)handle, NULL);
    return;
  }
  if (p->work) p->work(p);
  sem_post(&p->answer);
}

static void *run(void *self) {
  uv_run(&((peer *)self)->loop, UV_RUN_DEFAULT);
  return NULL;
}

static void start(peer *p) {
  memset(p, 0, sizeof *p);
  uv_loop_init(&p->loop);
  uv_async_init(&p->loop, &p->wake, on_wake);
  p->wake.data = p;
  sem_init(&p->answer, 0, 0);
  pthread_create(&p->thread, NULL, run, p);
}

static void trip(peer *p) {
  uv_async_send(&p->wake);
  while (sem_wait(&p->answer) != 0) {
  }
}

static void stop(peer *p) {
  p->stop = 1;
  uv_async_send(&p->wake);
  pthread_join(p->thread, NULL);
  uv_loop_close(&p->loop);
  sem_destroy(&p->answer);
}

static void roundtrips(int64_t pause, int n) {
  peer p;
  int64_t *v = malloc(sizeof *v * n);
  start(&p);
  trip(&p);
  for (int i = 0; i < n; i++) {
    linger(pause);
    int64_t began = now_ns();
    trip(&p);
    v[i] = now_ns() - began;
  }
  stop(&p);
  say_samples(v, n);
  free(v);
}

static void shutdowns(int n) {
  int64_t *v = malloc(sizeof *v * n);
  for (int i = 0; i < n; i++) {
    peer p;
    start(&p);
    trip(&p);
    linger(200000);
    int64_t began = now_ns();
    stop(&p);
    v[i] = now_ns() - began;
  }
  say_samples(v, n);
  free(v);
}

enum { BATCH = 64, PENDING = 1000 };
static uv_timer_t others[PENDING], fresh[BATCH];
static int batches;

static void never(uv_timer_t *t) { (void)t; }
static uint64_t far(void) { return 3600000 + rand() % 3600000; }

static void open_timers(void *self) {
  peer *p = self;
  srand(1);
  for (int i = 0; i < PENDING; i++) {
    uv_timer_init(&p->loop, &others[i]);
    uv_timer_start(&others[i], never, far(), 0);
  }
  for (int i = 0; i < BATCH; i++) uv_timer_init(&p->loop, &fresh[i]);
}

static void replace_timers(void *self) {
  (void)self;
  for (int b = 0; b < batches; b++) {
    for (int i = 0; i < BATCH; i++) uv_timer_start(&fresh[i], never, far(), 0);
    for (int i = 0; i < BATCH; i++) uv_timer_stop(&fresh[i]);
  }
}

static void close_timers(void *self) {
  (void)self;
  for (int i = 0; i < PENDING; i++) uv_close((uv_handle_t *)&others[i], NULL);
  for (int i = 0; i < BATCH; i++) uv_close((uv_handle_t *)&fresh[i], NULL);
}

static void schedule_cancel(int n) {
  peer p;
  start(&p);
  p.work = open_timers;
  trip(&p);
  batches = n / BATCH > 0 ? n / BATCH : 1;
  p.work = replace_timers;
  int64_t began = now_ns();
  trip(&p);
  int64_t elapsed = now_ns() - began;
  p.work = close_timers;
  trip(&p);
  stop(&p);
  say_ops((int64_t)batches * BATCH, elapsed);
}

typedef struct {
  uv_timer_t timer;
  int64_t due, late;
} late_timer;

static late_timer *late;
static int late_count, late_left;
static sem_t all_fired;

static void on_late(uv_timer_t *t) {
  late_timer *l = (late_timer *)t;
  l->late = now_ns() - l->due;
  uv_close((uv_handle_t *)t, NULL);
  if (--late_left == 0) sem_post(&all_fired);
}

// A timer of libuv counts milliseconds: a longer fraction is rounded up, never early.
static void open_late(void *self) {
  peer *p = self;
  uv_update_time(&p->loop);
  for (int i = 0; i < late_count; i++) {
    int64_t delay = 1000000LL * (1 + i % 20) + 7000LL * (i % 100);
    late[i].due = now_ns() + delay;
    uv_timer_init(&p->loop, &late[i].timer);
    uv_timer_start(&late[i].timer, on_late, (delay + 999999) / 1000000, 0);
  }
}

static void lateness(int n) {
  peer p;
  late = calloc(n, sizeof *late);
  late_count = late_left = n;
  sem_init(&all_fired, 0, 0);
  start(&p);
  p.work = open_late;
  trip(&p);
  while (sem_wait(&all_fired) != 0) {
  }
  p.work = NULL;
  trip(&p);
  stop(&p);
  int64_t *v = malloc(sizeof *v * n);
  for (int i = 0; i < n; i++) v[i] = late[i].late;
  say_samples(v, n);
  free(v);
  free(late);
}

int main(void) {
  char line[4096];
  as_many_descriptors_as_allowed();
  one_arena();
  while (fgets(line, sizeof line, stdin) != NULL) {
    if (word_is(line, "about")) printf("ok version=%s\n", uv_version_string());
    else if (word_is(line, "roundtrip")) roundtrips(arg(line, "pause"), (int)arg(line, "n"));
    else if (word_is(line, "shutdown")) shutdowns((int)arg(line, "n"));
    else if (word_is(line, "schedulecancel") && strstr(line, "where=loop")) schedule_cancel((int)arg(line, "n"));
    else if (word_is(line, "schedulecancel")) printf("none timers of libuv can be made by their loop only\n");
    else if (word_is(line, "lateness")) lateness((int)arg(line, "n"));
    else if (word_is(line, "overshoot")) printf("none libuv has no quiet period\n");
    else if (word_is(line, "echo-start")) echo_start((int)option(line, "burn"));
    else if (word_is(line, "echo-stop")) echo_stop();
    else if (word_is(line, "memory")) say_memory();
    else printf("none libuv has no queue of tasks\n");
    fflush(stdout);
  }
  return 0;
}
