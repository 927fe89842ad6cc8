/*
 * A plugin execution provider in C, for the tests: it multiplies floats. Built twice:
 *
 *   -DASK=N            the API version that it asks for (default: the headers')
 *   -DWITH_CALLBACKS   finds the EP cache functions by name, keeps a plan through them, and says what it supports
 *   -DWRITE_AT_END     with that: writes another value when its session is released
 *
 * Without WITH_CALLBACKS it knows nothing of any cache, and must not notice that a host is there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "onnxruntime_c_api.h"

#ifndef ASK
#define ASK ORT_API_VERSION
#endif

#ifdef WITH_CALLBACKS
typedef OrtStatus*(ORT_API_CALL* ReadFn)(void* state, const char* name, OrtAllocator* allocator, void** buffer,
                                         size_t* size);
typedef OrtStatus*(ORT_API_CALL* WriteFn)(void* state, const char* name, const void* buffer, size_t size);
typedef OrtStatus*(ORT_API_CALL* GetFunctionsFn)(const OrtSessionOptions* options, ReadFn* read, WriteFn* write,
                                                 void** state);
#include "ortcache_host.h"
#define PLAN "C-MUL-PLAN 1\n"
#define KEY "c-mul.plan"
#endif

static const OrtApi* api;
static const OrtEpApi* ep_api;

typedef struct {
  OrtEp ep;
#ifdef WITH_CALLBACKS
  ReadFn read;
  WriteFn write;
  void* state;
  const OrtLogger* logger;
#endif
} Ep;

/* The kernel: Y = A * B, of one shape or with one operand of a single element. */

static OrtStatus* ORT_API_CALL create_state(OrtNodeComputeInfo* info, OrtNodeComputeContext* context, void** state) {
  (void)info;
  (void)context;
  *state = NULL;
  return NULL;
}

static void ORT_API_CALL release_state(OrtNodeComputeInfo* info, void* state) {
  (void)info;
  (void)state;
}

static OrtStatus* operand(OrtKernelContext* context, size_t index, const float** data, int64_t* shape, size_t* rank,
                          size_t* count) {
  const OrtValue* value;
  OrtTensorTypeAndShapeInfo* info;
  const void* pointer;
  OrtStatus* status = api->KernelContext_GetInput(context, index, &value);
  if (status == NULL) status = api->GetTensorTypeAndShape(value, &info);
  if (status != NULL) return status;
  status = api->GetDimensionsCount(info, rank);
  if (status == NULL && *rank > 8) status = api->CreateStatus(ORT_INVALID_ARGUMENT, "more than 8 dimensions");
  if (status == NULL) status = api->GetDimensions(info, shape, *rank);
  if (status == NULL) status = api->GetTensorShapeElementCount(info, count);
  api->ReleaseTensorTypeAndShapeInfo(info);
  if (status == NULL) status = api->GetTensorData(value, &pointer);
  if (status == NULL) *data = (const float*)pointer;
  return status;
}

static OrtStatus* ORT_API_CALL compute(OrtNodeComputeInfo* info, void* state, OrtKernelContext* context) {
  const float *a, *b;
  int64_t shape_a[8], shape_b[8];
  size_t rank_a, rank_b, count_a, count_b;
  OrtValue* output;
  void* data;
  (void)info;
  (void)state;
  OrtStatus* status = operand(context, 0, &a, shape_a, &rank_a, &count_a);
  if (status == NULL) status = operand(context, 1, &b, shape_b, &rank_b, &count_b);
  if (status != NULL) return status;
  if (count_a != count_b && count_a != 1 && count_b != 1)
    return api->CreateStatus(ORT_NOT_IMPLEMENTED, "only one shape, or a single element");
  int wide_b = count_a == 1;
  status = api->KernelContext_GetOutput(context, 0, wide_b ? shape_b : shape_a, wide_b ? rank_b : rank_a, &output);
  if (status == NULL) status = api->GetTensorMutableData(output, &data);
  if (status != NULL) return status;
  size_t count = wide_b ? count_b : count_a;
  for (size_t i = 0; i < count; i++)
    ((float*)data)[i] = a[count_a == 1 ? 0 : i] * b[count_b == 1 ? 0 : i];
  return NULL;
}

static OrtNodeComputeInfo kernel = {0, create_state, compute, release_state};

/* The provider. */

static const char* ORT_API_CALL ep_name(const OrtEp* ep) {
  (void)ep;
  return "CMulExecutionProvider";
}

