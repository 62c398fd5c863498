// The echo server of libuv: a thread that accepts, and one loop for each processor, which
// get the connections in turn. A loop of libuv can be told something by no more than a
// uv_async_t, so what was accepted waits in a list for its loop.
#ifndef PEERS_UVECHO_H
#define PEERS_UVECHO_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include "wire.h"

enum { MAX_LOOPS = 256, READ_BYTES = 65536 };

typedef struct {
  uv_loop_t loop;
  uv_async_t wake;
  pthread_t thread;
  pthread_mutex_t lock;
  int *accepted, count, room, stop; // guarded by lock
  char bytes[READ_BYTES];           // what is read is written before the next read
} echo_loop;

typedef struct {
  uv_write_t write;
  char bytes[];
} late_write; // what the kernel did not take at once

static echo_loop echo_loops[MAX_LOOPS];
static int echo_count, echo_listener = -1, echo_burners;
static pthread_t echo_acceptor, echo_burning[MAX_LOOPS];
static volatile int echo_burn;

static void echo_free(uv_handle_t *h) { free(h); }

static void echo_close(uv_handle_t *h) {
  if (!uv_is_closing(h)) uv_close(h, h->type == UV_TCP ? echo_free : NULL);
}

static void echo_room(uv_handle_t *h, size_t want, uv_buf_t *buf) {
  (void)want;
  *buf = uv_buf_init(((echo_loop *)h->loop->data)->bytes, READ_BYTES);
}

static void echo_written(uv_write_t *w, int status) {
  if (status < 0) echo_close((uv_handle_t *)w->handle);
  free(w);
}

static void echo_read(uv_stream_t *s, ssize_t n, const uv_buf_t *buf) {
  if (n < 0) {
    echo_close((uv_handle_t *)s);
    return;
  }
  if (n == 0) return;
  uv_buf_t out = uv_buf_init(buf->base, (unsigned)n);
  int took = uv_try_write(s, &out, 1);
  if (took == n) return;
  if (took < 0 && took != UV_EAGAIN) {
    echo_close((uv_handle_t *)s);
    return;
  }
  if (took < 0) took = 0;
  late_write *w = malloc(sizeof *w + (size_t)(n - took));
  memcpy(w->bytes, buf->base + took, (size_t)(n - took));
  out = uv_buf_init(w->bytes, (unsigned)(n - took));
  uv_write(&w->write, s, &out, 1, echo_written);
}

static void echo_close_each(uv_handle_t *h, void *arg) {
  (void)arg;
  echo_close(h);
}

static void echo_woken(uv_async_t *wake) {
  echo_loop *l = wake->data;
  pthread_mutex_lock(&l->lock);
  int *fds = l->accepted, n = l->count, stop = l->stop;
  l->accepted = NULL;
  l->count = l->room = 0;
  pthread_mutex_unlock(&l->lock);
  for (int i = 0; i < n; i++) {
    uv_tcp_t *c = malloc(sizeof *c);
    uv_tcp_init(&l->loop, c);
    uv_tcp_open(c, fds[i]);
    uv_tcp_nodelay(c, 1);
    uv_read_start((uv_stream_t *)c, echo_room, echo_read);
  }
  free(fds);
  if (stop) uv_walk(&l->loop, echo_close_each, NULL);
}

static void *echo_run(void *self) {
  uv_run(&((echo_loop *)self)->loop, UV_RUN_DEFAULT);
  return NULL;
}

// echo_accept ends when the listener is shut down.
static void *echo_accept(void *unused) {
  (void)unused;
  for (int next = 0;; next = (next + 1) % echo_count) {
    int fd = accept4(echo_listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return NULL;
    echo_loop *l = &echo_loops[next];
    pthread_mutex_lock(&l->lock);
    if (l->count == l->room) {
      l->room = l->room ? 2 * l->room : 64;
      l->accepted = realloc(l->accepted, sizeof *l->accepted * (size_t)l->room);
    }
    l->accepted[l->count++] = fd;
    pthread_mutex_unlock(&l->lock);
    uv_async_send(&l->wake);
  }
}

static void *echo_spin(void *unused) {
  (void)unused;
  while (echo_burn) {
  }
  return NULL;
}

static void echo_start(int burners) {
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t size = sizeof at;
  echo_listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (echo_listener < 0 || bind(echo_listener, (struct sockaddr *)&at, size) != 0 || listen(echo_listener, 4096) != 0 ||
      getsockname(echo_listener, (struct sockaddr *)&at, &size) != 0 || burners > MAX_LOOPS) {
    printf("error \"no echo server\"\n");
    return;
  }
  long processors = sysconf(_SC_NPROCESSORS_ONLN);
  echo_count = processors > MAX_LOOPS ? MAX_LOOPS : (int)processors;
  for (int i = 0; i < echo_count; i++) {
    echo_loop *l = &echo_loops[i];
    memset(l, 0, sizeof *l);
    pthread_mutex_init(&l->lock, NULL);
    uv_loop_init(&l->loop);
    l->loop.data = l;
    uv_async_init(&l->loop, &l->wake, echo_woken);
    l->wake.data = l;
    pthread_create(&l->thread, NULL, echo_run, l);
  }
  pthread_create(&echo_acceptor, NULL, echo_accept, NULL);
  echo_burn = 1;
  echo_burners = burners;
  for (int i = 0; i < burners; i++) pthread_create(&echo_burning[i], NULL, echo_spin, NULL);
  printf("ok port=%d\n", ntohs(at.sin_port));
}

static void echo_stop(void) {
  echo_burn = 0;
  for (int i = 0; i < echo_burners; i++) pthread_join(echo_burning[i], NULL);
  int64_t began = now_ns();
  shutdown(echo_listener, SHUT_RDWR);
  pthread_join(echo_acceptor, NULL);
  close(echo_listener);
  for (int i = 0; i < echo_count; i++) {
    pthread_mutex_lock(&echo_loops[i].lock);
    echo_loops[i].stop = 1;
    pthread_mutex_unlock(&echo_loops[i].lock);
    uv_async_send(&echo_loops[i].wake);
  }
  for (int i = 0; i < echo_count; i++) {
    pthread_join(echo_loops[i].thread, NULL);
    uv_loop_close(&echo_loops[i].loop);
  }
  say_ops(1, now_ns() - began);
}

#endif
