// What the C and C++ drivers share: the lines of wire.go, and the clock.
#ifndef PEERS_WIRE_H
#define PEERS_WIRE_H

#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static inline int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline void linger(int64_t ns) {
  for (int64_t began = now_ns(); now_ns() - began < ns;) {
  }
}

// arg returns the value of key in a request, or ends the driver.
static inline int64_t arg(const char *line, const char *key) {
  char want[64];
  snprintf(want, sizeof want, " %s=", key);
  const char *at = strstr(line, want);
  if (at == NULL) {
    fprintf(stderr, "no %s in %s\n", key, line);
    exit(1);
  }
  return strtoll(at + strlen(want), NULL, 10);
}

static inline int word_is(const char *line, const char *word) {
  size_t n = strlen(word);
  return strncmp(line, word, n) == 0 && (line[n] == ' ' || line[n] == '\n' || line[n] == 0);
}

static inline void say_ops(int64_t ops, int64_t elapsed) {
  printf("ok ops=%lld elapsed=%lld\n", (long long)ops, (long long)elapsed);
}

static inline int by_value(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return x < y ? -1 : x > y;
}

static inline int64_t three_digits(int64_t v) {
  int64_t unit = 1;
  while (v / unit >= 1000 || v / unit <= -1000) unit *= 10;
  int64_t half = v < 0 ? -(unit / 2) : unit / 2;
  return (v + half) / unit * unit;
}

static inline void say_samples(int64_t *v, int n) {
  for (int i = 0; i < n; i++) v[i] = three_digits(v[i]);
  qsort(v, n, sizeof *v, by_value);
  printf("ok samples=");
  for (int i = 0; i < n;) {
    int j = i;
    while (j < n && v[j] == v[i]) j++;
    printf("%s%lld:%d", i ? "," : "", (long long)v[i], j - i);
    i = j;
  }
  printf("\n");
}

// as_many_descriptors_as_allowed does what the runtimes of Go and Java do at their start.
static inline void as_many_descriptors_as_allowed(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

// one_arena makes mallinfo2 right: it counts the first arena only. To be called before
// there are threads.
static inline void one_arena(void) { mallopt(M_ARENA_MAX, 1); }

// say_memory gives back what is free and says what is left.
static inline void say_memory(void) {
  malloc_trim(0);
  struct mallinfo2 m = mallinfo2();
  long long kilobytes = 0;
  char line[256];
  FILE *status = fopen("/proc/self/status", "r");
  while (status != NULL && fgets(line, sizeof line, status) != NULL) {
    if (sscanf(line, "VmRSS: %lld", &kilobytes) == 1) break;
  }
  if (status != NULL) fclose(status);
  printf("ok resident=%lld heap=%lld\n", kilobytes * 1024, (long long)(m.uordblks + m.hblkhd));
}

// option returns the value of key in a request, or 0 if it is not there.
static inline int64_t option(const char *line, const char *key) {
  char want[64];
  snprintf(want, sizeof want, " %s=", key);
  return strstr(line, want) == NULL ? 0 : arg(line, key);
}

#endif
