// Runs a program for macOS on amd64, one that Go's linker made, on Linux: it maps the file, and gives it functions of its own in
// place of libSystem's. They take macOS' numbers and structures, and return them. So the Go code for macOS is run, but no system
// other than Linux. Signals and what most programs do not need are left out: a function that is not here ends the program.
//
//	macos PROGRAM [ARGS]
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void __attribute__((noreturn)) die(const char *what, const char *name) {
	dprintf(2, "macos: %s: %s\n", name, what);
	_exit(125);
}

// Numbers that differ, as pairs: macOS', Linux'.
struct pair { long mac, linux_; };

static const struct pair errors[] = {
	{35, EAGAIN}, {60, ETIMEDOUT}, {62, ELOOP}, {63, ENAMETOOLONG}, {66, ENOTEMPTY}, {69, EDQUOT}, {78, ENOSYS}, {0, 0},
};
static const struct pair opens[] = {
	{0x4, O_NONBLOCK}, {0x8, O_APPEND}, {0x100, O_NOFOLLOW}, {0x200, O_CREAT}, {0x400, O_TRUNC}, {0x800, O_EXCL},
	{0x20000, O_NOCTTY}, {0x100000, O_DIRECTORY}, {0x1000000, O_CLOEXEC}, {0, 0},
};
static const struct pair maps[] = {{0x1, MAP_SHARED}, {0x2, MAP_PRIVATE}, {0x10, MAP_FIXED}, {0x40, MAP_NORESERVE}, {0x1000, MAP_ANONYMOUS}, {0, 0}};

// to_linux returns flags of macOS as Linux has them. Those in the mask are the same.
static long to_linux(const struct pair *pairs, long flags, long same, const char *name) {
	long out = flags & same;
	flags &= ~same;
	for (; pairs->mac; pairs++)
		if (flags & pairs->mac) {
			out |= pairs->linux_;
			flags &= ~pairs->mac;
		}
	if (flags)
		die("flags that macOS does not have", name);
	return out;
}

static __thread int mac_errno;

// result returns what a function of macOS returns where one of Linux returned r.
static long result(long r) {
	if (r == -1) {
		const struct pair *p = errors;
		while (p->mac && p->linux_ != errno)
			p++;
		mac_errno = p->mac ? p->mac : errno;
	}
	return r;
}

static int *mac_error(void) { return &mac_errno; }

static int directory(int dir) { return dir == -2 ? AT_FDCWD : dir; }
static long mac_openat(int dir, const char *name, long flags, int mode) {
	return result(openat(directory(dir), name, to_linux(opens, flags & 0xffffffff, O_ACCMODE, "openat"), mode));
}
static long mac_open(const char *name, long flags, int mode) { return mac_openat(-2, name, flags, mode); }
static long mac_mkdirat(int dir, const char *name, int mode) { return result(mkdirat(directory(dir), name, mode)); }
static long mac_readlinkat(int dir, const char *name, char *b, size_t n) { return result(readlinkat(directory(dir), name, b, n)); }
static long mac_close(int fd) { return result(close(fd)); }
static long mac_read(int fd, void *b, size_t n) { return result(read(fd, b, n)); }
static long mac_write(int fd, const void *b, size_t n) { return result(write(fd, b, n)); }
static long mac_pwrite(int fd, const void *b, size_t n, off_t at) { return result(pwrite(fd, b, n, at)); }
static long mac_pread(int fd, void *b, size_t n, off_t at) { return result(pread(fd, b, n, at)); }
static long mac_lseek(int fd, off_t at, int how) { return result(lseek(fd, at, how)); }
static long mac_getcwd(char *b, size_t n) { return getcwd(b, n) ? (long)b : result(-1); }

static long mac_dup2(int fd, int to) { return result(dup2(fd, to)); }
static long mac_pipe(int *fds) { return result(pipe(fds)); }
static long mac_chdir(const char *name) { return result(chdir(name)); }
static long mac_mkdir(const char *name, int mode) { return result(mkdir(name, mode)); }
static long mac_unlink(const char *name) { return result(unlink(name)); }
static long mac_rmdir(const char *name) { return result(rmdir(name)); }
static long mac_rename(const char *from, const char *to) { return result(rename(from, to)); }
static long mac_chmod(const char *name, int mode) { return result(chmod(name, mode)); }
static long mac_ftruncate(int fd, off_t n) { return result(ftruncate(fd, n)); }
static long mac_execve(const char *name, char **a, char **e) { return result(execve(name, a, e)); }
static long mac_fork(void) { return result(fork()); }
static long mac_wait4(int pid, int *status, int options, struct rusage *usage) { return result(wait4(pid, status, options, usage)); }

