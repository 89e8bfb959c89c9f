/*
 * Lock: a kernel lock on a whole open file, for JavaScript (src/core/base/lock.ts).
 *
 * Open-file-description locks, by one system call. Uses Node-API and nothing else: no C library, no
 * libuv. So one binary runs with glibc and musl, in Node, Bun and Deno.
 */

#include <stdint.h>

/* The part of Node-API that is used; its ABI is stable. */
typedef struct napi_env__ *napi_env;
typedef struct napi_value__ *napi_value;
typedef struct napi_callback_info__ *napi_callback_info;
typedef napi_value (*napi_callback)(napi_env, napi_callback_info);
int napi_get_cb_info(napi_env, napi_callback_info, __SIZE_TYPE__ *, napi_value *, napi_value *,
                     void **);
int napi_get_value_int32(napi_env, napi_value, int32_t *);
int napi_create_int32(napi_env, int32_t, napi_value *);
int napi_create_function(napi_env, const char *, __SIZE_TYPE__, napi_callback, void *,
                         napi_value *);
int napi_set_named_property(napi_env, napi_value, const char *, napi_value);

#define F_OFD_SETLK 37
#define EINVAL 22

/* As the kernel defines it on 64-bit machines. */
struct flock {
  int16_t type; /* 0 shared, 1 exclusive, 2 none */
  int16_t whence;
  int64_t start;
  int64_t length; /* 0: to the end of the file, however long it becomes */
  int32_t pid;
};

/* The errno, negative, if it failed. */
static long fcntl(long descriptor, long command, void *argument) {
#if defined(__x86_64__)
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(72L), "D"(descriptor), "S"(command), "d"(argument)
                   : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long number __asm__("x8") = 25;
  register long x0 __asm__("x0") = descriptor;
  register long x1 __asm__("x1") = command;
  register void *x2 __asm__("x2") = argument;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(number), "r"(x1), "r"(x2) : "memory");
  return x0;
#else
#error "No system call for this machine"
#endif
}

/* setLock(descriptor, type): returns 0 or the errno, and never waits. */
static napi_value set_lock(napi_env env, napi_callback_info info) {
  __SIZE_TYPE__ count = 2;
  napi_value arguments[2] = {0, 0};
  napi_value result = 0;
  int32_t descriptor = -1, type = -1;
  long failure = -EINVAL;

  if (napi_get_cb_info(env, info, &count, arguments, 0, 0) == 0 &&
      napi_get_value_int32(env, arguments[0], &descriptor) == 0 &&
      napi_get_value_int32(env, arguments[1], &type) == 0) {
    struct flock whole = {.type = (int16_t)type};
    failure = fcntl(descriptor, F_OFD_SETLK, &whole);
  }
  napi_create_int32(env, (int32_t)-failure, &result);
  return result;
}

__attribute__((visibility("default"))) napi_value napi_register_module_v1(napi_env env,
                                                                           napi_value exports) {
  napi_value function = 0;
  if (napi_create_function(env, "setLock", 7, set_lock, 0, &function) == 0)
    napi_set_named_property(env, exports, "setLock", function);
  return exports;
}