static OrtStatus* ORT_API_CALL get_capability(OrtEp* ep, const OrtGraph* graph, OrtEpGraphSupportInfo* support) {
  size_t count;
  (void)ep;
  OrtStatus* status = api->Graph_GetNumNodes(graph, &count);
  if (status != NULL) return status;
  const OrtNode** nodes = (const OrtNode**)calloc(count + 1, sizeof(*nodes));
  status = api->Graph_GetNodes(graph, nodes, count);
  for (size_t i = 0; status == NULL && i < count; i++) {
    const char* operator_type;
    OrtNodeFusionOptions options = {0};
    status = api->Node_GetOperatorType(nodes[i], &operator_type);
    if (status != NULL || strcmp(operator_type, "Mul") != 0) continue;
    options.ort_version_supported = ASK;
    status = ep_api->EpGraphSupportInfo_AddNodesToFuse(support, &nodes[i], 1, &options);
  }
  free(nodes);
  return status;
}

#ifdef WITH_CALLBACKS
static void warn(Ep* ep, const char* what, OrtStatus* status) {
  char text[512];
  snprintf(text, sizeof(text), "CMul: %s: %s", what, api->GetErrorMessage(status));
  api->ReleaseStatus(status);
  OrtStatus* ignored = api->Logger_LogMessage(ep->logger, ORT_LOGGING_LEVEL_WARNING, text, ORT_FILE, __LINE__, "CMul");
  if (ignored != NULL) api->ReleaseStatus(ignored);
}

/* Is the plan in the cache? Everything that is wrong with it is a miss. */
static int read_plan(Ep* ep) {
  OrtAllocator* allocator;
  void* buffer = NULL;
  size_t size = 0;
  if (ep->read == NULL) return 0;
  OrtStatus* status = api->GetAllocatorWithDefaultOptions(&allocator);
  if (status == NULL) status = ep->read(ep->state, KEY, allocator, &buffer, &size);
  if (status != NULL) {
    warn(ep, "the read failed", status);
    return 0;
  }
  int hit = buffer != NULL && size == strlen(PLAN) && memcmp(buffer, PLAN, size) == 0;
  if (buffer != NULL) allocator->Free(allocator, buffer);
  return hit;
}

static void keep_plan(Ep* ep) {
  if (read_plan(ep) || ep->write == NULL) return;
  OrtStatus* status = ep->write(ep->state, KEY, PLAN, strlen(PLAN));
  if (status != NULL) warn(ep, "the write failed", status);
}
#endif

static OrtStatus* ORT_API_CALL compile(OrtEp* ep, const OrtGraph** graphs, const OrtNode** nodes, size_t count,
                                       OrtNodeComputeInfo** infos, OrtNode** context_nodes) {
  (void)graphs;
  (void)nodes;
  (void)context_nodes;
  (void)ep;
#ifdef WITH_CALLBACKS
  keep_plan((Ep*)ep);
#endif
  kernel.ort_version_supported = ASK;
  for (size_t i = 0; i < count; i++) infos[i] = &kernel;
  return NULL;
}

static void ORT_API_CALL release_infos(OrtEp* ep, OrtNodeComputeInfo** infos, size_t count) {
  (void)ep;
  (void)infos;
  (void)count;
}

/* The factory. */

static const char* ORT_API_CALL factory_name(const OrtEpFactory* factory) {
  (void)factory;
  return "CMulExecutionProvider";
}

static const char* ORT_API_CALL factory_vendor(const OrtEpFactory* factory) {
  (void)factory;
  return "ortcache tests";
}

static const char* ORT_API_CALL factory_version(const OrtEpFactory* factory) {
  (void)factory;
  return "1.0.0";
}

static uint32_t ORT_API_CALL factory_vendor_id(const OrtEpFactory* factory) {
  (void)factory;
  return 0xC0DE;
}

static OrtStatus* ORT_API_CALL supported_devices(OrtEpFactory* factory, const OrtHardwareDevice* const* devices,
                                                 size_t count, OrtEpDevice** ep_devices, size_t most, size_t* found) {
  *found = 0;
  for (size_t i = 0; i < count && *found < most; i++) {
    if (api->HardwareDevice_Type(devices[i]) != OrtHardwareDeviceType_CPU) continue;
    OrtStatus* status = ep_api->CreateEpDevice(factory, devices[i], NULL, NULL, &ep_devices[*found]);
    if (status != NULL) return status;
    (*found)++;
  }
  return NULL;
}