static long mac_kill(int pid, int signal) { return result(kill(pid, signal)); }
static long mac_access(const char *name, int mode) { return result(access(name, mode)); }
static long mac_faccessat(int dir, const char *name, int mode, long flags) {
	static const struct pair by[] = {{0x10, AT_EACCESS}, {0, 0}};
	return result(faccessat(directory(dir), name, mode, to_linux(by, flags, 0, "faccessat")));
}
static long mac_utimensat(int dir, const char *name, const struct timespec times[2], long flags) {
	static const struct pair by[] = {{0x20, AT_SYMLINK_NOFOLLOW}, {0, 0}};
	struct timespec of[2];
	for (int i = 0; times && i < 2; i++) {
		of[i] = times[i];
		if (of[i].tv_nsec == -1 || of[i].tv_nsec == -2)
			of[i].tv_nsec = of[i].tv_nsec == -1 ? UTIME_NOW : UTIME_OMIT;
	}
	return result(utimensat(directory(dir), name, times ? of : 0, to_linux(by, flags, 0, "utimensat")));
}
static long mac_fsync(int fd) { return result(fsync(fd)); }
static long mac_flock(int fd, int how) { return result(flock(fd, how)); } // the ways are the same
static long mac_fchmod(int fd, int mode) { return result(fchmod(fd, mode)); }
static long mac_renameat(int d, const char *from, int e, const char *to) { return result(renameat(directory(d), from, directory(e), to)); }
static long mac_unlinkat(int dir, const char *name, int flags) { return result(unlinkat(directory(dir), name, flags & 0x80 ? AT_REMOVEDIR : 0)); }
static long mac_ioctl(int fd) { return result((errno = ENOTTY, -1)); } // as if there were no terminal

struct mac_flock {
	int64_t start, len;
	int32_t pid;
	int16_t type, whence;
};
// locks is fcntl for a lock of the process.
static long locks(int fd, int command, struct mac_flock *of) {
	static const struct pair types[] = {{1, F_RDLCK}, {2, F_UNLCK}, {3, F_WRLCK}, {0, 0}};
	const struct pair *type = types;
	while (type->mac && type->mac != of->type)
		type++;
	if (!type->mac)
		die("a lock that macOS does not have", "fcntl");
	struct flock lock = {.l_type = type->linux_, .l_whence = of->whence, .l_start = of->start, .l_len = of->len};
	long r = result(fcntl(fd, command, &lock));
	if (r != -1 && command == F_GETLK) {
		for (type = types; type->linux_ != lock.l_type;)
			type++;
		*of = (struct mac_flock){lock.l_start, lock.l_len, lock.l_pid, type->mac, lock.l_whence};
	}
	return r;
}

static long mac_getrlimit(int which, int64_t *to) {
	struct rlimit limit;
	if (which != 1) // RLIMIT_FSIZE
		return result((errno = ENOSYS, -1));
	long r = result(getrlimit(RLIMIT_FSIZE, &limit));
	to[0] = limit.rlim_cur == RLIM_INFINITY ? INT64_MAX : limit.rlim_cur;
	to[1] = limit.rlim_max == RLIM_INFINITY ? INT64_MAX : limit.rlim_max;
	return r;
}

static long mac_fcntl(int fd, int command, long argument) {
	switch (command) {
	case 1: // F_GETFD
	case 2: // F_SETFD
		return result(fcntl(fd, command, argument));
	case 3: { // F_GETFL
		long flags = result(fcntl(fd, F_GETFL));
		if (flags == -1)
			return -1;
		return (flags & O_ACCMODE) | (flags & O_APPEND ? 0x8 : 0) | (flags & O_NONBLOCK ? 0x4 : 0);
	}
	case 7: // F_GETLK
		return locks(fd, F_GETLK, (struct mac_flock *)argument);
	case 8: // F_SETLK
		return locks(fd, F_SETLK, (struct mac_flock *)argument);
	case 67: // F_DUPFD_CLOEXEC
		return result(fcntl(fd, F_DUPFD_CLOEXEC, argument));
	case 4: // F_SETFL
		return result(fcntl(fd, F_SETFL, to_linux(opens, argument, O_ACCMODE, "fcntl")));
	}
	die("a command that is not here", "fcntl");
	return -1;
}

