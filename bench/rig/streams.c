/* Opens many event streams at once on one epoll loop and checks every byte of every event.
 *
 * streams PORT REQUEST EVENT TAIL STREAMS EVENTS RAMP_MS LATE_MS TIMEOUT_S strict|loose
 *
 * REQUEST is a file with the whole HTTP/1.1 request. EVENT is one event with the fields @SEQ00@
 * (7 digits) and @STAMP0000000000@ (17 digits, CLOCK_MONOTONIC in us when it was sent). TAIL is what
 * follows the last event. strict: each byte as in EVENT and TAIL. loose: for gateways that write the
 * JSON anew, each event must carry the next number, and [DONE] must come last.
 * Prints one JSON line; exits 0 also when events were lost, which is for the caller to judge. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#define SEQ "@SEQ00@"
#define STAMP "@STAMP0000000000@"
#define SEQ_LEN 7
#define STAMP_LEN 17
#define MAX_US 4000000
#define FRAME_MAX 8192

enum phase { HEAD, SIZE, DATA, DATA_END, TRAILER, PLAIN, FINISHED, BROKEN };

struct stream {
  int fd, status, chunked, started, frames_in_tail, done_seen;
  enum phase phase;
  size_t sent, line_len, frame_len, chunk_left, tail_at;
  int next;
  int64_t opened_us;
  char line[4096]; /* the reply's head, or a chunk-size line */
  char frame[FRAME_MAX];
};

struct text {
  char *bytes;
  size_t len;
};

struct histogram {
  uint32_t *count;
  uint64_t total;
  int64_t max;
};

static struct text request, event, tail;
static size_t seq_at, stamp_at;
static int events, strict;
static int64_t late_us;
static struct histogram transit, first;
static uint64_t good_events, altered, disordered, late, bad_status, connect_errors;
static int active, peak_active, open_count, clean_count;

static int64_t now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void die(const char *what) {
  perror(what);
  exit(2);
}

static struct text slurp(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) die(path);
  fseek(file, 0, SEEK_END);
  struct text t = {0, (size_t)ftell(file)};
  rewind(file);
  t.bytes = malloc(t.len + 1);
  if (!t.bytes || fread(t.bytes, 1, t.len, file) != t.len) die(path);
  t.bytes[t.len] = 0;
  fclose(file);
  return t;
}

static void note(struct histogram *h, int64_t us) {
  if (us < 0) us = 0;
  if (us > h->max) h->max = us;
  h->count[us < MAX_US ? us : MAX_US]++;
  h->total++;
}

static int64_t percentile(const struct histogram *h, double share) {
  uint64_t want = (uint64_t)(share * (double)h->total), seen = 0;
  for (int64_t us = 0; us < MAX_US; us++) {
    seen += h->count[us];
    if (seen > want) return us;
  }
  return h->max;
}

/* Reads `len` digits; -1 when one is none. */
static int64_t digits(const char *at, size_t len) {
  int64_t value = 0;
  for (size_t i = 0; i < len; i++) {
    if (at[i] < '0' || at[i] > '9') return -1;
    value = value * 10 + (at[i] - '0');
  }
  return value;
}

static int same_event(const char *frame, size_t len) {
  if (len != event.len) return 0;
  size_t after_seq = seq_at + SEQ_LEN, after_stamp = stamp_at + STAMP_LEN;
  return memcmp(frame, event.bytes, seq_at) == 0 &&
         memcmp(frame + after_seq, event.bytes + after_seq, stamp_at - after_seq) == 0 &&
         memcmp(frame + after_stamp, event.bytes + after_stamp, len - after_stamp) == 0;
}

/* Finds the number and the stamp in an event; 0 when it is no content event. */
static int fields(const char *frame, size_t len, int64_t *seq, int64_t *stamp) {
  if (strict) {
    if (!same_event(frame, len)) return 0;
    *seq = digits(frame + seq_at, SEQ_LEN);
    *stamp = digits(frame + stamp_at, STAMP_LEN);
  } else {
    const char *s = memmem(frame, len, "seq=", 4), *t = memmem(frame, len, "sent=", 5);
    if (!s || !t || s + 4 + SEQ_LEN > frame + len || t + 5 + STAMP_LEN > frame + len) return 0;
    *seq = digits(s + 4, SEQ_LEN);
    *stamp = digits(t + 5, STAMP_LEN);
  }
  return *seq >= 0 && *stamp >= 0;
}

