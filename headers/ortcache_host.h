/*
 * What ortcache's host adds for a plugin execution provider that is compiled. The function is found by its name:
 *
 *   OrtcacheReportSupportFn report =
 *       (OrtcacheReportSupportFn)api->GetExperimentalFunction(ORTCACHE_REPORT_SUPPORT_NAME);
 *
 * NULL means that no host is there, and so that no callbacks will be. It is in no table and not part of the proposal.
 */
#pragma once

#define ORTCACHE_REPORT_SUPPORT_NAME "Ortcache_ReportEpCacheDataCallbackSupport"

/** Says which directions an EP supports (READ = 1, WRITE = 2). Call it from CreateEp, with the options given there. */
typedef OrtStatus*(ORT_API_CALL* OrtcacheReportSupportFn)(const OrtSessionOptions* session_options,
                                                          const char* ep_name, uint32_t flags);
