// SPDX-License-Identifier: MIT OR GPL-2.0
/* The functions that the kernel calls for /dev/nvidiaN and /dev/nvidiactl. */
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "nv-stub.h"

/* How a call was answered, for the counters. */
struct answer {
	enum nv_stub_op op;
	u32 code, status;
};

static long check_version(void *data, u32 size, struct answer *answer)
{
	if (size != sizeof(struct nv_ioctl_rm_api_version))
		return -EINVAL;
	nv_stub_pause(NV_ESC_CHECK_VERSION_STR);
	answer->op = NV_STUB_OP_CHECK_VERSION_STR;
	answer->status = nv_stub_version_check(data);
	return answer->status == NV_OK ? 0 : -EINVAL;
}

static long card_info(void *data, u32 size, struct answer *answer)
{
	size_t count = size / sizeof(struct nv_ioctl_card_info);

	if (count < nv_gpu_count())
		return -EINVAL;
	nv_stub_pause(NV_ESC_CARD_INFO);
	nv_card_info(data, count);
	answer->op = NV_STUB_OP_CARD_INFO;
	return 0;
}

/* The size of a memory block may be said once, and repeated. */
static long sys_params(void *data, u32 size, struct answer *answer)
{
	static u64 memblock_size;
	struct nv_ioctl_sys_params *arg = data;
	u64 known;

	if (size != sizeof(*arg))
		return -EINVAL;
	nv_stub_pause(NV_ESC_SYS_PARAMS);
	known = cmpxchg(&memblock_size, 0, arg->memblock_size);
	if (known && known != arg->memblock_size)
		return -EBUSY;
	answer->op = NV_STUB_OP_SYS_PARAMS;
	return 0;
}

/* Goes to the resource manager, and reads from the argument what came of it. */
static __always_inline long resource_manager(struct nv_file *file, u32 cmd, void *data, u32 size,
					     struct answer *answer)
{
	if (rm_ioctl(file, file->node, file, cmd, data, size) != NV_OK)
		return -EINVAL;
	switch (cmd) {
	case NV_ESC_RM_CONTROL:
		answer->op = NV_STUB_OP_RM_CONTROL;
		answer->code = ((struct nvos54 *)data)->cmd;
		answer->status = ((struct nvos54 *)data)->status;
		break;
	case NV_ESC_RM_ALLOC:
		answer->op = NV_STUB_OP_RM_ALLOC;
		answer->code = ((struct nvos_alloc *)data)->hClass;
		memcpy(&answer->status, data + nv_stub_alloc_status_offset(size),
		       sizeof(answer->status));
		break;
	case NV_ESC_RM_FREE:
		answer->op = NV_STUB_OP_RM_FREE;
		answer->status = ((struct nvos00 *)data)->status;
		break;
	}
	return 0;
}

static __always_inline long dispatch(struct nv_file *file, u32 cmd, void *data, u32 size,
				     struct answer *answer)
{
	switch (cmd) {
	case NV_ESC_CARD_INFO:
		return card_info(data, size, answer);
	case NV_ESC_CHECK_VERSION_STR:
		return check_version(data, size, answer);
	case NV_ESC_SYS_PARAMS:
		return sys_params(data, size, answer);
	default:
		return resource_manager(file, cmd, data, size, answer);
	}
}

/* Copies the argument in, has the call answered, and copies it out, also after an error. */
static __always_inline long transact(struct nv_file *file, const struct nv_ioctl_xfer *call,
				     struct answer *answer)
{
	void __user *ptr = u64_to_user_ptr(call->ptr);
	void *data = kmalloc(call->size, GFP_KERNEL);
	long ret;

	if (!data)
		return -ENOMEM;
	if (copy_from_user(data, ptr, call->size)) {
		ret = -EFAULT;
	} else {
		ret = dispatch(file, call->cmd, data, call->size, answer);
		if (copy_to_user(ptr, data, call->size)) {
			answer->op = NV_STUB_OP_ERRNO;
			ret = -EFAULT;
		}
	}
	kfree(data);
	return ret;
}