static void tail_frame(struct stream *s, const char *frame, size_t len) {
  s->frames_in_tail++;
  if (strict) {
    if (s->tail_at + len > tail.len || memcmp(frame, tail.bytes + s->tail_at, len) != 0) altered++;
    s->tail_at += len;
    s->done_seen = s->tail_at == tail.len;
  } else if (memmem(frame, len, "[DONE]", 6)) {
    s->done_seen = 1;
  }
}

static void on_frame(struct stream *s, const char *frame, size_t len, int64_t at) {
  int64_t seq, stamp;
  if (s->next == events) {
    tail_frame(s, frame, len);
    return;
  }
  if (!fields(frame, len, &seq, &stamp)) {
    altered++;
    return;
  }
  if (seq != s->next) {
    disordered++;
    if (seq > s->next && seq < events) s->next = (int)seq; /* the gap stays uncounted, so lost */
    else return;
  }
  if (!s->started) {
    s->started = 1;
    note(&first, at - s->opened_us);
    if (++active > peak_active) peak_active = active;
  }
  s->next++;
  good_events++;
  note(&transit, at - stamp);
  if (at - stamp > late_us) late++;
}

static void on_body(struct stream *s, const char *bytes, size_t len, int64_t at) {
  while (len > 0) {
    const char *newline = memchr(bytes, '\n', len);
    size_t take = newline ? (size_t)(newline - bytes) + 1 : len;
    if (s->frame_len + take > FRAME_MAX) {
      altered++;
      s->frame_len = 0;
      return;
    }
    memcpy(s->frame + s->frame_len, bytes, take);
    s->frame_len += take;
    bytes += take;
    len -= take;
    if (s->frame_len >= 2 && memcmp(s->frame + s->frame_len - 2, "\n\n", 2) == 0) {
      on_frame(s, s->frame, s->frame_len, at);
      s->frame_len = 0;
    }
  }
}

static void on_head(struct stream *s) {
  s->status = s->line_len > 12 ? atoi(s->line + 9) : 0;
  s->line[s->line_len] = 0;
  s->chunked = strcasestr(s->line, "\r\ntransfer-encoding: chunked") != NULL;
  if (s->status != 200) {
    bad_status++;
    s->phase = BROKEN;
  } else {
    s->phase = s->chunked ? SIZE : PLAIN;
  }
  s->line_len = 0;
}

static void on_line(struct stream *s) {
  s->line[s->line_len] = 0;
  if (s->phase == SIZE) {
    s->chunk_left = strtoul(s->line, NULL, 16);
    s->phase = s->chunk_left > 0 ? DATA : TRAILER;
  } else if (s->phase == DATA_END) {
    s->phase = s->line_len == 2 ? SIZE : BROKEN;
  } else if (s->line_len == 2) {
    s->phase = FINISHED;
  }
  s->line_len = 0;
}

/* One read's bytes through the HTTP/1.1 framing. */
static void on_bytes(struct stream *s, const char *bytes, size_t len, int64_t at) {
  while (len > 0 && s->phase != FINISHED && s->phase != BROKEN) {
    if (s->phase == DATA || s->phase == PLAIN) {
      size_t take = s->phase == DATA && s->chunk_left < len ? s->chunk_left : len;
      on_body(s, bytes, take, at);
      bytes += take;
      len -= take;
      if (s->phase == DATA && (s->chunk_left -= take) == 0) s->phase = DATA_END;
      continue;
    }
    if (s->line_len + 1 >= sizeof s->line) {
      s->phase = BROKEN;
      return;
    }
    s->line[s->line_len++] = *bytes;
    len--;
    if (*bytes++ != '\n') continue;
    if (s->phase != HEAD) on_line(s);
    else if (s->line_len >= 4 && memcmp(s->line + s->line_len - 4, "\r\n\r\n", 4) == 0) on_head(s);
  }
}

static void close_stream(struct stream *s) {
  int whole = s->phase == FINISHED || (s->phase == PLAIN && !s->chunked);
  if (whole && s->next == events && s->done_seen && s->frame_len == 0) clean_count++;
  if (s->started) active--;
  close(s->fd);
  s->fd = -1;
  open_count--;
}

static void open_stream(struct stream *s, int epoll, int port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  s->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  if (s->fd < 0) die("socket");
  int one = 1;
  setsockopt(s->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  s->opened_us = now_us();
  if (connect(s->fd, (struct sockaddr *)&address, sizeof address) < 0 && errno != EINPROGRESS)
    die("connect");
  struct epoll_event want = {.events = EPOLLOUT, .data.ptr = s};
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, s->fd, &want) < 0) die("epoll_ctl");
  open_count++;
}

