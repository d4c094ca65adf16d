// SPDX-License-Identifier: MIT OR GPL-2.0
/* The driver version that the stub plays, and what depends on it. */
#include <linux/kernel.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "nv-stub.h"

static char version_text[32];
static unsigned int version_branch;

/* Takes a version as `580.95.05`. -EINVAL if it is none. */
int nv_stub_version_init(const char *text)
{
	unsigned int minor;

	if (strscpy(version_text, text, sizeof(version_text)) < 0 ||
	    sscanf(text, "%u.%u", &version_branch, &minor) != 2) {
		pr_err("nvidia-stub: version=%s is not a driver version: say for example version=580.95.05\n",
		       text);
		return -EINVAL;
	}
	return 0;
}

const char *nv_stub_version(void)
{
	return version_text;
}

/* The driver's branch: 580 of 580.95.05. */
unsigned int nv_stub_branch(void)
{
	return version_branch;
}

/*
 * Offset of `status` in the argument of NV_ESC_RM_ALLOC, or 0 if the driver knows no argument of
 * `size` bytes. 525 added `flags` to NVOS64, 535 `paramsSize` to NVOS21 and NVOS64 (nvos.h of these
 * versions).
 */
u32 nv_stub_alloc_status_offset(u32 size)
{
	if (version_branch >= 535)
		return size == 32 ? 28 : size == 48 ? 40 : 0;
	if (version_branch >= 525)
		return size == 32 ? 24 : size == 40 ? 36 : 0;
	return size == 32 ? 24 : size == 40 ? 32 : 0;
}

/* Compares up to the first dot where `relaxed`, else in full. */
static bool versions_agree(const char *client, bool relaxed)
{
	size_t i;

	for (i = 0; i < sizeof(version_text); i++) {
		if (client[i] != version_text[i])
			return false;
		if (client[i] == '\0' || (relaxed && client[i] == '.'))
			return true;
	}
	return false;
}

/*
 * Answers NV_ESC_CHECK_VERSION_STR as RmPerformVersionCheck in osapi.c does; logs a mismatch in the
 * wording of the version, which names the client since 555.
 */
NV_STATUS nv_stub_version_check(struct nv_ioctl_rm_api_version *arg)
{
	char *client = arg->versionString;

	arg->reply = NV_RM_API_VERSION_REPLY_RECOGNIZED;
	if (arg->cmd == NV_RM_API_VERSION_CMD_QUERY) {
		strscpy_pad(client, version_text, sizeof(arg->versionString));
		return NV_OK;
	}
	if (versions_agree(client, arg->cmd == NV_RM_API_VERSION_CMD_RELAXED))
		return NV_OK;

	client[sizeof(arg->versionString) - 1] = '\0';
	if (version_branch >= 555)
		nv_printf("NVRM: API mismatch: the client '%s' (pid %u)\n"
			  "NVRM: has the version %s, but this kernel module has\n"
			  "NVRM: the version %s.  Please make sure that this\n"
			  "NVRM: kernel module and all NVIDIA driver components\n"
			  "NVRM: have the same version.\n",
			  current->comm, task_tgid_nr(current), client, version_text);
	else
		nv_printf("NVRM: API mismatch: the client has the version %s, but\n"
			  "NVRM: this kernel module has the version %s.  Please\n"
			  "NVRM: make sure that this kernel module and all NVIDIA driver\n"
			  "NVRM: components have the same version.\n",
			  client, version_text);
	strscpy_pad(client, version_text, sizeof(arg->versionString));
	return NV_ERR_GENERIC;
}