/* Finds number, size and argument of a call, which may be wrapped in NV_ESC_IOCTL_XFER_CMD. */
static long unwrap(unsigned int request, unsigned long arg, struct nv_ioctl_xfer *call)
{
	*call = (struct nv_ioctl_xfer){
		.cmd = _IOC_NR(request), .size = _IOC_SIZE(request), .ptr = arg,
	};
	if (_IOC_TYPE(request) != NV_IOCTL_MAGIC)
		return -EINVAL;
	if (call->cmd != NV_ESC_IOCTL_XFER_CMD)
		return 0;
	if (call->size != sizeof(*call))
		return -EINVAL;
	if (copy_from_user(call, (void __user *)arg, sizeof(*call)))
		return -EFAULT;
	return call->size > NV_ABSOLUTE_MAX_IOCTL_SIZE ? -EINVAL : 0;
}

/*
 * Always inlined, with all that leads to rm_ioctl: the driver has no function of its own there either,
 * rm_ioctl's caller is the entry.
 */
static __always_inline long stub_ioctl(struct file *filp, unsigned int request, unsigned long arg)
{
	struct nv_file *file = filp->private_data;
	struct answer answer = { .op = NV_STUB_OP_ERRNO };
	struct nv_ioctl_xfer call;
	long ret = unwrap(request, arg, &call);

	if (!ret)
		ret = transact(file, &call, &answer);
	if (answer.op == NV_STUB_OP_ERRNO)
		nv_stub_count(file->node->minor, NV_STUB_OP_ERRNO, call.cmd, -ret);
	else
		nv_stub_count(file->node->minor, answer.op, answer.code, answer.status);
	return ret;
}

static __always_inline int stub_open(struct inode *inode, struct file *filp)
{
	struct nv_node *node = nv_node_get(iminor(inode));
	struct nv_file *file;

	if (!node)
		return -ENODEV;
	file = kzalloc(sizeof(*file), GFP_KERNEL);
	if (!file)
		return -ENOMEM;
	file->node = node;
	mutex_init(&file->lock);
	INIT_LIST_HEAD(&file->memory);
	filp->private_data = file;
	nv_stub_count(node->minor, NV_STUB_OP_OPEN, 0, NV_OK);
	return 0;
}

static __always_inline int stub_close(struct inode *inode, struct file *filp)
{
	struct nv_file *file = filp->private_data;

	nv_vram_release(file);
	nv_stub_count(file->node->minor, NV_STUB_OP_CLOSE, 0, NV_OK);
	kfree(file);
	return 0;
}

/* The names under which a tracer finds them: as in 515 to 535 (nv-frontend.c), else as since 545. */
#ifdef NVIDIA_STUB_FRONTEND
#define LINKAGE
#define ENTRY(name)	nvidia_frontend_##name
long nvidia_frontend_unlocked_ioctl(struct file *filp, unsigned int request, unsigned long arg);
int nvidia_frontend_open(struct inode *inode, struct file *filp);
int nvidia_frontend_close(struct inode *inode, struct file *filp);
int nvidia_frontend_mmap(struct file *filp, struct vm_area_struct *vma);
#else
#define LINKAGE		static
#define ENTRY(name)	nvidia_##name
#endif

NV_STUB_TRACED LINKAGE
long ENTRY(unlocked_ioctl)(struct file *filp, unsigned int request, unsigned long arg)
{
	return stub_ioctl(filp, request, arg);
}

NV_STUB_TRACED LINKAGE
int ENTRY(open)(struct inode *inode, struct file *filp)
{
	return stub_open(inode, filp);
}

NV_STUB_TRACED LINKAGE
int ENTRY(close)(struct inode *inode, struct file *filp)
{
	return stub_close(inode, filp);
}

/* There is no memory behind the stub's GPUs. */
NV_STUB_TRACED LINKAGE
int ENTRY(mmap)(struct file *filp, struct vm_area_struct *vma)
{
	return -EINVAL;
}

const struct file_operations nv_stub_fops = {
	.owner = THIS_MODULE,
	.open = ENTRY(open),
	.release = ENTRY(close),
	.mmap = ENTRY(mmap),
	.unlocked_ioctl = ENTRY(unlocked_ioctl),
	.compat_ioctl = ENTRY(unlocked_ioctl),
};