static void on_writable(struct stream *s, int epoll) {
  ssize_t n = send(s->fd, request.bytes + s->sent, request.len - s->sent, MSG_NOSIGNAL);
  if (n < 0) {
    if (errno == EAGAIN) return;
    connect_errors++;
    close_stream(s);
    return;
  }
  s->sent += (size_t)n;
  if (s->sent < request.len) return;
  struct epoll_event want = {.events = EPOLLIN, .data.ptr = s};
  if (epoll_ctl(epoll, EPOLL_CTL_MOD, s->fd, &want) < 0) die("epoll_ctl");
}

static void on_readable(struct stream *s) {
  static char buffer[65536];
  ssize_t n = recv(s->fd, buffer, sizeof buffer, 0);
  if (n < 0 && errno == EAGAIN) return;
  if (n > 0) on_bytes(s, buffer, (size_t)n, now_us());
  if (n <= 0 || s->phase == FINISHED || s->phase == BROKEN) close_stream(s);
}

static void run(struct stream *streams, int count, int port, int64_t ramp_us, int64_t timeout_us) {
  int epoll = epoll_create1(0), opened = 0;
  int64_t begin = now_us();
  struct epoll_event ready[256];
  while (opened < count || open_count > 0) {
    int64_t elapsed = now_us() - begin;
    if (elapsed > timeout_us) break;
    while (opened < count && elapsed >= ramp_us * opened / count)
      open_stream(&streams[opened++], epoll, port);
    int n = epoll_wait(epoll, ready, 256, opened < count ? 1 : 100);
    for (int i = 0; i < n; i++) {
      struct stream *s = ready[i].data.ptr;
      if (s->sent < request.len) on_writable(s, epoll);
      else on_readable(s);
    }
  }
}

int main(int argc, char **argv) {
  if (argc != 11) {
    fprintf(stderr, "usage: streams PORT REQUEST EVENT TAIL STREAMS EVENTS RAMP_MS LATE_MS TIMEOUT_S "
                    "strict|loose\n");
    return 2;
  }
  request = slurp(argv[2]);
  event = slurp(argv[3]);
  tail = slurp(argv[4]);
  int count = atoi(argv[5]);
  events = atoi(argv[6]);
  late_us = atoll(argv[8]) * 1000;
  strict = strcmp(argv[10], "strict") == 0;
  char *seq = strstr(event.bytes, SEQ), *stamp = strstr(event.bytes, STAMP);
  if (!seq || !stamp || stamp < seq || count < 1 || events < 1) {
    fprintf(stderr, "streams: the event file lacks %s or %s, or a count is below 1\n", SEQ, STAMP);
    return 2;
  }
  seq_at = (size_t)(seq - event.bytes);
  stamp_at = (size_t)(stamp - event.bytes);
  transit.count = calloc(MAX_US + 1, sizeof *transit.count);
  first.count = calloc(MAX_US + 1, sizeof *first.count);
  struct stream *streams = calloc((size_t)count, sizeof *streams);
  if (!transit.count || !first.count || !streams) die("calloc");
  int64_t begin = now_us();
  run(streams, count, atoi(argv[1]), atoll(argv[7]) * 1000, atoll(argv[9]) * 1000000);
  uint64_t expected = (uint64_t)count * (uint64_t)events;
  printf("{\"streams\":%d,\"clean\":%d,\"peak\":%d,\"events\":%llu,\"lost\":%llu,\"altered\":%llu,"
         "\"disordered\":%llu,\"late\":%llu,\"badStatus\":%llu,\"connectErrors\":%llu,"
         "\"ttftP50Us\":%lld,\"ttftP99Us\":%lld,\"transitP50Us\":%lld,\"transitP99Us\":%lld,"
         "\"transitMaxUs\":%lld,\"seconds\":%.3f}\n",
         count, clean_count, peak_active, (unsigned long long)good_events,
         (unsigned long long)(expected - good_events), (unsigned long long)altered,
         (unsigned long long)disordered, (unsigned long long)late, (unsigned long long)bad_status,
         (unsigned long long)connect_errors, (long long)percentile(&first, 0.5),
         (long long)percentile(&first, 0.99), (long long)percentile(&transit, 0.5),
         (long long)percentile(&transit, 0.99), (long long)transit.max,
         (double)(now_us() - begin) / 1e6);
  return 0;
}
