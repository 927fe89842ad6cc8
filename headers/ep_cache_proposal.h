/*
 * The proposal for EP caches that an application keeps: callbacks in place of file-system paths. It is in no release.
 * Every entry is \proposed: it has no since-version and is never called by its index on a real library. An entry
 * steps aside once imported headers hold it, with upstream's own index and since-version.
 *
 * SessionGetEpCacheDataCallbackSupport's signature is this project's until upstream publishes one: change it here.
 */

/** What an EP does through the callbacks. */
typedef enum OrtEpCacheDataCallbackSupport {
  OrtEpCacheDataCallbackSupport_NONE = 0,
  OrtEpCacheDataCallbackSupport_READ = 1 << 0,
  OrtEpCacheDataCallbackSupport_WRITE = 1 << 1,
} OrtEpCacheDataCallbackSupport;

struct OrtApi {
  /** Each call replaces the whole tuple; a NULL function clears that direction. \proposed */
  OrtStatus*(ORT_API_CALL* SessionOptionsSetEpCacheDataFuncs)(OrtSessionOptions* options,
                                                              OrtReadNamedBufferFunc read_func,
                                                              OrtWriteNamedBufferFunc write_func, void* state);
  /** A NULL ep_name asks for the union over the session's EPs. \proposed */
  OrtStatus*(ORT_API_CALL* SessionGetEpCacheDataCallbackSupport)(const OrtSession* session, const char* ep_name,
                                                                 uint32_t* flags);
};

struct OrtEpApi {
  /** The tuple of the options that a session was made from; all NULL where none was set. \proposed */
  OrtStatus*(ORT_API_CALL* SessionOptionsGetEpCacheDataFuncs)(const OrtSessionOptions* options,
                                                              OrtReadNamedBufferFunc* read_func,
                                                              OrtWriteNamedBufferFunc* write_func, void** state);
};

struct OrtEp {
  /** Optional: bits of OrtEpCacheDataCallbackSupport; absent means none. \proposed */
  OrtStatus*(ORT_API_CALL* GetEpCacheDataCallbackSupport)(const OrtEp* this_ptr, uint32_t* flags);
};
