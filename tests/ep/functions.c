/* EP cache functions in C, as an application that knows nothing of Python has them: eight values in static memory. */

#include <stdlib.h>
#include <string.h>

typedef struct OrtStatus OrtStatus;
typedef struct OrtAllocator OrtAllocator;

/* The beginning of upstream's struct. */
struct OrtAllocator {
  unsigned version;
  void* (*Alloc)(OrtAllocator* self, size_t size);
  void (*Free)(OrtAllocator* self, void* p);
};

typedef struct {
  char keys[8][201];
  void* values[8];
  size_t sizes[8];
  int count;
  int reads;
  int writes;
} Store;

static int find(const Store* store, const char* name) {
  for (int i = 0; i < store->count; ++i)
    if (strcmp(store->keys[i], name) == 0) return i;
  return -1;
}

OrtStatus* read_value(void* state, const char* name, OrtAllocator* allocator, void** buffer, size_t* size) {
  Store* store = state;
  int i = find(store, name);
  ++store->reads;
  *buffer = NULL;
  *size = 0;
  if (i >= 0) {
    *buffer = allocator->Alloc(allocator, store->sizes[i]);
    *size = store->sizes[i];
    memcpy(*buffer, store->values[i], store->sizes[i]);
  }
  return NULL;
}

OrtStatus* write_value(void* state, const char* name, const void* data, size_t size) {
  Store* store = state;
  int i = find(store, name);
  ++store->writes;
  if (i < 0) {
    if (store->count == 8) return NULL;
    i = store->count++;
    strncpy(store->keys[i], name, 200);
  }
  free(store->values[i]);
  store->values[i] = malloc(size);
  store->sizes[i] = size;
  memcpy(store->values[i], data, size);
  return NULL;
}

void* new_store(void) { return calloc(1, sizeof(Store)); }

void store_facts(const void* state, int* count, int* reads, int* writes) {
  const Store* store = state;
  *count = store->count;
  *reads = store->reads;
  *writes = store->writes;
}