struct mac_stat {
	int32_t dev;
	uint16_t mode, nlink;
	uint64_t ino;
	uint32_t uid, gid;
	int32_t rdev, pad;
	struct timespec atime, mtime, ctime, birth;
	int64_t size, blocks;
	int32_t blksize;
	uint32_t flags, gen;
	int32_t spare;
	int64_t spares[2];
};
_Static_assert(sizeof(struct mac_stat) == 144, "struct stat");

static long stats(int r, const struct stat *s, struct mac_stat *to) {
	if (r == 0)
		*to = (struct mac_stat){
			.dev = s->st_dev, .mode = s->st_mode, .nlink = s->st_nlink, .ino = s->st_ino, .uid = s->st_uid, .gid = s->st_gid, .rdev = s->st_rdev,
			.atime = s->st_atim, .mtime = s->st_mtim, .ctime = s->st_ctim, .size = s->st_size, .blocks = s->st_blocks, .blksize = s->st_blksize,
		};
	return result(r);
}
static long mac_fstat64(int fd, struct mac_stat *to) { struct stat s; return stats(fstat(fd, &s), &s, to); }
static long mac_stat64(const char *name, struct mac_stat *to) { struct stat s; return stats(stat(name, &s), &s, to); }
static long mac_lstat64(const char *name, struct mac_stat *to) { struct stat s; return stats(lstat(name, &s), &s, to); }

static long mac_fstatat64(int dir, const char *name, struct mac_stat *to, int flags) {
	struct stat s;
	return stats(fstatat(directory(dir), name, &s, flags & 0x20 ? AT_SYMLINK_NOFOLLOW : 0), &s, to);
}

// fstatfs64 calls devfs what has descriptors in it, which is /proc on Linux.
static long mac_fstatfs64(int fd, char *to) {
	struct statfs s;
	int r = fstatfs(fd, &s);
	if (r == 0) {
		memset(to, 0, 2168);
		strcpy(to + 72, s.f_type == 0x9fa0 ? "devfs" : "apfs");
	}
	return result(r);
}

struct mac_dirent {
	uint64_t ino, seek;
	uint16_t size, length;
	uint8_t type;
	char name[1024];
};
static long mac_fdopendir(int fd) { DIR *d = fdopendir(fd); return d ? (long)d : (result(-1), 0); }
static int mac_closedir(DIR *d) { return result(closedir(d)); }
static int mac_readdir_r(DIR *d, struct mac_dirent *to, struct mac_dirent **read) {
	struct dirent *e = readdir(d);
	*read = e ? to : 0;
	if (e) {
		*to = (struct mac_dirent){.ino = e->d_ino, .size = sizeof *to, .length = strlen(e->d_name), .type = e->d_type};
		strcpy(to->name, e->d_name);
	}
	return 0;
}

static long mac_mmap(void *at, size_t n, int prot, int flags, int fd, off_t offset) {
	return result((long)mmap(at, n, prot, to_linux(maps, flags, 0, "mmap"), fd, offset));
}
static long mac_munmap(void *at, size_t n) { return result(munmap(at, n)); }

static uint32_t task = 259;
// mach_vm_read_overwrite copies memory of the program.
static int mac_vm_read(uint32_t of, void *from, size_t n, void *to, uint64_t *copied) {
	struct iovec own = {to, n}, others = {from, n};
	if (of != task)
		return 4; // KERN_INVALID_ARGUMENT
	*copied = n;
	return process_vm_readv(getpid(), &own, 1, &others, 1, 0) == (ssize_t)n ? 0 : 1; // KERN_INVALID_ADDRESS
}

