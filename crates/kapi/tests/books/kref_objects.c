/* Objects that count who holds them, found in a hash table; the last one who leaves frees them. */
#include <linux/completion.h>
#include <linux/hashtable.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/kref.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/slab.h>

struct session {
	struct kref refcount;
	struct hlist_node hash;
	u32 id;
	refcount_t opens;
};

static DEFINE_HASHTABLE(sessions, 4);
static DEFINE_MUTEX(sessions_lock);
static DECLARE_COMPLETION(thread_done);

static void session_release(struct kref *ref)
{
	struct session *s = container_of(ref, struct session, refcount);

	hash_del(&s->hash);
	pr_info("session %u goes\n", s->id);
	kfree(s);
	mutex_unlock(&sessions_lock);
}

static struct session *session_get(u32 id)
{
	struct session *s;

	mutex_lock(&sessions_lock);
	hash_for_each_possible(sessions, s, hash, id)
		if (s->id == id) {
			if (!kref_get_unless_zero(&s->refcount))
				break;
			mutex_unlock(&sessions_lock);
			return s;
		}
	mutex_unlock(&sessions_lock);
	return NULL;
}

static void session_put(struct session *s)
{
	kref_put_mutex(&s->refcount, session_release, &sessions_lock);
}

static int session_new(u32 id)
{
	struct session *s = kzalloc(sizeof(*s), GFP_KERNEL);

	if (!s)
		return -ENOMEM;
	kref_init(&s->refcount);
	refcount_set(&s->opens, 1);
	s->id = id;
	mutex_lock(&sessions_lock);
	hash_add(sessions, &s->hash, id);
	mutex_unlock(&sessions_lock);
	return 0;
}

static int use_session(void *data)
{
	struct session *s = data;

	refcount_inc(&s->opens);
	pr_info("thread has session %u, %u references\n", s->id, kref_read(&s->refcount));
	session_put(s);
	complete(&thread_done);
	return 0;
}

static int __init kref_start(void)
{
	struct task_struct *thread;
	struct session *s;
	u32 id;
	int bucket, count = 0;

	for (id = 1; id <= 20; id++)
		if (session_new(id))
			return -ENOMEM;
	hash_for_each(sessions, bucket, s, hash)
		count++;
	s = session_get(7);
	thread = kthread_create(use_session, s, "user");
	if (IS_ERR(thread))
		return PTR_ERR(thread);
	pr_info("%d sessions, 7 has %u, none %d\n", count, kref_read(&s->refcount), session_get(99) == NULL);
	wake_up_process(thread);
	wait_for_completion(&thread_done);
	return 0;
}

static void __exit kref_end(void)
{
	struct session *s = session_get(7);

	if (s) {
		pr_info("opens %u\n", refcount_read(&s->opens));
		session_put(s);
	}
	for (; !hash_empty(sessions);) {
		u32 id;

		for (id = 1; id <= 20; id++) {
			s = session_get(id);
			if (s) {
				kref_put(&s->refcount, (void *)kfree);
				session_put(s);
			}
		}
	}
}

module_init(kref_start);
module_exit(kref_end);
MODULE_LICENSE("GPL");
