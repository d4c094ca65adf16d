// SPDX-License-Identifier: MIT OR GPL-2.0
/* Accounts for GPU memory, so that it can run out. */
#include <linux/slab.h>

#include "nv-stub.h"

/* Memory that was given out through an open file. */
struct nv_memory {
	struct list_head link;
	u32 client, handle;
	u64 bytes;
};

static bool take(struct nv_gpu *gpu, u64 bytes)
{
	bool fits;

	spin_lock(&gpu->vram_lock);
	fits = bytes <= gpu->vram_total - gpu->vram_used;
	if (fits)
		gpu->vram_used += bytes;
	spin_unlock(&gpu->vram_lock);
	return fits;
}

static void drop(struct nv_file *file, struct nv_memory *memory)
{
	struct nv_gpu *gpu = file->node->gpu;

	spin_lock(&gpu->vram_lock);
	gpu->vram_used -= memory->bytes;
	spin_unlock(&gpu->vram_lock);
	list_del(&memory->link);
	kfree(memory);
}

/* NV_ERR_NO_MEMORY when the GPU is full, NV_ERR_INSERT_DUPLICATE_NAME for a handle in use. */
NV_STATUS nv_vram_alloc(struct nv_file *file, u32 client, u32 handle, u64 bytes)
{
	struct nv_memory *memory, *other;
	NV_STATUS status = NV_OK;

	memory = kmalloc(sizeof(*memory), GFP_KERNEL);
	if (!memory)
		return NV_ERR_NO_MEMORY;
	memory->client = client;
	memory->handle = handle;
	memory->bytes = bytes;

	mutex_lock(&file->lock);
	list_for_each_entry(other, &file->memory, link)
		if (other->client == client && other->handle == handle)
			status = NV_ERR_INSERT_DUPLICATE_NAME;
	if (status == NV_OK && !take(file->node->gpu, bytes))
		status = NV_ERR_NO_MEMORY;
	if (status == NV_OK)
		list_add(&memory->link, &file->memory);
	mutex_unlock(&file->lock);

	if (status != NV_OK)
		kfree(memory);
	return status;
}

/* Gives back what `handle` names; all of the client where it names the client itself. */
void nv_vram_free(struct nv_file *file, u32 client, u32 handle)
{
	struct nv_memory *memory, *next;

	mutex_lock(&file->lock);
	list_for_each_entry_safe(memory, next, &file->memory, link)
		if (memory->client == client && (memory->handle == handle || client == handle))
			drop(file, memory);
	mutex_unlock(&file->lock);
}

/* Gives back all of a file that is being closed. */
void nv_vram_release(struct nv_file *file)
{
	struct nv_memory *memory, *next;

	mutex_lock(&file->lock);
	list_for_each_entry_safe(memory, next, &file->memory, link)
		drop(file, memory);
	mutex_unlock(&file->lock);
}