static int mac_clock_gettime(int clock, struct timespec *t) {
	switch (clock) {
	case 0:
		return result(clock_gettime(CLOCK_REALTIME, t));
	case 12:
		return result(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, t));
	case 16:
		return result(clock_gettime(CLOCK_THREAD_CPUTIME_ID, t));
	}
	die("a clock that is not here", "clock_gettime");
}
static uint64_t mac_absolute_time(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}
static int mac_timebase_info(uint32_t *info) { info[0] = info[1] = 1; return 0; }

// arguments are what macOS tells of a process: their number, the program, and each with a zero.
static long arguments(int pid, char *out, size_t *size) {
	char own[PATH_MAX], its[PATH_MAX], b[1 << 16], link[64];
	snprintf(link, sizeof link, "/proc/%d/cmdline", pid);
	int fd = open(link, O_RDONLY | O_CLOEXEC);
	long n = fd < 0 ? -1 : read(fd, b + 4, sizeof b - 4);
	close(fd);
	if (n <= 0)
		return result((errno = EINVAL, -1));
	char *text = b + 4;
	long m = readlink("/proc/self/exe", own, sizeof own);
	snprintf(link, sizeof link, "/proc/%d/exe", pid);
	if (m == readlink(link, its, sizeof its) && memcmp(own, its, m) == 0) { // its program comes after this loader
		n -= strlen(text) + 1;
		text += strlen(text) + 1;
	}
	uint32_t count = 0;
	for (long i = 0; i < n; i++)
		count += text[i] == 0;
	size_t path = strlen(text) + 1, all = 4 + path + n;
	if (out) {
		if (*size < all)
			return result((errno = ENOMEM, -1));
		memcpy(out, &count, 4);
		memcpy(out + 4, text, path);
		memcpy(out + 4 + path, text, n);
	}
	*size = all;
	return 0;
}

static long mac_sysctl(const uint32_t *mib, uint32_t n, uint32_t *out, size_t *size, void *in, size_t insize) {
	static const char procargs2[] = "kern.procargs2";
	if (n == 2 && mib[0] == 0 && mib[1] == 3 && insize == strlen(procargs2) && memcmp(in, procargs2, insize) == 0) { // a name's number
		out[0] = 1, out[1] = 49;
		*size = 8;
		return 0;
	}
	if (n == 3 && mib[0] == 1 && mib[1] == 49) // CTL_KERN, KERN_PROCARGS2
		return arguments(mib[2], (char *)out, size);
	if (n != 2 || mib[0] != 6 || *size < 4) // CTL_HW
		return result((errno = ENOENT, -1));
	*out = mib[1] == 7 ? 4096 : sysconf(_SC_NPROCESSORS_ONLN); // HW_PAGESIZE; HW_NCPU
	*size = 4;
	return 0;
}

// proc_pidfdinfo tells the path of a descriptor.
static int mac_pidfdinfo(int pid, int fd, int kind, char *to, int size) {
	const int at = 24 + 152, all = 24 + 152 + 1024;
	char link[64];
	if (kind != 2 || size != all) // PROC_PIDFDVNODEPATHINFO
		die("information that is not here", "proc_pidfdinfo");
	memset(to, 0, all);
	snprintf(link, sizeof link, "/proc/%d/fd/%d", pid, fd);
	return result(readlink(link, to + at, 1023)) < 0 ? 0 : all;
}

static void mac_random(void *b, size_t n) {
	if (getrandom(b, n, 0) != (ssize_t)n)
		die("getrandom failed", "arc4random_buf");
}

// A kqueue is an epoll. Of what a program waits for there are descriptors to be read and written, each by its own number, the one
// event that it makes itself, for which there is an eventfd, and that the attributes of a file are set, for which there is an inotify.
struct mac_event {
	uint64_t ident;
	int16_t filter;
	uint16_t flags;
	uint32_t fflags;
	int64_t data;
	uint64_t udata;
};
enum { FILTER_READ = -1, FILTER_WRITE = -2, FILTER_VNODE = -4, FILTER_USER = -10, EVENT_ADD = 1, EVENT_DELETE = 2, EVENT_EOF = 0x8000, TRIGGER = 0x01000000 };
static int wakes = -1, attributes = -1;
static struct mac_event user, vnode;
static struct { uint32_t events; uint64_t udata; } watched[1 << 16];

