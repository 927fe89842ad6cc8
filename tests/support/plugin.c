/* The smallest plugin execution provider: a device on each CPU, and it takes no node. The slots' indices come from the
   generated declarations, as -D options, so it needs no header. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef const char* (*text_fn)(void);
typedef void* (*status_fn)();

static void **api, **ep_api;
static void* factory[64];
static void* ep[64];

static const char* name(void) { return "TestExecutionProvider"; }
static const char* vendor(void) { return "Test Vendör"; }
static const char* version(void) { return "1.2.3"; }
static uint32_t vendor_id(void) { return 0xBEEF; }
static void* nothing(void) { return 0; }
static bool no(void) { return false; }

static void* pairs(const char* key, const char* value) {
  void* out = 0;
  ((void (*)(void**))api[API_CreateKeyValuePairs])(&out);
  ((void (*)(void*, const char*, const char*))api[API_AddKeyValuePair])(out, key, value);
  return out;
}

static void* devices(void* self, void** given, size_t count, void** out, size_t most, size_t* number) {
  *number = 0;
  for (size_t i = 0; i < count && *number < most; i++) {
    if (((int (*)(void*))api[API_HardwareDevice_Type])(given[i]) != 0) continue;
    void* metadata = pairs("kind", "tëst");
    void* options = pairs("level", "7");
    void* status = ((status_fn)ep_api[EPAPI_CreateEpDevice])(self, given[i], metadata, options, &out[*number]);
    ((void (*)(void*))api[API_ReleaseKeyValuePairs])(metadata);
    ((void (*)(void*))api[API_ReleaseKeyValuePairs])(options);
    if (status) return status;
    ++*number;
  }
  return 0;
}

static void* create(void* self, void** hardware, void** metadata, size_t count, void* options, void* logger, void** out) {
  *out = ep;
  return 0;
}

static void* no_object(void* self, void* a, void* b, void** out) { *out = 0; return 0; }
static void* no_transfer(void* self, void** out) { *out = 0; return 0; }

void* CreateEpFactories(const char* registered, void** base, void* logger, void** out, size_t most, size_t* number) {
  api = ((void** (*)(uint32_t))base[0])(VERSION);
  ep_api = ((void** (*)(void))api[API_GetEpApi])();
  *(uint32_t*)&factory[0] = *(uint32_t*)&ep[0] = VERSION;
  factory[FACTORY_GetName] = (void*)name;
  factory[FACTORY_GetVendor] = (void*)vendor;
  factory[FACTORY_GetVersion] = (void*)version;
  factory[FACTORY_GetVendorId] = (void*)vendor_id;
  factory[FACTORY_GetSupportedDevices] = (void*)devices;
  factory[FACTORY_CreateEp] = (void*)create;
  factory[FACTORY_ReleaseEp] = (void*)nothing;
  factory[FACTORY_CreateAllocator] = (void*)no_object;
  factory[FACTORY_ReleaseAllocator] = (void*)nothing;
  factory[FACTORY_CreateDataTransfer] = (void*)no_transfer;
  factory[FACTORY_IsStreamAware] = (void*)no;
  ep[EP_GetName] = (void*)name;
  ep[EP_GetCapability] = (void*)nothing;
  out[0] = factory;
  *number = 1;
  return 0;
}

void* ReleaseEpFactory(void* self) { return 0; }