static OrtStatus* ORT_API_CALL create_ep(OrtEpFactory* factory, const OrtHardwareDevice* const* devices,
                                         const OrtKeyValuePairs* const* metadata, size_t count,
                                         const OrtSessionOptions* options, const OrtLogger* logger, OrtEp** out) {
  (void)factory;
  (void)devices;
  (void)metadata;
  (void)count;
  (void)options;
  (void)logger;
  Ep* ep = (Ep*)calloc(1, sizeof(*ep));
  ep->ep.ort_version_supported = ASK;
  ep->ep.GetName = ep_name;
  ep->ep.GetCapability = get_capability;
  ep->ep.Compile = compile;
  ep->ep.ReleaseNodeComputeInfos = release_infos;
#ifdef WITH_CALLBACKS
  ep->logger = logger;
  GetFunctionsFn get = (GetFunctionsFn)api->GetExperimentalFunction("OrtEpApi_SessionOptionsGetEpCacheDataFuncs");
  OrtcacheReportSupportFn report = (OrtcacheReportSupportFn)api->GetExperimentalFunction(ORTCACHE_REPORT_SUPPORT_NAME);
  OrtStatus* status = get == NULL ? NULL : get(options, &ep->read, &ep->write, &ep->state);
  if (status == NULL && report != NULL) status = report(options, "CMulExecutionProvider", 3);
  if (status != NULL) {
    free(ep);
    return status;
  }
#endif
  *out = &ep->ep;
  return NULL;
}

static void ORT_API_CALL release_ep(OrtEpFactory* factory, OrtEp* ep) {
  (void)factory;
#ifdef WRITE_AT_END
  Ep* self = (Ep*)ep;
  OrtStatus* status = self->write == NULL ? NULL : self->write(self->state, "c-mul.end", PLAN, strlen(PLAN));
  if (status != NULL) api->ReleaseStatus(status); /* the session's logger may be gone */
#endif
  free(ep);
}

static OrtStatus* ORT_API_CALL create_allocator(OrtEpFactory* factory, const OrtMemoryInfo* memory,
                                                const OrtKeyValuePairs* options, OrtAllocator** out) {
  (void)factory;
  (void)memory;
  (void)options;
  *out = NULL;
  return NULL;
}

static void ORT_API_CALL release_allocator(OrtEpFactory* factory, OrtAllocator* allocator) {
  (void)factory;
  (void)allocator;
}

static OrtStatus* ORT_API_CALL create_data_transfer(OrtEpFactory* factory, OrtDataTransferImpl** out) {
  (void)factory;
  *out = NULL;
  return NULL;
}

static bool ORT_API_CALL is_stream_aware(const OrtEpFactory* factory) {
  (void)factory;
  return false;
}

#define EXPORTED __attribute__((visibility("default")))

EXPORTED OrtStatus* CreateEpFactories(const char* name, const OrtApiBase* base, const OrtLogger* logger,
                                      OrtEpFactory** factories, size_t most, size_t* count) {
  static OrtEpFactory factory;
  (void)name;
  (void)logger;
  (void)most;
  api = base->GetApi(ASK);
  if (api == NULL) {
    /* There is no table to make a status with: no factory is the only thing to say. */
    *count = 0;
    return NULL;
  }
  ep_api = api->GetEpApi();
  memset(&factory, 0, sizeof(factory));
  factory.ort_version_supported = ASK;
  factory.GetName = factory_name;
  factory.GetVendor = factory_vendor;
  factory.GetSupportedDevices = supported_devices;
  factory.CreateEp = create_ep;
  factory.ReleaseEp = release_ep;
  factory.GetVendorId = factory_vendor_id;
  factory.GetVersion = factory_version;
  factory.CreateAllocator = create_allocator;
  factory.ReleaseAllocator = release_allocator;
  factory.CreateDataTransfer = create_data_transfer;
  factory.IsStreamAware = is_stream_aware;
  factories[0] = &factory;
  *count = 1;
  return NULL;
}

EXPORTED OrtStatus* ReleaseEpFactory(OrtEpFactory* factory) {
  (void)factory;
  return NULL;
}

/* For the tests: a look at the table that this plugin was given. */
EXPORTED const void* GivenApi(void) { return api; }
EXPORTED unsigned AskedVersion(void) { return ASK; }