// high returns a high descriptor in place of one that macOS does not have.
static int high(int fd) {
	int to = fcntl(fd, F_DUPFD_CLOEXEC, 900);
	close(fd);
	return to;
}

static int mac_kqueue(void) {
	return result(epoll_create1(EPOLL_CLOEXEC));
}

static int change(int queue, const struct mac_event *e) {
	uint64_t one = 1;
	struct epoll_event want = {.events = EPOLLIN, .data.u64 = e->ident};
	if (e->filter == FILTER_USER && e->flags & EVENT_ADD) {
		if (wakes >= 0)
			die("there is one already", "EVFILT_USER");
		wakes = high(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
		user = *e;
		want.data.u64 = wakes;
		return epoll_ctl(queue, EPOLL_CTL_ADD, wakes, &want);
	}
	if (e->filter == FILTER_USER)
		return write(wakes, &one, 8) == 8 ? 0 : -1;
	if (e->filter == FILTER_VNODE && e->flags & EVENT_ADD && e->fflags == 8) { // NOTE_ATTRIB
		if (attributes >= 0)
			die("there is one already", "EVFILT_VNODE");
		char link[64];
		attributes = high(inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
		snprintf(link, sizeof link, "/proc/self/fd/%d", (int)e->ident);
		vnode = *e;
		want.data.u64 = attributes;
		return inotify_add_watch(attributes, link, IN_ATTRIB) < 0 ? -1 : epoll_ctl(queue, EPOLL_CTL_ADD, attributes, &want);
	}
	if (!(e->flags & EVENT_ADD) || e->ident >= sizeof watched / sizeof *watched)
		die("a change that is not here", "kevent");
	int known = watched[e->ident].events != 0;
	watched[e->ident].udata = e->udata;
	watched[e->ident].events |= e->filter == FILTER_READ ? EPOLLIN | EPOLLRDHUP : EPOLLOUT;
	want.events = watched[e->ident].events | EPOLLET;
	if (known && epoll_ctl(queue, EPOLL_CTL_MOD, e->ident, &want) == 0)
		return 0;
	return epoll_ctl(queue, EPOLL_CTL_ADD, e->ident, &want); // what had the number may be closed
}

static int mac_kevent(int queue, const struct mac_event *changes, int nchanges, struct mac_event *events, int nevents, const struct timespec *after) {
	for (int i = 0; i < nchanges; i++)
		if (change(queue, &changes[i]) != 0)
			return result(-1);
	struct epoll_event got[32];
	if (nevents == 0)
		return 0;
	int n = epoll_wait(queue, got, nevents == 1 ? 1 : nevents / 2 < 32 ? nevents / 2 : 32, after ? (int)(after->tv_sec * 1000 + (after->tv_nsec + 999999) / 1000000) : -1);
	if (n < 0)
		return result(n);
	int out = 0;
	for (int i = 0; i < n; i++) {
		uint64_t fd = got[i].data.u64, count;
		if (fd == (uint64_t)wakes) {
			if (read(wakes, &count, 8) == 8)
				events[out++] = user;
			continue;
		}
		if (fd == (uint64_t)attributes) {
			char notes[4096];
			if (read(attributes, notes, sizeof notes) > 0)
				events[out++] = vnode;
			continue;
		}
		struct mac_event e = {.ident = fd, .udata = watched[fd].udata, .flags = got[i].events & (EPOLLHUP | EPOLLRDHUP | EPOLLERR) ? EVENT_EOF : 0};
		if (got[i].events & ~EPOLLOUT)
			e.filter = FILTER_READ, events[out++] = e;
		if (got[i].events & (EPOLLOUT | EPOLLERR | EPOLLHUP))
			e.filter = FILTER_WRITE, events[out++] = e;
	}
	return out;
}

static long none(void) { return 0; }
static long fails(void) { return result((errno = ENOSYS, -1)); }

// A thread has a block that GS leads to, and of it the program uses the word at 0x30.
static void set_gs(void) {
	const int ARCH_SET_GS = 0x1001;
	char *block = calloc(1, 4096);
	if (!block || syscall(SYS_arch_prctl, ARCH_SET_GS, block) != 0)
		die("GS can't be set", "arch_prctl");
}
struct start { void *(*function)(void *); void *argument; };
static void *begin(void *p) {
	struct start s = *(struct start *)p;
	free(p);
	set_gs();
	return s.function(s.argument);
}
static int mac_create(pthread_t *t, const pthread_attr_t *attributes, void *(*function)(void *), void *argument) {
	struct start *s = malloc(sizeof *s);
	*s = (struct start){function, argument};
	return pthread_create(t, attributes, begin, s);
}
static int mac_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *after) {
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec += after->tv_sec + (t.tv_nsec + after->tv_nsec) / 1000000000;
	t.tv_nsec = (t.tv_nsec + after->tv_nsec) % 1000000000;
	return pthread_cond_timedwait(c, m, &t) == ETIMEDOUT ? 60 : 0;
}

static const struct function { const char *name; void *is; } functions[] = {
	{"__error", mac_error}, {"_exit", _exit}, {"access", mac_access}, {"arc4random_buf", mac_random}, {"chdir", mac_chdir},
	{"chmod", mac_chmod}, {"clock_gettime", mac_clock_gettime}, {"close", mac_close}, {"closedir", mac_closedir},
	{"dup2", mac_dup2}, {"execve", mac_execve}, {"exit", _exit}, {"faccessat", mac_faccessat}, {"fchmod", mac_fchmod},
	{"fcntl", mac_fcntl},
	{"fdopendir$INODE64", mac_fdopendir}, {"flock", mac_flock}, {"fork", mac_fork}, {"fstat64", mac_fstat64},
	{"fstatat64", mac_fstatat64}, {"fstatfs64", mac_fstatfs64}, {"fsync", mac_fsync}, {"ftruncate", mac_ftruncate},
	{"getcwd", mac_getcwd}, {"getegid", getegid}, {"geteuid", geteuid}, {"getgid", getgid}, {"getpid", getpid},
	{"getppid", getppid}, {"getrlimit", mac_getrlimit}, {"getuid", getuid}, {"ioctl", mac_ioctl}, {"issetugid", none},
	{"kevent", mac_kevent}, {"kill", mac_kill}, {"kqueue", mac_kqueue}, {"lseek", mac_lseek}, {"lstat64", mac_lstat64},
	{"mach_absolute_time", mac_absolute_time}, {"mach_task_self_", &task}, {"mach_timebase_info", mac_timebase_info},
	{"mach_vm_read_overwrite", mac_vm_read}, {"madvise", none}, {"mkdir", mac_mkdir}, {"mkdirat", mac_mkdirat}, {"mlock", none},
	{"mmap", mac_mmap}, {"munmap", mac_munmap}, {"notify_is_valid_token", none}, {"open", mac_open}, {"openat", mac_openat},
	{"pipe", mac_pipe}, {"pread", mac_pread}, {"proc_pidfdinfo", mac_pidfdinfo},
	{"pthread_attr_getstacksize", pthread_attr_getstacksize},
	{"pthread_attr_init", pthread_attr_init}, {"pthread_attr_setdetachstate", none}, {"pthread_cond_init", pthread_cond_init},
	{"pthread_cond_signal", pthread_cond_signal}, {"pthread_cond_timedwait_relative_np", mac_timedwait},
	{"pthread_cond_wait", pthread_cond_wait}, {"pthread_create", mac_create}, {"pthread_kill", none},
	{"pthread_mutex_init", pthread_mutex_init}, {"pthread_mutex_lock", pthread_mutex_lock},
	{"pthread_mutex_unlock", pthread_mutex_unlock}, {"pthread_self", pthread_self}, {"pthread_sigmask", none},
	{"pwrite", mac_pwrite}, {"read", mac_read}, {"readdir_r$INODE64", mac_readdir_r}, {"readlinkat", mac_readlinkat},
	{"rename", mac_rename}, {"renameat", mac_renameat}, {"rmdir", mac_rmdir}, {"setrlimit", fails}, {"sigaction", none},
	{"sigaltstack", none}, {"stat64", mac_stat64}, {"sysctl", mac_sysctl}, {"sysctlbyname", fails}, {"unlink", mac_unlink},
	{"unlinkat", mac_unlinkat}, {"usleep", usleep}, {"utimensat", mac_utimensat}, {"wait4", mac_wait4}, {"write", mac_write},
	{"xpc_date_create_from_current", none},
	{0, 0},
};

static void missing(const char *name) { die("this function is not here", name); }

// address returns that of a function, or of one that says that it is missing.
static void *address(const char *name) {
	for (const struct function *f = functions; f->name; f++)
		if (strcmp(f->name, name) == 0)
			return f->is;
	static unsigned char *code;
	if (!code)
		code = mmap(0, 1 << 16, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned char *at = code;
	void (*to)(const char *) = missing;
	memcpy(code, "\x48\xbf", 2), memcpy(code + 2, &name, 8);	// MOVQ name, DI
	memcpy(code + 10, "\x48\xb8", 2), memcpy(code + 12, &to, 8); // MOVQ missing, AX
	memcpy(code + 20, "\xff\xe0", 2);			     // JMP AX
	code += 32;
	return at;
}

static uint32_t u32(const char *p) { uint32_t v; memcpy(&v, p, 4); return v; }
static uint64_t u64(const char *p) { uint64_t v; memcpy(&v, p, 8); return v; }

int main(int argc, char **argv, char **environ_) {
	if (argc < 2)
		die("no program", "usage");
	const char *path = argv[1];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat s;
	if (fd < 0 || fstat(fd, &s) != 0)
		die(strerror(errno), path);
	const char *file = mmap(0, s.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (file == MAP_FAILED || u32(file) != 0xfeedfacf || u32(file + 4) != 0x01000007)
		die("not a program for macOS on amd64", path);
	uint64_t entry = 0;
	const char *symbols = 0, *strings = 0, *indirect = 0;
	for (int pass = 0; pass < 2; pass++) {
		const char *command = file + 32;
		for (uint32_t i = 0; i < u32(file + 16); i++, command += u32(command + 4))
			switch (u32(command)) {
			case 0x2: // LC_SYMTAB
				symbols = file + u32(command + 8), strings = file + u32(command + 16);
				break;
			case 0xb: // LC_DYSYMTAB
				indirect = file + u32(command + 56);
				break;
			case 0x5: // LC_UNIXTHREAD
				entry = u64(command + 16 + 8 * 16);
				break;
			case 0x19: { // LC_SEGMENT_64
				uint64_t at = u64(command + 24), size = u64(command + 32), from = u64(command + 40), stored = u64(command + 48);
				int prot = u32(command + 60);
				if (!prot || !size)
					break; // it keeps addresses from use
				if (pass == 0) {
					void *p = mmap((void *)at, size, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
					if (p != (void *)at)
						die("there is no room at its addresses", path);
					memcpy(p, file + from, stored);
					break;
				}
				for (uint32_t j = 0; j < u32(command + 64); j++) {
					const char *section = command + 72 + 80 * j;
					uint32_t type = u32(section + 64) & 0xff, first = u32(section + 68);
					if (type != 6 && type != 7) // pointers to what is imported, at once or when it is called
						continue;
					void **pointers = (void **)u64(section + 32);
					for (uint64_t k = 0; k < u64(section + 40) / 8; k++)
						pointers[k] = address(strings + u32(symbols + 16 * u32(indirect + 4 * (first + k))) + 1);
				}
				break;
			}
			}
	}
	// The page by which the system says what the processor can do (osfmk/i386/cpu_capabilities.h). By zeros it says nothing.
	if (mmap((void *)0x7fffffe00000, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == MAP_FAILED && errno != EEXIST)
		die(strerror(errno), path);
	// What the system gives a program: arguments, environment, and what it says itself.
	static char *words[1 << 16];
	char **w = words, executable[PATH_MAX + 32];
	*w++ = (char *)(long)(argc - 1);
	for (int i = 1; i < argc; i++)
		*w++ = argv[i];
	w++;
	while (*environ_)
		*w++ = *environ_++;
	w++;
	snprintf(executable, sizeof executable, "executable_path=%s", path);
	*w++ = executable;
	const size_t room = 8 << 20;
	char *stack = mmap(0, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t size = ((char *)(w + 1) - (char *)words + 15) & ~15;
	char *top = stack + room - size;
	memcpy(top, words, size);
	set_gs();
	__asm__ volatile("movq %0, %%rsp\n\tjmpq *%1" : : "r"(top), "r"(entry) : "memory");
	return 0;
}
