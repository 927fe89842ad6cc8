/*
 * What releases after the newest imported headers added, as far as it was found out by calling and reading their
 * libraries. Each entry says where it stands and since when; a \placeholder keeps the layout and cannot be called,
 * because its name or its parameters are not known for certain. An entry steps aside once imported headers hold it.
 */

typedef struct OrtEpContextConfig OrtEpContextConfig;

/** Reads one named value. The buffer comes from `allocator`; the callee allocates, the caller frees. \since 1.31 */
typedef OrtStatus*(ORT_API_CALL* OrtReadNamedBufferFunc)(void* state, const char* name, OrtAllocator* allocator,
                                                         void** buffer, size_t* data_size);

/** Stores one named value whole; `buffer` is the caller's again when the call returns. \since 1.31 */
typedef OrtStatus*(ORT_API_CALL* OrtWriteNamedBufferFunc)(void* state, const char* name, const void* buffer,
                                                          size_t buffer_num_bytes);

struct OrtApi {
  /** \index 425 \since 1.30 */
  OrtStatus*(ORT_API_CALL* KernelContext_GetPreallocatedOutput)(const OrtKernelContext* context, size_t output_index,
                                                                OrtValue** output);
  /** \index 426 \since 1.31 */
  OrtStatus*(ORT_API_CALL* SessionOptionsSetEpContextDataReadFunc)(OrtSessionOptions* options,
                                                                   OrtReadNamedBufferFunc read_func, void* state);
  /** \index 427 \since 1.31 \placeholder takes nothing, gives a table of 16 functions */
  void* placeholder_427;
  /** \index 428 \since 1.32 \placeholder memory capacities of an OrtEpDevice, by an enum that is not known */
  void* placeholder_428;
};

struct OrtEpApi {
  /** \index 74 \since 1.31 */
  OrtStatus*(ORT_API_CALL* SessionOptionsGetEpContextConfig)(const OrtSessionOptions* options,
                                                             OrtEpContextConfig** config);
  /** \index 75 \since 1.31 */
  void(ORT_API_CALL* ReleaseEpContextConfig)(OrtEpContextConfig* input);
  /** \index 76 \since 1.31 */
  OrtStatus*(ORT_API_CALL* EpContextConfigGetEpContextDataReadFunc)(const OrtEpContextConfig* config,
                                                                    OrtReadNamedBufferFunc* read_func, void** state);
  /** \index 77 \since 1.31 */
  OrtStatus*(ORT_API_CALL* EpContextConfigGetEpContextDataWriteFunc)(const OrtEpContextConfig* config,
                                                                     OrtWriteNamedBufferFunc* write_func,
                                                                     void** state);
};

struct OrtCompileApi {
  /** \index 16 \since 1.31 */
  OrtStatus*(ORT_API_CALL* ModelCompilationOptions_SetEpContextDataWriteFunc)(
      OrtModelCompilationOptions* model_compile_options, OrtWriteNamedBufferFunc write_func, void* state);
  /** \index 17 \since 1.31 \placeholder external initializers from a buffer; the parameters are not certain */
  void* placeholder_17;
  /** \index 18 \since 1.31 \placeholder external initializers' alignment; the parameters are not certain */
  void* placeholder_18;
  /** \index 19 \since 1.32 \placeholder weightless mode; the parameters are not certain */
  void* placeholder_19;
};

struct OrtEp {
  /** READ is bit 0, WRITE is bit 1; an unknown bit is an error. \index 26 \since 1.31 */
  OrtStatus*(ORT_API_CALL* GetEpContextDataCallbackSupport)(const OrtEp* this_ptr, uint32_t* flags);
};

struct OrtEpFactory {
  /** \index 21 \since 1.32 \placeholder a device's memory capacity; the parameters are not certain. Leave it NULL. */
  void* placeholder_21;
};
